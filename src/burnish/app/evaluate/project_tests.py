"""Project under test: the rows of its suite one by one, and an assertion against a baseline."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from burnish.app.evaluate.baselines import Baseline, compared_with, outcomes_of, read_baseline
from burnish.app.evaluate.evaluations import Evaluation, Selection
from burnish.app.evaluate.records import Record, complaint, read_rows, stream_records
from burnish.app.evaluate.reruns import told_apart
from burnish.app.evaluate.result import EvaluationResult
from burnish.app.wiring import ModelPool, Workspace, build_suite, database_location
from burnish.config.schema import Settings
from burnish.config.settings import CONFIG_NAME, load_settings
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import ExperimentStatus
from burnish.domain.wording import counted, p_relation
from burnish.evaluation.broken_items import RERUNS
from burnish.evaluation.datasets import Dataset
from burnish.support.sync_calls import run_sync

_MOST_TOLD = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectUnderTest:
    """A burnish.toml or its folder; another dataset and a part of the rows where they are named."""

    config: Path
    dataset: str | None = None
    split: str | None = None
    limit: int | None = None
    db: str | None = None

    def item_ids(self) -> list[str]:
        """The rows by their ids; nothing is called."""
        settings = self._settings()
        spec = settings.suite_spec()
        if self.split is None:
            return list(Dataset.of(spec.dataset).index().ids)[: self.limit]
        # Rows may be split by the column that a scorer compares, which the scorers know.
        suite = build_suite(spec, ModelPool(settings.models).model, settings.agent_spec())
        return [item.id for item in Selection(limit=self.limit, split=self.split).items(suite)]

    def run(self, only: Collection[str]) -> dict[str, list[Record]]:
        """By item, its runs with their scores, from one evaluation of these items."""
        return run_sync(self._run(frozenset(only)))

    async def _run(self, only: frozenset[str]) -> dict[str, list[Record]]:
        found: dict[str, list[Record]] = defaultdict(list)
        async with self.opened() as (workspace, evaluation, _):
            result = await evaluation.run(Selection(only=only), name="pytest")
            async for record in stream_records(workspace, result.experiment):
                found[record.result.item_id].append(record)
        return found

    @contextlib.asynccontextmanager
    async def opened(
        self, agent: AgentSpec | None = None, suite: SuiteSpec | None = None
    ) -> AsyncIterator[tuple[Workspace, Evaluation, str]]:
        """The database, an evaluation of what is given or else of the project, and its place."""
        if agent is None or suite is None:
            settings = self._settings()
            folder, models = settings.folder, settings.models
            agent, suite = agent or settings.agent_spec(), suite or settings.suite_spec()
        else:
            folder, models = Path.cwd(), {}
        location = database_location(folder, self.db)
        async with Workspace.open(location, models=models) as workspace:
            evaluation = Evaluation(workspace, agent, suite)
            try:
                yield workspace, evaluation, location
            finally:
                await evaluation.close()

    def _settings(self) -> Settings:
        file = self.config / CONFIG_NAME if self.config.is_dir() else self.config
        named = {} if self.dataset is None else {"suite.dataset": self.dataset}
        return load_settings(file, named)


def assert_no_regression(
    baseline: str | Path,
    *,
    agent: AgentSpec | None = None,
    suite: SuiteSpec | None = None,
    config: str | Path = CONFIG_NAME,
    split: str | None = None,
    limit: int | None = None,
    name: str | None = None,
    db: str | None = None,
    keep_passing: bool = False,
    reruns: int = RERUNS,
) -> EvaluationResult:
    """Evaluate, and raise AssertionError where it is clearly worse than the baseline (p < 0.05).

    `baseline` is a JSON file that `burnish export` wrote, or an experiment of this database by its id
    or as `latest`. The agent and the suite are those of `config` unless they are given. The test is the
    paired one of `burnish eval --baseline`: a few items that went the other way by chance fail nothing.
    With `keep_passing` no item may be broken either that passed with the baseline: what fails is run
    again, up to `reruns` times, and counts where its own pass rate does not explain it.
    """
    __tracebackhide__ = True
    project = ProjectUnderTest(config=Path(config), split=split, limit=limit, db=db)
    again = reruns if keep_passing else None
    result, told = run_sync(_compared(project, str(baseline), agent, suite, name, again))
    if told:
        raise AssertionError(told)
    return result


async def _compared(
    project: ProjectUnderTest,
    reference: str,
    agent: AgentSpec | None,
    suite: SuiteSpec | None,
    name: str | None,
    reruns: int | None,
) -> tuple[EvaluationResult, str]:
    """The result with its comparison, and what speaks against it; `reruns` where no item may break."""
    async with project.opened(agent, suite) as (workspace, evaluation, location):
        experiments = workspace.experiments
        before = await read_baseline(experiments, reference)
        before.require_items(evaluation.suite.dataset.index().lines)
        selection = Selection(split=project.split, limit=project.limit)
        result = await evaluation.run(selection, name=name)
        if result.experiment.status is not ExperimentStatus.COMPLETED:
            error = result.experiment.metadata.get("error") or {}
            return result, f"nothing could be compared: {error.get('message') or 'it did not end'}"
        if reruns is None:
            result = await compared_with(experiments, result, before)
        else:
            result = await told_apart(workspace, evaluation, result, before, reruns=reruns)
        result = replace(result, read=partial(read_rows, location, result.experiment_id))
        headline = _headline(result, before, keep_passing=reruns is not None)
        if not headline:
            return result, ""
        broken = frozenset(before.broken(await outcomes_of(experiments, result.experiment_id)))
        records = stream_records(workspace, result.experiment)
        failing = [one async for one in records if one.result.item_id in broken]
        return result, _words(headline, failing)


def _headline(result: EvaluationResult, before: Baseline, *, keep_passing: bool) -> list[str]:
    change, broken, name = result.comparison, result.broken, result.experiment.agent_name
    found = []
    if change is not None and change.regressed:
        found.append(
            f"{name} is worse than the baseline {before.id}: "
            f"{change.delta:+.3f} (95% {change.ci_low:+.3f} to {change.ci_high:+.3f}), "
            f"{p_relation(change.p_value)}, "
            f"{change.worsened} of {counted(change.items, 'item')} worsened"
        )
    if keep_passing and broken is not None and not broken.passed:
        found.append(f"{name} breaks what the baseline {before.id} passes: {broken.in_words()}")
    return found


def _words(headline: Sequence[str], failing: Sequence[Record]) -> str:
    lines = list(headline)
    told = [one.result for one in failing if not one.result.passed]
    lines += [f"  {one.item_id}: {complaint(one) or one.score}" for one in told[:_MOST_TOLD]]
    if len(told) > _MOST_TOLD:
        lines.append(f"  and {len(told) - _MOST_TOLD} more")
    return "\n".join(lines)
