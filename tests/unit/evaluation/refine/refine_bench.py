"""Refinement with everything scripted: which output gets which verdict, and what is written next."""

from __future__ import annotations

import asyncio
import json
import re
import selectors

from tests.support.memory_experiments import MemoryExperimentRepository

from burnish.domain import (
    AgentOutput,
    Configuration,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    ModelResponse,
    Purpose,
    Spending,
    Usage,
)
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.refine.plan import plan_refinement
from burnish.evaluation.refine.policy import RefinePolicy
from burnish.evaluation.refine.statistics import refinement_statistics
from burnish.evaluation.runner import ExperimentRunner, RunOptions
from burnish.evaluation.scorers.judge import LLMJudge
from burnish.evaluation.scorers.scorer_set import ScorerSet
from burnish.evaluation.suite import Suite, SuitePolicy

_OUTPUT = re.compile(r"<<<(?:LATEST )?OUTPUT (\w+)\n(.*?)\n(?:LATEST )?OUTPUT \1>>>", re.DOTALL)
CALL = Usage(calls=1, input_tokens=10, output_tokens=5, cost_usd=0.01)


class _Jumping(selectors.SelectSelector):
    """Never waits: the loop's time moves on instead."""

    now = 0.0

    def select(self, timeout=None):
        self.now += max(timeout or 0.0, 0.0)
        return super().select(0)


class JumpingLoop(asyncio.SelectorEventLoop):
    """An event loop whose sleeps take no time but on its own clock."""

    def __init__(self):
        self._jumping = _Jumping()
        super().__init__(self._jumping)

    def time(self):
        return self._jumping.now


class Told:
    """A model that answers by a function of the request, and remembers what it was asked."""

    def __init__(self, name, answer):
        self.name = self.fingerprint = name
        self.requests = []
        self._answer = answer

    async def complete(self, request):
        self.requests.append(request)
        said = self._answer(request)
        if isinstance(said, Exception):
            raise said
        if asyncio.iscoroutine(said):
            said = await said
        return ModelResponse(text=said, usage=CALL)

    async def close(self):
        pass


def output_in(request):
    """The output that a judge or an optimizer is shown."""
    return _OUTPUT.search(request.messages[-1].content)[2]


def verdict(score, reason="so it is"):
    return json.dumps({"score": score, "reason": reason, "pass": score >= 0.5})


def judge_of(verdicts, **settings):
    """A judge with a verdict (a number, a pair with its reason, or an error) for each output."""

    def say(request):
        given = verdicts[output_in(request)]
        if isinstance(given, Exception | str):
            return given
        return verdict(*given) if isinstance(given, tuple) else verdict(given)

    return LLMJudge(Told("judge", say), "Be complete.", **settings)


def optimizer_of(successors):
    """An optimizer that writes what stands for the output it is shown; an error is raised."""
    return Told("optimizer", lambda request: successors[output_in(request)])


class Writer:
    """An agent that answers the item's own draft."""

    name = "writer"
    configuration = Configuration.of({"sections": {"user": "{{task}}"}})

    def __init__(self, fingerprint="writer/1"):
        self.fingerprint = fingerprint
        self.calls = 0

    async def run(self, configuration, item, *, repeat):
        self.calls += 1
        if item.data["draft"] is None:
            raise RuntimeError("no answer")
        return AgentOutput(text=item.data["draft"], spending=Spending.on(Purpose.AGENT, CALL))

    async def close(self):
        pass


class RefineBench:
    """Runs experiments in memory."""

    def __init__(self, *, drafts=("A",), mode="llm", scorers=None, weights=None, repeats=1):
        self.rows = [
            {"id": f"i{n}", "task": f"task {n}", "draft": draft, "answer": "secret"}
            for n, draft in enumerate(drafts)
        ]
        self.repository = MemoryExperimentRepository()
        self.agent = Writer()
        self.scorers = scorers if isinstance(scorers, ScorerSet) else ScorerSet(scorers, weights)
        self.policy = SuitePolicy(mode=mode, pass_threshold=0.8, repeats=repeats)
        self.opened = []

    def plan(self, **policy):
        def open_model(given):
            self.opened.append(given)
            return given

        return plan_refinement(
            RefinePolicy(**policy) if policy else None, self.scorers, self.policy.mode, open_model
        )

    async def run(self, *, identity="e1", options=None, skip=(), **policy):
        """The result of the first item; all are in the repository."""
        plan = self.plan(**policy)
        suite = Suite(
            name="suite",
            dataset=Dataset.of(self.rows),
            scorers=self.scorers,
            policy=self.policy,
            refine=plan,
        )
        if identity not in self.repository.experiments:
            await self.repository.create_experiment(
                Experiment(
                    id=identity,
                    name="e",
                    type=ExperimentType.REGULAR,
                    status=ExperimentStatus.PENDING,
                    agent_name="writer",
                    configuration=Writer.configuration,
                    suite_name="suite",
                    dataset_id=None,
                    planned_items=len(self.rows),
                    metadata={"refine": None if plan is None else plan.to_json()},
                )
            )
        experiment = await self.repository.get_experiment(identity)
        await ExperimentRunner(self.repository).run(
            experiment,
            self.agent,
            suite,
            suite.items(),
            options=options or RunOptions(concurrency=4),
            skip=skip,
        )
        return (await self.repository.get_results(identity))[0]

    async def rounds(self, item="i0", identity="e1"):
        found = await self.repository.get_rounds(identity, item_ids=[item])
        return found.get((item, 0), ())

    async def statistics(self, identity="e1"):
        experiment = await self.repository.get_experiment(identity)
        return await refinement_statistics(
            experiment.metadata["refine"], self.repository.stream_round_scores(identity)
        )
