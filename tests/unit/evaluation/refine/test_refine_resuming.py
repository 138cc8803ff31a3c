"""Rounds go on where they stopped, are paid for once, and share the pool and the budget."""

import asyncio

from refine_bench import CALL, RefineBench, Told, judge_of, optimizer_of, output_in, verdict

from burnish.domain import RoundEnd
from burnish.evaluation.gates import OpenGate
from burnish.evaluation.refine.loop import RoundTally
from burnish.evaluation.runner import RunOptions
from burnish.evaluation.scorers.judge import LLMJudge

CHAIN = {"A": "B", "B": "C", "C": "D", "D": "E"}
LOW = {"A": 0.1, "B": 0.2, "C": 0.3, "D": 0.4}


async def test_a_stopped_output_goes_on_after_the_last_round_that_was_saved():
    bench = RefineBench(scorers=[judge_of(LOW)])
    await bench.run(model=optimizer_of(CHAIN), limit=3)
    whole = await bench.rounds()
    for number in range(1, 4):
        again = RefineBench(scorers=[judge_of(LOW)])
        optimizer = optimizer_of(CHAIN)
        # As a run leaves it that was killed before this round was saved.
        await again.run(identity="warm", model=optimizer, limit=1)
        again.repository.rounds["e1"] = {("i0", 0): dict(enumerate(whole[:number]))}
        again.agent.calls, asked = 0, len(optimizer.requests)

        result = await again.run(model=optimizer, limit=3)

        assert [one.output.text for one in await again.rounds()] == list("ABCD")
        assert again.agent.calls == 0
        assert len(optimizer.requests) - asked == 4 - number
        assert result.spending.total.calls == sum(one.spending.total.calls for one in whole)
        assert (result.score, result.refinement.first_score) == (0.4, 0.1)
        assert result.refinement.first_output == "A"


async def test_an_output_whose_last_round_was_saved_gets_its_result_without_a_call():
    bench = RefineBench(scorers=[judge_of(LOW)])
    expected = await bench.run(model=optimizer_of(CHAIN), limit=2)
    del bench.repository.results["e1"]["i0", 0]
    silent = optimizer_of({})

    result = await bench.run(model=silent, limit=2)

    assert result == expected
    assert not silent.requests


async def test_the_agents_answer_of_a_refined_run_serves_a_plain_one_and_the_other_way_round():
    bench = RefineBench(scorers=[judge_of(LOW)])
    await bench.run(identity="refined", model=optimizer_of(CHAIN), limit=2)

    plain = await bench.run(identity="plain")
    again = await bench.run(identity="again", model=optimizer_of(CHAIN), limit=1)

    assert bench.agent.calls == 1
    assert (plain.output.text, plain.score, plain.cached) == ("A", 0.1, True)
    assert [one.output.text for one in await bench.rounds(identity="again")] == ["A", "B"]
    assert (await bench.rounds(identity="again"))[0].cached
    assert plain.refinement is None
    assert again.refinement.rounds == 1


async def test_a_retried_item_begins_anew_and_leaves_no_round_of_the_first_attempt():
    verdicts = dict(LOW)
    bench = RefineBench(scorers=[judge_of(verdicts)])
    await bench.run(model=optimizer_of(CHAIN), limit=3)
    verdicts["A"] = 1.0
    bench.agent.fingerprint = "other"

    await bench.run(model=optimizer_of(CHAIN), limit=3)

    assert [one.output.text for one in await bench.rounds()] == ["A"]


async def test_items_refine_independently_and_share_the_pool():
    running, most, full = 0, 0, asyncio.Event()

    async def slowly(request):
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 5:
            full.set()
        await full.wait()
        await asyncio.sleep(0.002)
        running -= 1
        return CHAIN[output_in(request)]

    bench = RefineBench(drafts=["A"] * 30, scorers=[judge_of(LOW)])
    model = Told("optimizer", slowly)

    await bench.run(model=model, limit=3, options=RunOptions(concurrency=5))

    assert len(model.requests) == 90
    assert most == 5


async def test_a_spent_budget_ends_the_rounds_and_leaves_what_there_is():
    class Purse(OpenGate):
        def __init__(self):
            self.calls = 0
            self.recorded = 0

        def record(self, result):
            self.recorded += result.spending.total.calls

        def pay(self, spending):
            self.calls += spending.total.calls
            return self.calls < 4

    bench, purse = RefineBench(scorers=[judge_of(LOW)]), Purse()

    result = await bench.run(
        model=optimizer_of(CHAIN), limit=3, options=RunOptions(concurrency=1, gate=purse)
    )

    assert [one.output.text for one in await bench.rounds()] == ["A", "B"]
    assert result.refinement.ended is RoundEnd.BUDGET
    assert (purse.calls, purse.recorded) == (4, 0)
    assert result.spending.total.calls == 4
    assert result.score == 0.2


async def test_memory_holds_three_rounds_of_an_output_however_many_there_are():
    limit = 40
    longer = {"x" * n: "x" * (n + 1) for n in range(1, limit + 1)}
    judge = judge_of(dict.fromkeys(("x", *longer.values()), 0.1))
    bench = RefineBench(drafts=["x"], scorers=[judge])
    kept = []

    original = RoundTally.add

    def watching(self, one):
        original(self, one)
        kept.append(len({id(self.first), id(self.latest), id(self.best), id(self.last)}))

    RoundTally.add = watching
    try:
        await bench.run(model=optimizer_of(longer), limit=limit)
    finally:
        RoundTally.add = original

    assert len(kept) == limit
    assert max(kept) <= 3


async def test_a_verdict_that_is_malformed_once_is_asked_for_again_and_paid_for():
    said = iter(["nonsense", verdict(0.2), verdict(1.0)])
    judge = LLMJudge(Told("judge", lambda _: next(said)), "Be complete.")
    bench = RefineBench(scorers=[judge])

    await bench.run(model=optimizer_of(CHAIN), limit=1)
    first, second = await bench.rounds()

    assert first.spending.by_purpose["judge"] == CALL + CALL
    assert second.spending.by_purpose["judge"] == CALL
