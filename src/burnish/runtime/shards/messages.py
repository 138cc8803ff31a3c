"""Messages between a run and its workers: which runs to do, and that they are done.

Neither code nor configurations nor results travel: a worker has the code, and both sides read and
write the same database. So losing a message costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from burnish.domain import Lease
from burnish.runtime.mailboxes import MESSAGE_TYPES, message_type
from burnish.runtime.mailboxes.message_types import Packed

# Apart from single samples: a loop takes as many messages as it has places, and one shard fills a
# worker, so a worker must take one at a time for the others to get theirs.
SHARD_REQUESTS = "shard-requests"

_REQUEST, _REPLY = "burnish.shard-request", "burnish.shard-reply"
ShardStatus = Literal["done", "refused", "stopped", "cancelled", "failed"]


@message_type(_REQUEST)
@dataclass(frozen=True, slots=True, kw_only=True)
class ShardRequest:
    """Some runs of one experiment: (item id, repeat) pairs, under the lease of the run that asks.

    Fingerprints are those of the asking side; None is unknown and cannot be checked. With
    `retry_errors`, stored results that failed outside the agent are run again.
    """

    shard_id: str
    optimization_id: str
    experiment_id: str
    overrides_tag: str
    configuration_hash: str
    pairs: tuple[tuple[str, int], ...]
    lease_owner: str
    lease_token: int
    dataset_id: str | None = None
    agent_fingerprint: str | None = None
    scorers_fingerprint: str | None = None
    refine_fingerprint: str | None = None
    item_timeout_seconds: float | None = None
    use_cache: bool = True
    retry_errors: bool = False
    attempt: int = 1
    parent_tag: str | None = None
    flags: Mapping[str, bool] = field(default_factory=dict)

    @property
    def lease(self) -> Lease:
        """The right under which a worker may write."""
        return Lease(job_id=self.optimization_id, owner=self.lease_owner, token=self.lease_token)


@message_type(_REPLY)
@dataclass(frozen=True, slots=True, kw_only=True)
class ShardReply:
    """What became of a shard. It is news only: the results are in the database.

    - `done`: every pair has a result.
    - `refused`: this worker cannot run it; another one may.
    - `stopped`: the worker is shutting down; pairs without a result are for another one.
    - `cancelled`: nobody wants the results any more.
    - `failed`: it failed in a way that fails the experiment, as `error_code` and the rest say.
    """

    shard_id: str
    experiment_id: str
    status: ShardStatus
    worker: str
    results: int = 0
    error_code: str | None = None
    what: str = ""
    why: str = ""
    fix: str = ""


def reply_to(request: ShardRequest, status: ShardStatus, worker: str, **rest: Any) -> ShardReply:
    """A reply that names what it is about."""
    return ShardReply(
        shard_id=request.shard_id,
        experiment_id=request.experiment_id,
        status=status,
        worker=worker,
        **rest,
    )


def written(message: ShardRequest | ShardReply) -> bytes:
    """As it travels where a transport has no types of its own."""
    return MESSAGE_TYPES.encode(message).payload


def read_request(payload: bytes) -> ShardRequest:
    """A request again, checked field by field."""
    request: ShardRequest = MESSAGE_TYPES.decode(Packed(_REQUEST, 1, payload))
    return request


def read_reply(payload: bytes) -> ShardReply:
    """A reply again, checked field by field."""
    reply: ShardReply = MESSAGE_TYPES.decode(Packed(_REPLY, 1, payload))
    return reply
