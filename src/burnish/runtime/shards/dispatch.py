"""Shard dispatch: some runs of a block, sent to workers as shards and waited for."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from burnish.domain import BurnishError, Item, ItemResult, UnavailableError
from burnish.evaluation.agents.model_choice import fingerprint_under
from burnish.evaluation.outages import FailureStreak
from burnish.optimization.experiments.adapter import Block
from burnish.runtime.shards.messages import ShardReply, ShardRequest
from burnish.runtime.shards.suite import Pair, ShardSize
from burnish.runtime.shards.transport import (
    OTHER_DATABASE,
    error_of,
    nobody_works,
    refused_by_all,
    shard_lost,
)
from burnish.support.retry import RetryPolicy

if TYPE_CHECKING:
    from burnish.runtime.shards.blocks import ShardedBlocks

log = logging.getLogger(__name__)

Runs = Sequence[tuple[Item, int]]
_REFUSED = RetryPolicy(first_wait_seconds=0.1, longest_wait_seconds=5.0)
_RETRY_SECONDS = 1.0
_PAUSE_SECONDS = 0.1
# A worker that refused rests, so others of the right database would have had it by then.
_ELSEWHERE = 3
# What an item without a timeout is given, before something is taken to be wrong.
_LONGEST_ITEM = 600.0


@dataclass(slots=True)
class InFlightShard:
    """One shard until all its pairs have a result. `due` is when to send it; None is not now."""

    request: ShardRequest
    missing: dict[Pair, ExitStack]
    due: float | None = 0.0
    refusals: int = 0
    # How many of them in a row were for a worker's database, which is another than ours.
    elsewhere: int = 0
    lost: int = 0
    # Whether a worker said that it is done: then also results that look old are its.
    done: bool = field(default=False)

    @classmethod
    def of(
        cls, request: ShardRequest, running: Iterable[AbstractContextManager[None]]
    ) -> InFlightShard:
        """A shard whose pairs count as running from now on."""
        missing: dict[Pair, ExitStack] = {}
        for pair, one in zip(request.pairs, running, strict=True):
            missing[pair] = ExitStack()
            missing[pair].enter_context(one)
        return cls(request, missing)

    def take(self, result: ItemResult) -> bool:
        """Whether the result is one that was missing."""
        running = self.missing.pop((result.item_id, result.repeat), None)
        if running is None:
            return False
        running.close()
        return True

    def next_request(self) -> ShardRequest:
        """What to send now: the pairs that are still missing."""
        request = replace(self.request, pairs=tuple(self.missing))
        self.request = replace(request, attempt=request.attempt + 1)
        self.due = None
        self.done = False
        return request

    def refuse(self, now: float, code: str | None) -> None:
        """Wait a moment, longer each time, and let another worker try."""
        self.refusals += 1
        self.elsewhere = self.elsewhere + 1 if code == OTHER_DATABASE else 0
        self.due = now + _REFUSED.backoff_seconds(self.refusals)

    def end(self) -> None:
        """Its pairs are not running any more."""
        for running in self.missing.values():
            running.close()
        self.missing.clear()


class _Unreadable(Exception):  # noqa: N818 - a state, soon over
    """The database does not answer."""


class ShardDispatch:
    """Sends shards as room and budget allow, and ends when each pair has a result or none may start.

    Pairs are admitted by the budget's gate before they are sent, in order, and each is told to the
    block once, when its result is read from the database.
    """

    def __init__(self, blocks: ShardedBlocks, block: Block, runs: Runs) -> None:
        self._blocks = blocks
        self._block = block
        self._window = blocks.window(block)
        settings = blocks.settings
        size = ShardSize(
            smallest=min(settings.size.smallest, self._window),
            largest=min(settings.size.largest, self._window),
        )
        self._waiting = deque(size.cut(runs))
        self.in_flight: dict[str, InFlightShard] = {}
        self._replies: list[ShardReply] = []
        self._news = asyncio.Event()
        self._streak = FailureStreak(block.options.max_failures_in_a_row)
        # Why the gate let nothing more start; what was sent already ends.
        self._refusal: BurnishError | None = None
        self._look_seconds = settings.look_seconds
        self._empty_since: float | None = None
        self._asked_again_at = blocks.clock.monotonic()
        self._item_seconds = block.options.item_timeout_seconds or _LONGEST_ITEM
        self._stall_seconds = 60.0 + 2 * self._item_seconds

    def hear(self, reply: ShardReply) -> None:
        """A reply came in; it may be another dispatch's."""
        if reply.shard_id in self.in_flight:
            self._replies.append(reply)
            self._blocks.note_sign()
            self._news.set()

    def wake(self) -> None:
        """There may be room now."""
        self._news.set()

    async def run(self) -> None:
        """Until all is done. Raises what ends the experiment."""
        try:
            while self.in_flight or (self._waiting and self._refusal is None):
                await self._send()
                if self.in_flight or self._waiting:
                    await self._listen()
        finally:
            for shard in self.in_flight.values():
                self._blocks.count_ended(len(shard.missing))
                shard.end()
        if self._refusal is not None:
            raise self._refusal

    # --- sending ------------------------------------------------------------------------------

    async def _send(self) -> None:
        now = self._blocks.clock.monotonic()
        for shard in list(self.in_flight.values()):
            if shard.due is not None and shard.due <= now:
                await self._dispatch(shard)
        while self._waiting and self._refusal is None:
            if not self._blocks.has_room(len(self._waiting[0]), self._window):
                return
            admitted = self._admit(self._waiting.popleft())
            if admitted is not None:
                self.in_flight[admitted.request.shard_id] = admitted
                await self._dispatch(admitted)

    def _admit(self, runs: Runs) -> InFlightShard | None:
        """A shard of those that may start."""
        gate = self._block.options.gate
        admitted = []
        for item, repeat in runs:
            try:
                gate.admit(item, repeat)
            except BurnishError as refusal:
                self._refusal = refusal
                break
            admitted.append((item.id, repeat))
        if not admitted:
            return None
        self._blocks.count_sent(len(admitted))
        return InFlightShard.of(self._request(admitted), [gate.running() for _ in admitted])

    def _request(self, pairs: Sequence[tuple[str, int]]) -> ShardRequest:
        block, lease = self._block, self._blocks.lease
        context = block.context()
        return ShardRequest(
            shard_id=secrets.token_hex(8),
            optimization_id=lease.job_id,
            experiment_id=block.experiment.id,
            overrides_tag=block.mask_id,
            configuration_hash=block.experiment.configuration.hash,
            pairs=tuple(pairs),
            lease_owner=lease.owner,
            lease_token=lease.token,
            dataset_id=block.experiment.dataset_id,
            agent_fingerprint=fingerprint_under(
                block.suite.asked(block.agent), block.experiment.configuration
            ),
            scorers_fingerprint=block.suite.scorers.fingerprint,
            refine_fingerprint=refine.fingerprint if (refine := block.suite.refine) else None,
            item_timeout_seconds=block.options.item_timeout_seconds,
            use_cache=block.options.use_cache,
            retry_errors=bool(block.stale),
            parent_tag=context.parent_tag,
            flags=context.flags,
        )

    async def _dispatch(self, shard: InFlightShard) -> None:
        try:
            await self._blocks.transport.send(shard.next_request())
        except UnavailableError as error:
            log.warning("a shard cannot be sent now: %s", error.why)
            shard.due = self._blocks.clock.monotonic() + _RETRY_SECONDS

    # --- listening ----------------------------------------------------------------------------

    async def _listen(self) -> None:
        """Wait for replies, or look at the database after a while without."""
        due = [shard.due for shard in self.in_flight.values() if shard.due is not None]
        next_due = min(due, default=float("inf")) - self._blocks.clock.monotonic()
        heard = True
        try:
            async with asyncio.timeout(max(min(self._look_seconds, next_due), 0.0)):
                await self._news.wait()
        except TimeoutError:
            heard = False
        self._news.clear()
        replies, self._replies = self._replies, []
        try:
            if replies:
                await self._heed(replies)
            elif not heard and next_due > 0:
                await self._look()
        except _Unreadable as error:
            # The database is away for a moment: what was heard still holds afterwards.
            log.warning("results cannot be read now: %s", error)
            self._replies = [*replies, *self._replies]
            await self._blocks.clock.sleep(_RETRY_SECONDS)
            self._require_patience()

    async def _heed(self, replies: Sequence[ShardReply]) -> None:
        concerned = {
            reply.shard_id: self.in_flight[reply.shard_id]
            for reply in replies
            if reply.shard_id in self.in_flight
        }
        for reply in replies:
            if reply.status == "done" and reply.shard_id in concerned:
                concerned[reply.shard_id].done = True
        await self._read(concerned.values())
        now = self._blocks.clock.monotonic()
        for reply in replies:
            shard = self.in_flight.get(reply.shard_id)
            if shard is None:
                continue
            if reply.status == "failed":
                raise error_of(reply)
            if reply.status == "done":
                self._ask_again(shard, now)  # The worker's database is not this one, or lags.
            elif reply.status == "stopped":
                shard.due = now
            else:
                self._blocks.note_refusal(reply)
                shard.refuse(now, reply.error_code)
                self._require_same_database(reply)
        self._blocks.require_takers(self._item_seconds)

    def _require_same_database(self, reply: ShardReply) -> None:
        """End the run at once where nobody holds a shard, and who had one has another database."""
        if all(one.elsewhere >= _ELSEWHERE for one in self.in_flight.values()):
            raise refused_by_all(reply)

    async def _look(self) -> None:
        """Nobody said anything: see what the database has, and whether the shards are still there."""
        if await self._read(self.in_flight.values()):
            return
        self._look_seconds = min(self._look_seconds * 2, self._blocks.settings.longest_look_seconds)
        quiet = self._require_patience()
        self._blocks.require_takers(self._item_seconds)
        try:
            outstanding = await self._blocks.transport.outstanding()
        except UnavailableError as error:
            log.warning("the mailbox cannot be looked at now: %s", error.why)
            return
        now = self._blocks.clock.monotonic()
        stalled = min(quiet, now - self._asked_again_at) >= self._stall_seconds
        if outstanding and not stalled:
            self._empty_since = None
            return
        self._empty_since = now if self._empty_since is None else self._empty_since
        self._look_seconds = self._blocks.settings.look_seconds
        if stalled or now - self._empty_since >= self._blocks.settings.lost_seconds:
            self._empty_since = None
            self._send_again(now, lost=not outstanding)

    async def _read(self, in_flight: Collection[InFlightShard]) -> int:
        """Take in what the database has of these; how many results were new."""
        missing = {item: None for shard in in_flight for item, _ in shard.missing}
        if not missing:
            return 0
        by_pair = {pair: shard for shard in in_flight for pair in shard.missing}
        found = 0
        results = await self._results(list(missing))
        try:
            for result in results:
                shard = by_pair.get((result.item_id, result.repeat))
                if shard is None or (not shard.done and self._is_stale(result)):
                    continue
                if shard.take(result):
                    found += 1
                    self._tell(result)
        finally:
            if found:  # Also when one of them ends the experiment: others wait for the room.
                self._blocks.count_ended(found)
        for shard in list(in_flight):
            if not shard.missing:
                self.in_flight.pop(shard.request.shard_id, None)
        if found:
            self._look_seconds = self._blocks.settings.look_seconds
            self._empty_since = None
            self._blocks.note_results()
        return found

    async def _results(self, item_ids: list[str]) -> list[ItemResult]:
        try:
            return await self._blocks.experiments.get_results(
                self._block.experiment.id, item_ids=item_ids
            )
        except UnavailableError as error:
            raise _Unreadable(error.why) from error

    def _is_stale(self, result: ItemResult) -> bool:
        return self._block.stale.get((result.item_id, result.repeat)) == result

    def _tell(self, result: ItemResult) -> None:
        block = self._block
        block.options.gate.record(result)
        block.progress.add(result)
        if block.options.on_result is not None:
            block.options.on_result(result)
        self._streak.note(result, done=block.progress.done)

    # --- patience -----------------------------------------------------------------------------

    def _send_again(self, now: float, *, lost: bool) -> None:
        """The mailbox has lost them, or a worker that fell silent has them.

        While something still waits there may just be no worker yet: that is no attempt.
        """
        self._asked_again_at = now
        silent = [shard for shard in self.in_flight.values() if shard.due is None]
        for shard in silent:
            if lost:
                self._ask_again(shard, now)
            else:
                shard.due = now
        if silent:
            log.warning("%d shards are asked for again", len(silent))

    def _ask_again(self, shard: InFlightShard, now: float) -> None:
        shard.lost += 1
        if shard.lost >= self._blocks.settings.max_attempts:
            raise shard_lost(len(shard.missing), shard.lost)
        shard.due = now + _PAUSE_SECONDS * (shard.lost - 1)

    def _require_patience(self) -> float:
        quiet = self._blocks.quiet_seconds()
        if quiet >= self._blocks.settings.give_up_seconds:
            raise nobody_works(self._blocks.transport, quiet)
        return quiet
