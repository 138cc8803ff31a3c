"""Items refine side by side on one pool: as fast as its places allow, on a clock that never waits."""

import asyncio
import re

import pytest
from refine_bench import JumpingLoop, RefineBench, Told, output_in, verdict

from burnish.domain import Purpose, Spending
from burnish.evaluation.runner import RunOptions
from burnish.evaluation.scorers.judge import LLMJudge

ITEMS, ROUNDS, POOL, WAIT = 200, 3, 100, 0.05
_DRAFT = re.compile(r"(\d+) v(\d+)")


async def waited(text):
    await asyncio.sleep(WAIT)
    return text


def refined(request):
    number, version = _DRAFT.search(output_in(request)).groups()
    return waited(f"{number} v{int(version) + 1}")


def judged(scores):
    def say(request):
        version = int(_DRAFT.search(output_in(request))[2])
        return waited(verdict(scores[min(version, len(scores) - 1)]))

    return LLMJudge(Told("judge", say), "Be complete.")


async def run(scores, drafts):
    bench = RefineBench(drafts=drafts, scorers=[judged(scores)])
    answer = bench.agent.run

    async def slowly(configuration, item, *, repeat):
        await asyncio.sleep(WAIT)
        return await answer(configuration, item, repeat=repeat)

    bench.agent.run = slowly
    started = asyncio.get_running_loop().time()
    await bench.run(
        model=Told("optimizer", refined), limit=ROUNDS, options=RunOptions(concurrency=POOL)
    )
    return asyncio.get_running_loop().time() - started, await bench.statistics()


@pytest.mark.parametrize(
    ("scores", "calls"),
    [([0.1], 2 + 2 * ROUNDS), ([0.1, 1.0], 4), ([1.0], 2)],
    ids=["all rounds", "fixed in the first round", "perfect at once"],
)
def test_the_pool_is_full_until_the_last_items(scores, calls):
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        seconds, found = runner.run(run(scores, [f"{n} v0" for n in range(ITEMS)]))

    ideal = ITEMS / POOL * calls * WAIT
    assert found.outputs == ITEMS
    assert found.rounds == ITEMS * (calls - 2) // 2
    assert ideal - 0.001 <= seconds <= ideal * 1.05
    assert Spending.on(Purpose.REFINE, found.usage).total.calls == ITEMS * (calls - 2)
