"""Ray transport: shards go to a Ray cluster, each as one task."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any, Protocol

from burnish.evaluation.item_runner import describe
from burnish.runtime.shards.blocks import MailboxExperimentAdapter
from burnish.runtime.shards.messages import (
    ShardReply,
    ShardRequest,
    read_reply,
    reply_to,
    written,
)

log = logging.getLogger(__name__)

_WAIT_SECONDS = 10.0
_LONGEST_REASON = 300


class RayTasks(Protocol):
    """What a transport needs of Ray."""

    def submit(self, payload: bytes) -> Any:
        """Start a task; what it returns can be awaited and gives the reply's bytes."""
        ...

    def cancel(self, task: Any) -> None:
        """Nobody wants it any more."""
        ...


class RayTransport:
    """A ShardTransport on Ray. Ray moves a task of a node that died to another one; whatever it gives
    up comes back as a refused shard, and is sent again after a pause."""

    advice = "add nodes to the cluster with `ray start --address …`"

    def __init__(self, tasks: RayTasks, *, where: str) -> None:
        self._tasks = tasks
        self._waiting: dict[asyncio.Task[None], Any] = {}
        self._arrived: asyncio.Queue[ShardReply] = asyncio.Queue()
        self.where = where

    async def send(self, request: ShardRequest) -> None:
        """Start a task for it."""
        submitted = await asyncio.to_thread(self._tasks.submit, written(request))
        waiting = asyncio.create_task(self._wait(request, submitted))
        self._waiting[waiting] = submitted
        waiting.add_done_callback(lambda task: self._waiting.pop(task, None))

    async def replies(self) -> Sequence[ShardReply]:
        """What has arrived, or nothing after a while."""
        try:
            async with asyncio.timeout(_WAIT_SECONDS):
                arrived = [await self._arrived.get()]
        except TimeoutError:
            return []
        while not self._arrived.empty():
            arrived.append(self._arrived.get_nowait())
        return arrived

    async def outstanding(self) -> int:
        """Tasks that have not ended."""
        return len(self._waiting)

    async def close(self) -> None:
        """Cancel what runs."""
        waiting = dict(self._waiting)
        for task, submitted in waiting.items():
            self._tasks.cancel(submitted)
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)

    async def _wait(self, request: ShardRequest, submitted: Any) -> None:
        try:
            reply = read_reply(await submitted)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # noqa: BLE001 - Ray's own, or whatever a node came upon
            why = describe(getattr(error, "cause", None) or error)[:_LONGEST_REASON]
            log.warning("Ray gave up a shard: %s", type(error).__name__)
            reply = reply_to(
                request,
                "refused",
                "ray",
                why=why,
                fix="give every node Burnish, the project's folder and the way to the database",
            )
        self._arrived.put_nowait(reply)


class RayExperimentAdapter(MailboxExperimentAdapter):
    """The same shards under the same rules; only the transport is Ray's."""
