"""Experiment adapters: the boundary to whatever runs experiments, and the blocks it runs them in."""

from __future__ import annotations

from collections.abc import Awaitable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from burnish.domain import (
    Agent,
    BurnishError,
    Configuration,
    Experiment,
    ExperimentContext,
    ExperimentStatus,
    ExperimentSummary,
    ExperimentType,
    Item,
    ItemResult,
    UnavailableError,
    current_experiment,
)
from burnish.evaluation.progress import Progress
from burnish.evaluation.runner import RunOptions
from burnish.evaluation.suite import Suite

# An experiment that ended so has no score; what it lacks can still be run.
UNSCORED = (ExperimentStatus.FAILED, ExperimentStatus.CANCELLED, ExperimentStatus.TIMEOUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentRequest:
    """What to run: one candidate, under its mask, over a suite or some items of it.

    The experiment's id comes with the request, so that asking twice can never run it twice. With
    `retry_errors`, what failed outside the agent in an earlier attempt is run again, also when the
    experiment ended without a score. `configuration`, `items` and `agent_name` are there for adapters
    of others, which need not know what Burnish keeps under a mask or an id.
    """

    optimization_id: str
    candidate_id: str
    mask_id: str
    evaluation_suite_id: str
    experiment_id: str
    type: ExperimentType
    item_ids: tuple[str, ...]
    execution_params: Mapping[str, Any] = field(default_factory=dict)
    retry_errors: bool = False
    # How often each item runs; None is the suite's policy.
    repeats: int | None = None
    # The others of its step or comparison: block by block they wait for each other, where trials
    # race or two arms are compared.
    runs_with: tuple[str, ...] = ()
    configuration: Configuration | None = None
    items: tuple[Item, ...] = ()
    agent_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TriggeredExperiment:
    """An experiment that was started or goes on; its id is the request's."""

    experiment_id: str


def _no_summary() -> ExperimentSummary:
    return ExperimentSummary(
        runs=0,
        passed=0,
        failed=0,
        errors=0,
        infrastructure_errors=0,
        score=None,
        pass_rate=None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RawExperimentResults:
    """What an experiment came to, before it is made a trial.

    An adapter of your own gives `results`, one for each item and repeat; Burnish stores and sums them
    up. The status may be given as its text.
    """

    status: ExperimentStatus
    results: Sequence[ItemResult] = ()
    error: str | None = None
    summary: ExperimentSummary = field(default_factory=_no_summary)

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", ExperimentStatus(self.status))


class ExperimentAdapter(Protocol):
    """Runs experiments wherever you like: what `burnish.optimize(adapter=…)` takes.

    Four methods, plain or async; plain ones are called off the event loop, one at a time. `trigger`
    returns at once and is idempotent by experiment id: a request for an experiment that is there
    already, as after a kill, continues it. With `retry_errors` in the request, results whose error is
    not the agent's are run again. Raise UnavailableError for what may pass: it is tried again.
    """

    def trigger(
        self, request: ExperimentRequest
    ) -> TriggeredExperiment | Awaitable[TriggeredExperiment | None] | None:
        """Start or continue an experiment."""
        ...

    def get_status(
        self, experiment_id: str
    ) -> ExperimentStatus | str | Awaitable[ExperimentStatus | str | None] | None:
        """Its status; None when there is no such experiment."""
        ...

    def get_results(
        self, experiment_id: str
    ) -> RawExperimentResults | Awaitable[RawExperimentResults]:
        """What it came to, once its status is final."""
        ...

    def cancel(self, experiment_id: str) -> Awaitable[None] | None:
        """End it; an experiment that is over or unknown is fine."""
        ...


@runtime_checkable
class NewsSource(Protocol):
    """An adapter that says when to look again; the others are asked now and then."""

    def wait_for_news(self, seconds: float) -> Awaitable[None] | None:
        """Return when some experiment may have ended, or after so long."""
        ...


class RunAdapter(Protocol):
    """Runs the experiments of one attempt. The aggregator decides when one is done and what it means.

    `trigger` returns at once and is idempotent by experiment id: an experiment that is there already
    is continued, never run anew. `wait_for_news` returns when some experiment may have ended, or
    after `seconds`; it may return too often and promises nothing about which.
    """

    async def trigger(self, request: ExperimentRequest) -> None:
        """Start or continue an experiment."""
        ...

    async def get_status(self, experiment_id: str) -> ExperimentStatus | None:
        """Its status; None when there is no such experiment."""
        ...

    async def get_results(self, experiment_id: str) -> RawExperimentResults:
        """What it came to so far."""
        ...

    async def cancel(self, experiment_id: str, *, overdue: bool = False) -> None:
        """End it, as `timeout` when it is overdue; its results so far stay."""
        ...

    async def wait_for_news(self, seconds: float) -> None:
        """Sleep until something may have changed."""
        ...

    async def close(self) -> None:
        """Stop working without ending what runs: it can be continued later."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """Which items of an experiment to run, and who hears of it.

    (id, repeat) pairs in `skip` are done. `stale` are stored results that failed outside the agent
    and are run again: finding one of those is no news.
    """

    experiment: Experiment
    mask_id: str
    agent: Agent
    suite: Suite
    items: Sequence[Item]
    options: RunOptions
    progress: Progress
    skip: Collection[tuple[str, int]] = ()
    stale: Mapping[tuple[str, int], ItemResult] = field(default_factory=dict)

    def context(self) -> ExperimentContext:
        """What the agent's code sees as its experiment: flags are those the run was started under."""
        outer = current_experiment()
        return ExperimentContext(
            id=self.experiment.id,
            name=self.experiment.name,
            overrides_tag=self.mask_id,
            parent_tag=None if outer is None else outer.overrides_tag,
            flags={} if outer is None else outer.flags,
        )


class BlockRunner(Protocol):
    """Runs blocks, several at once if asked to.

    When `run` returns, every pair of the block has a result in the repository, written under the
    lease, and the block's gate, progress and `on_result` heard of each exactly once. The gate is
    asked before a pair is started anywhere. What completed before `run` raised or was cancelled is
    kept.
    """

    async def run(self, block: Block) -> None:
        """Evaluate a block. RunnerLost when it can evaluate nothing any more."""
        ...

    async def close(self) -> None:
        """Stop; nothing that was asked for is waited for."""
        ...


class ExperimentEnded(BurnishError):  # noqa: N818 - an outcome, not a failure of ours
    """An experiment ended without a score, by the word of whoever ran it."""

    def __init__(self, status: ExperimentStatus, why: str) -> None:
        super().__init__(what="the experiment ended", why=why, fix="look at what ran it")
        self.status = status


class RunnerLost(UnavailableError):  # noqa: N818 - named after what happened
    """Whoever evaluates is gone or useless: going on would fail every experiment alike."""

    default_code = "no_workers"
