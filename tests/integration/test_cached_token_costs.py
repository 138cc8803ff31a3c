"""Objectives that weigh cost: a prompt whose tokens the vendor has already is the cheaper one."""

import asyncio

import pytest

import burnish
from burnish.app.optimize.optimizations import Optimization
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.domain import ModelResponse
from burnish.optimization.objective import read_objective
from burnish.testing.vendors.openai import FakeOpenAI
from burnish.testing.vendors.server import in_thread

RULES = "Answer yes, whatever it is that you are told. " * 100
FIRST = {"system": f"{{{{word}}}} {RULES}", "user": "Well?"}
LAST = {"system": RULES, "user": "{{word}} and what do you say of that? Well?"}


class Mover:
    """Proposes the same prompt with the item at its end, which makes it longer by a few words."""

    name = "mover"

    def initialize(self, context):
        return burnish.OptimizerState()

    def propose(self, state, history, max_candidates):
        return (
            []
            if state.generation
            else [burnish.CandidateProposal(configuration={"sections": LAST})]
        )

    def observe(self, state, trial_results):
        return burnish.OptimizerState(generation=1)

    def should_stop(self, state, history):
        return burnish.StopDecision(should_stop=False)


@pytest.mark.parametrize(("measure", "wins"), [("cost", True), ("tokens", False)])
def test_an_objective_knows_that_cached_tokens_cost_less(tmp_path, monkeypatch, measure, wins):
    monkeypatch.setenv("OPENAI_API_KEY", "a-key")
    agent = burnish.Agent(
        name="sure", model="openai/small", configuration={"sections": FIRST}, concurrency=1
    )
    rows = [{"word": f"word {n}", "answer": "yes"} for n in range(8)]
    scorers = [{"kind": "exact_match", "field": "answer"}]
    search = SearchSpec(optimizer=Mover(), seed=1, objective=read_objective({measure: 0.5}))

    async def run(address):
        prices = {"input_price": 1.0, "cached_input_price": 0.1, "output_price": 2.0}
        models = {"openai": {"base_url": address, **prices}}
        async with Workspace.open(str(tmp_path / "b.db"), models=models) as workspace:
            suite = burnish.Suite(dataset=rows, scorers=scorers, name="s")
            made = Optimization(workspace, agent, suite, search, burnish.Budget(max_trials=1))
            return await made.run(await made.create())

    with in_thread(FakeOpenAI(ModelResponse(text="yes"))) as server:
        result = asyncio.run(run(server.base_url))

    before, after = sorted(
        result.trials, key=lambda one: one.candidate_id != result.best.candidate_id
    )
    assert (result.candidates[result.best.candidate_id].number == 1) is wins
    if wins:
        # It reads more tokens, most of which cost a tenth.
        assert before.summary.avg_tokens > after.summary.avg_tokens
        assert before.summary.avg_cost_usd < 0.4 * after.summary.avg_cost_usd
