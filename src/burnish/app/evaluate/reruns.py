"""Reruns of items that fail: whether they are broken or flaky, kept as an experiment of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from burnish.app.evaluate.baselines import (
    AGAIN,
    Baseline,
    compared_with,
    outcomes_of,
    scored_against,
)
from burnish.app.evaluate.evaluations import Evaluation
from burnish.app.evaluate.leases import leased_evaluation
from burnish.app.evaluate.result import EvaluationResult
from burnish.app.wiring import Workspace
from burnish.domain import Experiment, ExperimentStatus, ExperimentType, UnavailableError
from burnish.evaluation.broken_items import Passes, to_run_again
from burnish.evaluation.progress import Progress
from burnish.evaluation.runner import ExperimentRunner, RunOptions
from burnish.evaluation.suite import Suite
from burnish.support.ids import new_id


async def told_apart(
    workspace: Workspace,
    evaluation: Evaluation,
    result: EvaluationResult,
    baseline: Baseline,
    *,
    reruns: int,
) -> EvaluationResult:
    """The result with its items that passed before and fail now, run again until their standing shows.

    The runs count in no score, since only items that failed have them; how often they passed is kept
    with the experiment, so that they are known as flaky where it is a baseline itself. Where the
    budget ends it, or what is asked is away, those that are left stay undecided.
    """
    experiment = result.experiment
    if experiment.status is ExperimentStatus.COMPLETED and reruns:
        again = _Reruns(workspace, evaluation, experiment)
        before = scored_against(baseline, experiment).passes
        now = (await outcomes_of(workspace.experiments, experiment.id)).passes
        await again.run(before, now, most=evaluation.suite.policy.repeats + reruns)
        experiment = await workspace.experiments.get_experiment(experiment.id)
        result = replace(result, experiment=experiment)
    return await compared_with(workspace.experiments, result, baseline)


class _Reruns:
    """The experiment that holds the runs; it is made with the first of them."""

    def __init__(self, workspace: Workspace, evaluation: Evaluation, of: Experiment) -> None:
        self._workspace = workspace
        self._evaluation = evaluation
        self._of = of
        self._id = new_id()
        self._runs = 0

    async def run(
        self, before: Mapping[str, Passes], now: Mapping[str, Passes], *, most: int
    ) -> None:
        """Round by round, each item once in a round and only while it may change what it is."""
        known: dict[str, list[int]] = dict((self._of.metadata.get(AGAIN) or {}).get("passes") or {})
        while items := to_run_again(before, now, most):
            number = max(now[item].runs for item in items)
            try:
                found = await self._round(items, number)
            except UnavailableError:
                return
            answered = {item: one for item, one in found.items() if one.runs}
            for item, one in answered.items():
                now = {**now, item: now[item].plus(one)}
                known[item] = list(Passes(*known.get(item, (0, 0))).plus(one))
            await self._keep(known)
            if len(answered) < len(items):
                return  # The budget is spent, or nobody answers: asking once more is no use.

    async def _round(self, items: Sequence[str], number: int) -> dict[str, Passes]:
        """How a run of each with this number ended."""
        await self._plan(items, number)
        rows = [one for one in self._evaluation.suite.items() if one.id in set(items)]
        skip = {(item, earlier) for item in items for earlier in range(number)}
        async with leased_evaluation(self._workspace, self._id) as (lease, _):
            await ExperimentRunner(self._workspace.experiments, lease).run(
                await self._workspace.experiments.get_experiment(self._id),
                self._evaluation.agent,
                _repeated(self._evaluation.suite, number + 1),
                rows,
                options=self._evaluation.options or RunOptions(),
                progress=Progress(planned=len(rows)),
                skip=skip,
            )
        found = {}
        async for one in self._workspace.experiments.stream_results(self._id):
            if one.repeat == number and (one.error is None or one.error.kind.scored):
                found[one.item_id] = Passes(int(one.passed), 1)
        return found

    async def _plan(self, items: Sequence[str], number: int) -> None:
        self._runs += len(items)
        experiments = self._workspace.experiments
        if self._runs > len(items):
            await experiments.update_experiment(self._id, planned_items=self._runs)
            return
        kept: dict[str, Any] = {
            name: self._of.metadata[name]
            for name in ("scorers", "labels", "model", "refine", "agent_version")
            if name in self._of.metadata
        }
        await experiments.create_experiment(
            replace(
                self._of,
                id=self._id,
                name=f"{self._of.name}, failing items again",
                type=ExperimentType.MINI_BATCH,
                status=ExperimentStatus.PENDING,
                planned_items=self._runs,
                metadata={**kept, "run_again_of": self._of.id, "selection": {"only": list(items)}},
            )
        )

    async def _keep(self, known: dict[str, list[int]]) -> None:
        told = {AGAIN: {"experiment_id": self._id, "passes": known}}
        await self._workspace.experiments.update_experiment(self._of.id, metadata=told)


def _repeated(suite: Suite, repeats: int) -> Suite:
    return replace(suite, policy=replace(suite.policy, repeats=repeats))
