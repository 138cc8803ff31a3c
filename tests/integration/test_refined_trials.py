"""Optimizations whose trials refine: budgets count it, workers do it, reflection learns from it."""

import asyncio
import json
import re
from dataclasses import replace

import pytest
from optimization_world import in_child
from redis.asyncio import Redis
from shard_world import QUICK, ShardWorld

import burnish
from burnish.app.optimize.optimizations import Optimization, run_prepared
from burnish.app.report.html.page import write_report
from burnish.app.wiring import Workspace
from burnish.app.worker.shard_worker import shard_evaluator
from burnish.config.search import SearchSpec
from burnish.runtime.mailboxes import RedisMailbox
from burnish.runtime.shards.loop import ShardLoop

ROWS = [
    {"id": f"{split}{n}", "task": f"{split} {n}", "split": split}
    for split, count in (("train", 8), ("validation", 8), ("test", 4))
    for n in range(count)
]
DATED = "Name the date."


async def write(configuration, item):
    """Names the date where the prompt says so; of every fourth item it never knows the owner."""
    text = f"{item['task']}: do it"
    dated = f"{text} on Monday" if DATED in configuration["sections"]["system"] else text
    usage = burnish.Usage(calls=1, input_tokens=5, output_tokens=5, cost_usd=0.0)
    return burnish.AgentOutput(
        text=dated, spending=burnish.Spending.on(burnish.Purpose.AGENT, usage)
    )


def judge(prompt):
    output = _between(prompt, "OUTPUT")
    lost = int(re.search(r"\d+", output)[0]) % 4 == 3
    score, reason = 1.0, "All there."
    if "Monday" not in output:
        score, reason = 0.4, "The date of the meeting is missing."
    elif lost:
        score, reason = 0.7, "Nobody owns it."
    return json.dumps({"score": score, "reason": reason, "pass": score == 1.0})


def refine(prompt):
    output = _between(prompt, "LATEST OUTPUT")
    return output if "Monday" in output else f"{output} on Monday"


def _between(prompt, title):
    return re.search(rf"<<<{title} (\w+)\n(.*?)\n{title} \1>>>", prompt, re.DOTALL)[2]


def agent(**options):
    return burnish.Agent(
        name="writer",
        configuration={"sections": {"system": "Write a reminder.", "user": "{{task}}"}},
        run=write,
        version="1",
        concurrency=4,
        **options,
    )


def suite(**options):
    given = {"model": refine, "limit": 2, "trials": True, **options}
    return burnish.Suite(
        dataset=ROWS,
        scorers=[{"kind": "judge", "model": judge, "criteria": "Names what, who and when."}],
        split="field",
        refine=given,
    )


def optimize(tmp_path, optimizer="edits", **options):
    options.setdefault("budget", burnish.Budget(max_trials=2))
    refine_options = options.pop("refine", {})
    return burnish.optimize(
        agent(), suite(**refine_options), optimizer, db=tmp_path / "w.db", seed=3, **options
    )


def purposes(result):
    return {name: one["calls"] for name, one in result.usage["by_purpose"].items()}


def test_a_trial_evaluates_with_refinement_only_where_that_is_asked_for(tmp_path):
    plain = optimize(tmp_path / "plain", refine={"trials": False})
    refined = optimize(tmp_path / "refined")

    assert plain.baseline.score == pytest.approx(0.4)
    assert "refine" not in purposes(plain)
    # Two of eight items lack an owner also after they were refined.
    assert refined.baseline.score == pytest.approx((6 * 1.0 + 2 * 0.7) / 8)
    assert purposes(refined)["refine"] > 0


async def page_of(database, optimization_id):
    async with Workspace.open(str(database)) as workspace:
        path = database.with_name("report.html")
        await write_report(workspace, optimization_id, path)
    return path.read_text("utf-8")


def test_the_report_tells_what_refinement_did_to_the_baseline_and_to_the_winner(tmp_path):
    result = optimize(tmp_path)
    plain = optimize(tmp_path / "plain", refine={"trials": False})

    page = asyncio.run(page_of(tmp_path / "w.db", result.optimization_id))

    shown = page.partition('id="refinement"')[2].partition("</section>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", shown, re.DOTALL)
    cells = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", one, re.DOTALL) for one in rows]
    baseline = next(one for one in cells if one[0] == "baseline")
    # All eight lack the date: six are whole with it, two get nearer and still lack an owner.
    assert baseline[1:6] == ["8 of 8 outputs", "6", "2", "0", "0"]
    by_round = [one[2] for one in cells if one[0] == "baseline" and len(one) == 5]
    assert by_round == ["0.400", "0.925", "0.925"]
    assert 'id="refinement"' not in asyncio.run(
        page_of(tmp_path / "plain" / "w.db", plain.optimization_id)
    )


