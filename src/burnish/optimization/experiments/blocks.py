"""A part of an experiment that is run in one go, and whoever runs it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from burnish.domain import (
    Agent,
    Experiment,
    ExperimentContext,
    Item,
    ItemResult,
    UnavailableError,
    current_experiment,
)
from burnish.evaluation.progress import Progress
from burnish.evaluation.runner import RunOptions
from burnish.evaluation.suite import Suite


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


class RunnerLost(UnavailableError):  # noqa: N818 - named after what happened
    """Whoever evaluates is gone or useless: going on would fail every experiment alike."""

    default_code = "no_workers"
