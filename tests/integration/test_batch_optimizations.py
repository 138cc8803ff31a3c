"""Searches in batches: waves of a step, races between them, kills, and what single calls find too."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from batch_runs import SkippingClock, World, agent, serving
from kills import die_at_write, killed

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.config.search import SearchSpec
from burnish.domain import ModelRequest
from burnish.models.batches import model as batched
from burnish.optimization.racing import RacingMode

WORDS = (("no", "yes"), ("well", "say please"))


@pytest.fixture(autouse=True)
def skipped_waits(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    monkeypatch.setattr(batched, "SystemClock", SkippingClock)


class Writer:
    """Asks a model before each step, and tries two other words in place of the first."""

    name = "writer"

    def connect(self, open_model):
        self.model = open_model("openai/big")

    def initialize(self, context):
        base = context.baseline_candidate_id
        return burnish.OptimizerState(algorithm_data={"base": base})

    async def propose(self, state, history, max_candidates):
        if state.generation >= len(WORDS):
            return []
        await self.model.complete(ModelRequest.text(f"words of step {state.generation}"))
        return [
            burnish.CandidateProposal(
                configuration={"sections": {"user": f"{word} {{{{word}}}}"}},
                parent_candidate_ids=[state.algorithm_data["base"]],
                rationale=word,
            )
            for word in WORDS[state.generation]
        ]

    def should_stop(self, state, history):
        return burnish.StopDecision(should_stop=False)

    def observe(self, state, trial_results):
        return burnish.OptimizerState(
            generation=state.generation + 1, algorithm_data=state.algorithm_data
        )


class Search(World):
    """A search in two steps of two trials each, which race block by block."""

    def __init__(self, folder, server):
        super().__init__(folder, server)
        rows = [
            {"id": f"i{n}", "word": f"w{n}", "answer": f"{'SAY' if n % 4 == 0 else 'YES'} W{n}"}
            for n in range(30)
        ]
        self.suite = replace(self.suite, dataset=rows, split={"validation": 0.7, "test": 0.3})

    @asynccontextmanager
    async def prepared(self, *, batch=True):
        async with self.open(batch=batch) as workspace:
            search = SearchSpec(
                optimizer=Writer(), seed=7, racing=RacingMode.AGGRESSIVE, candidates_per_step=2
            )
            budget = burnish.Budget(max_trials=4)
            yield Optimization(workspace, agent("openai"), self.suite, search, budget)

    async def create(self, *, batch=True):
        async with self.prepared(batch=batch) as optimization:
            return (await optimization.create()).id

    async def run(self, identity, *, batch=True):
        async with self.prepared(batch=batch) as optimization:
            return await optimization.run(identity)


def outcome(result):
    """What a search came to, whoever asked and however it was paid."""
    best = result.document["best"]["configuration"]
    trials = [
        (
            result.candidates[one.candidate_id].configuration.hash,
            one.status,
            one.objective_score,
            one.summary.total_items,
        )
        for one in result.trials
    ]
    return sorted(trials), best, result.document["confirmation"], result.document["test"]


# In the baseline, in a step whose batch nobody recorded as sent, in a second wave of a race, and in the
# comparison of the winner: each kill meets whatever the one before it left.
KILLS = [
    ("record:after", 1),
    ("note_sent:before", 2),
    ("note_ended:after", 2),
    ("release:before", 3),
]


def test_a_search_in_batches_that_is_killed_pays_once_and_ends_as_one_in_single_calls(tmp_path):
    found = {}
    for batch, kills in ((True, KILLS), (False, ())):
        folder = tmp_path / str(batch)
        folder.mkdir()
        with serving() as server:
            world = Search(folder, server)
            identity = asyncio.run(world.create(batch=batch))
            for place, number in kills:

                def work(place=place, number=number, world=world, identity=identity):
                    die_at_write(place, number)
                    asyncio.run(world.run(identity))

                killed(work)
            found[batch] = asyncio.run(world.run(identity, batch=batch)), server

    (batched_result, batches), (single, called) = found[True], found[False]
    assert set(batches.paid.values()) == {1}
    # The optimizer's own questions go singly in both, and each is paid for once.
    assert [len(batches.called), batches.called.total()] == [2, 2]
    assert {**batches.paid, **batches.called} == called.called
    assert outcome(batched_result) == outcome(single)
    halved = batched_result.document["usage"]["by_purpose"]
    whole = single.document["usage"]["by_purpose"]
    assert halved["agent"]["cost_usd"] == pytest.approx(whole["agent"]["cost_usd"] / 2)
    assert halved["propose"]["cost_usd"] == pytest.approx(whole["propose"]["cost_usd"])