def test_refinement_that_does_nothing_is_said_to_do_nothing(tmp_path):
    result = optimize(tmp_path, refine={"limit": 0})

    notes = result.document["objective"]["notes"]
    assert notes == ["refinement is inactive: the limit is 0"]


def test_the_budget_counts_the_calls_of_refinement(tmp_path):
    free = optimize(tmp_path / "free", budget=burnish.Budget(max_trials=6))
    tight = optimize(tmp_path / "tight", budget=burnish.Budget(max_trials=6, max_calls=90))

    counted = purposes(tight)
    total = sum(counted.values())
    assert sum(purposes(free).values()) > 90
    assert counted["refine"] > 0
    assert tight.stop_reason == "budget"
    # What is in flight ends: at most four items with three rounds of two calls each.
    assert total <= 90 + 4 * 7


def test_reasons_that_recur_over_refined_items_feed_the_reflection(tmp_path):
    asked = []

    def reflect(prompt):
        asked.append(prompt)
        text = re.search(r"```\n(.*?)\n```", prompt, re.DOTALL)[1]
        if "The date of the meeting is missing" in prompt.partition("again and again")[2]:
            return f"Dates were missing.\n```\n{text}\n{DATED}\n```"
        return f"Owners were missing.\n```\n{text}\nName the owner.\n```"

    result = optimize(
        tmp_path,
        burnish.optimizers.Gepa(model=reflect),
        budget=burnish.Budget(max_trials=4, max_evaluations=120),
    )

    assert any("The date of the meeting is missing. (" in prompt for prompt in asked)
    assert any("refined answers)" in prompt for prompt in asked)
    tried = [one.configuration.sections["system"] for one in result.candidates.values()]
    assert any(DATED in text for text in tried)


async def run_here(folder, make_adapter=None, **options):
    async with Workspace.open(str(folder / "w.db")) as workspace:
        optimization = Optimization(
            workspace,
            agent(**options),
            suite(),
            SearchSpec(optimizer="edits", seed=3),
            burnish.Budget(max_trials=2),
            make_adapter=make_adapter,
        )
        result = await run_prepared(optimization, name=None, resume=None, watch=None)
        experiment = result.trials[0].experiment_id
        rounds = await workspace.experiments.get_rounds(
            experiment, item_ids=[row["id"] for row in ROWS]
        )
        return result, {
            key: [(one.output.text, one.score, one.ended) for one in found]
            for key, found in rounds.items()
        }


async def serve(world, folder, refine_options):
    async with Workspace.open(str(folder / "w.db")) as workspace:
        client = Redis.from_url(world.url)
        evaluator = shard_evaluator(
            workspace, folder, agent=agent(), suite=suite(**refine_options), concurrency=4
        )
        requests = RedisMailbox(world.mailbox, client)
        await ShardLoop(evaluator=evaluator, requests=requests).run(wait_time_seconds=1)


@pytest.fixture
def world(valkey, tmp_path):
    world = ShardWorld(tmp_path, valkey.url)
    yield world
    world.end()


def start(world, folder, **refine_options):
    folder.mkdir(exist_ok=True)
    world.workers.append(in_child(lambda: asyncio.run(serve(world, folder, refine_options))))


async def test_workers_refine_as_one_process_does(world, tmp_path):
    local, expected = await run_here(tmp_path)
    folder = tmp_path / "sharded"
    start(world, folder)
    start(world, folder)

    result, rounds = await run_here(folder, world.runner())

    assert rounds == expected
    assert len(rounds) == 8
    assert result.baseline.score == local.baseline.score
    assert purposes(result) == purposes(local)


async def test_a_worker_that_would_refine_otherwise_is_refused(world, tmp_path):
    notices = []
    folder = tmp_path / "other"
    start(world, folder, limit=1)
    settings = replace(QUICK, on_notice=notices.append, refusal_seconds=0.3)

    with pytest.raises(burnish.BurnishError, match="refinement"):
        await run_here(folder, world.runner(settings), timeout_seconds=0.2)

    assert "settings of refinement differ" in " ".join(notices)
