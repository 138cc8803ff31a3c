"""How a distributed run fails, in words."""

from __future__ import annotations

from burnish.domain import BurnishError, InvariantError, UnavailableError
from burnish.optimization.experiments.blocks import RunnerLost
from burnish.runtime.shards.messages import ShardReply
from burnish.runtime.shards.transport import ShardCarrier


def error_of(reply: ShardReply) -> BurnishError:
    """The error that a worker met, as if it had happened here."""
    kind = InvariantError if reply.error_code == "internal" else UnavailableError
    return kind(what=reply.what, why=reply.why, fix=reply.fix, code=reply.error_code)


def nobody_works(carrier: ShardCarrier, seconds: float) -> RunnerLost:
    """No worker was heard of for too long."""
    return RunnerLost(
        what="the run stopped",
        why=f"no worker on {carrier.where} was heard of for {seconds:.0f} s",
        fix=f"{carrier.advice}, and resume the run: every finished evaluation is kept",
    )


def refused_by_all(reply: ShardReply) -> RunnerLost:
    """Every worker that answers refuses."""
    return RunnerLost(
        what="the run stopped: its workers refuse the work",
        why=f"{reply.why} (worker {reply.worker})",
        fix=f"{reply.fix}; then resume the run: every finished evaluation is kept",
        code="workers_refuse",
    )


def shard_lost(pairs: int, times: int) -> UnavailableError:
    """A shard never comes to an end: it may end its workers."""
    return UnavailableError(
        what=f"{pairs} evaluations have no result",
        why=f"they were given to workers {times} times, and got lost each time",
        fix="look at the workers' logs and at the mailbox's dead letters: an item may end its worker",
        code="shard_lost",
    )
