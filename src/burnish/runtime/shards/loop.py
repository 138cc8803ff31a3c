"""Shard loop: serves the mailbox of shards on a worker."""

from __future__ import annotations

import asyncio

from burnish.domain import Clock
from burnish.domain.mailboxes import Mailbox, Message
from burnish.runtime.loops.mailbox_loop import MailboxLoop
from burnish.runtime.loops.message_handler import Delivery, RetryRules
from burnish.runtime.shards.evaluator import ShardEvaluator
from burnish.runtime.shards.messages import ShardReply, ShardRequest

VISIBILITY_SECONDS = 15.0
_REST_SECONDS = 0.5
_ENTRY_SECONDS = 0.005


class ShardLoop(MailboxLoop[ShardRequest, ShardReply]):
    """Takes one shard at a time, and the next when the one in hand is nearly through: the evaluator
    runs the items side by side, and what else waits is for the other workers."""

    request_type = ShardRequest

    def __init__(
        self,
        *,
        evaluator: ShardEvaluator,
        requests: Mailbox[ShardRequest, ShardReply],
        rules: RetryRules | None = None,
        clock: Clock | None = None,
        name: str = "shards",
    ) -> None:
        super().__init__(name=name, requests=requests, concurrency=1, rules=rules, clock=clock)
        self._evaluator = evaluator
        self._refused = False
        # Shards that were received and that the evaluator does not know of yet.
        self._arriving: set[str] = set()

    async def run(
        self,
        *,
        max_iterations: int | None = None,
        visibility_timeout: float = VISIBILITY_SECONDS,
        wait_time_seconds: float = 20,
    ) -> None:
        """Serve. However long a worker holds other messages, a shard is renewed every few seconds:
        when a worker dies, another one has its shard soon."""
        await super().run(
            max_iterations=max_iterations,
            visibility_timeout=min(visibility_timeout, VISIBILITY_SECONDS),
            wait_time_seconds=wait_time_seconds,
        )

    async def handle(self, request: ShardRequest, delivery: Delivery) -> ShardReply:
        """Evaluate a shard."""
        self._arriving.discard(request.shard_id)  # The evaluator counts it from its first line on.
        reply = await self._evaluator.evaluate(
            request, stopping=delivery.stopping, deliveries=delivery.count
        )
        self._refused = reply.status == "refused"
        return reply

    def _start(self, message: Message[ShardRequest, ShardReply], visibility_timeout: float) -> None:
        if isinstance(message.body, ShardRequest):  # Anything else is refused.
            self._arriving.add(message.body.shard_id)
        super()._start(message, visibility_timeout)

    async def _until_there_is_room(self) -> None:
        """Until one more shard has room. After a refusal, the others have the first grip at it."""
        while self._work and not self._stopping.is_set():
            if self._arriving:
                await self._pause(self._work, _ENTRY_SECONDS)
            elif self._evaluator.room.is_set():
                break
            else:
                await self._until_something_ends()
        self._arriving.clear()
        self._concurrency = len(self._work) + 1
        if self._refused:
            until = self._clock.monotonic() + _REST_SECONDS
            while (left := until - self._clock.monotonic()) > 0 and not self._stopping.is_set():
                await self._pause((), left)

    async def _until_something_ends(self) -> None:
        room = asyncio.ensure_future(self._evaluator.room.wait())
        try:
            await self._pause({room, *self._work})
        finally:
            room.cancel()
