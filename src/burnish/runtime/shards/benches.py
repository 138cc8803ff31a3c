"""What a worker evaluates with, and whether it is what the run was started with."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from burnish.domain import Agent, ConflictError, Experiment, Item
from burnish.evaluation.suite import Suite
from burnish.runtime.shards.messages import ShardRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardBench:
    """An agent, its suite and the dataset's items by id."""

    agent: Agent
    suite: Suite
    items: Mapping[str, Item]


class ShardBenches(Protocol):
    """Where a worker's agents come from. Code is the worker's own and never comes in a request."""

    def use(self, request: ShardRequest) -> AbstractAsyncContextManager[ShardBench]:
        """The bench of a request's optimization, open within the block.

        UsageError or ConflictError when this worker has none.
        """
        ...

    async def close(self) -> None:
        """Free what the agents hold."""
        ...


def require_same(bench: ShardBench, experiment: Experiment, request: ShardRequest) -> None:
    """Refuse where this worker's results could not be compared with the others'."""
    if bench.agent.name != experiment.agent_name:
        raise _differs(
            f"it serves the agent {bench.agent.name!r}, and the run is of {experiment.agent_name!r}"
        )
    then = {
        "agent's code or model": (request.agent_fingerprint, bench.agent.fingerprint),
        "scorers' code or settings": (
            request.scorers_fingerprint,
            bench.suite.scorers.fingerprint,
        ),
    }
    for part, (asked, here) in then.items():
        if None not in (asked, here) and asked != here:
            raise _differs(f"its {part} differs from what the run was started with")
    refine = bench.suite.refine
    if request.refine_fingerprint != (refine.fingerprint if refine else None):
        raise _differs("its settings of refinement differ from what the run was started with")
    if experiment.configuration.hash != request.configuration_hash:
        raise _differs("the configuration in its database is not the one that the run evaluates")
    missing = [item for item, _ in request.pairs if item not in bench.items]
    if missing:
        raise _differs(f"its dataset has no item {missing[0]!r}")


def _differs(why: str) -> ConflictError:
    return ConflictError(
        what="a worker refused its work",
        why=why,
        fix="give every worker the same code and settings, and restart it",
        code="worker_differs",
    )
