"""Sharded blocks: a run's blocks cut into shards, sent to workers, and read back from the database."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field

from burnish.domain import Clock, ExperimentRepository, Lease, SystemClock
from burnish.evaluation.item_runner import describe
from burnish.evaluation.work_source import runs_of
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.experiments.adapter import Block
from burnish.optimization.experiments.block_adapter import BlockExperimentAdapter, ExperimentInputs
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.runtime.shards.dispatch import ShardDispatch
from burnish.runtime.shards.messages import ShardReply
from burnish.runtime.shards.suite import ShardSize, repeats_last
from burnish.runtime.shards.transport import ShardTransport, refused_by_all
from burnish.support.retry import RetryPolicy

log = logging.getLogger(__name__)

_UNHEARD = RetryPolicy(first_wait_seconds=0.2, longest_wait_seconds=5.0)


def _to_nobody(text: str) -> None:
    """For runs that nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardSettings:
    """Sizes and times of a distributed run; none of it changes a result. Times are in seconds.

    - `max_in_flight`: how many runs are asked for at once, over all experiments.
    - `look_seconds`: how long without news until the database is looked at; it grows while nothing
      changes, up to `longest_look_seconds`.
    - `lost_seconds`: how long the mailbox may be empty with results missing, until the missing ones
      are asked for again; `max_attempts` is how often.
    - `notice_seconds`: how long without a sign of any worker until `on_notice` hears of it.
    - `refusal_seconds`: how long to go on, besides the time that one item may take, when workers
      refuse and none gives a result.
    - `give_up_seconds`: how long to wait for any worker at all.
    """

    size: ShardSize = field(default_factory=ShardSize)
    max_in_flight: int = 1024
    look_seconds: float = 1.0
    longest_look_seconds: float = 8.0
    lost_seconds: float = 2.0
    max_attempts: int = 10
    notice_seconds: float = 20.0
    refusal_seconds: float = 60.0
    give_up_seconds: float = 3600.0
    on_notice: Callable[[str], None] = _to_nobody


class ShardedBlocks:
    """A BlockRunner whose work is done elsewhere.

    The database is the truth and replies are news: a result counts once it is read from there. So a
    lost, late or doubled message changes nothing but the time it takes.
    """

    def __init__(
        self,
        transport: ShardTransport,
        experiments: ExperimentRepository,
        gate: BudgetGate,
        lease: Lease,
        settings: ShardSettings,
        clock: Clock | None = None,
    ) -> None:
        self.transport = transport
        self.experiments = experiments
        self.lease = lease
        self.settings = settings
        self.clock = clock or SystemClock()
        self._gate = gate
        self._dispatches: set[ShardDispatch] = set()
        self._in_flight = 0
        self._listener: asyncio.Task[None] | None = None
        self._last_sign = self.clock.monotonic()
        self._noticed = False
        self._refused_since: float | None = None
        self._refusal: ShardReply | None = None
        self._refusers: set[str] = set()

    async def run(self, block: Block) -> None:
        """Evaluate a block on whatever workers there are."""
        if self._listener is None:
            self._listener = asyncio.create_task(self._listen())
        pairs = list(runs_of(block.items, block.suite.policy.repeats, block.skip))
        for runs in repeats_last(pairs) if block.options.use_cache else [pairs]:
            if not self._dispatches:
                self.note_sign()  # Nobody was waited for until now.
            dispatch = ShardDispatch(self, block, runs)
            self._dispatches.add(dispatch)
            try:
                await dispatch.run()
            finally:
                self._dispatches.discard(dispatch)

    async def close(self) -> None:
        """Listen no more. Workers notice by themselves that nobody waits."""
        if self._listener is not None:
            self._listener.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listener
        await self.transport.close()

    # --- for its dispatches ------------------------------------------------------------------------

    def window(self, block: Block) -> int:
        """How many runs may be under way: few as long as nobody knows what one costs."""
        most = self.settings.max_in_flight
        return most if self._gate.foresees else min(block.options.concurrency, most)

    def has_room(self, count: int, window: int) -> bool:
        """Whether so many more may be sent; one shard always may."""
        return not self._in_flight or self._in_flight + count <= window

    def count_sent(self, count: int) -> None:
        """So many runs are under way."""
        self._in_flight += count

    def count_ended(self, count: int) -> None:
        """So many are not any more; whoever waits for room looks again."""
        self._in_flight -= count
        for dispatch in self._dispatches:
            dispatch.wake()

    def note_refusal(self, reply: ShardReply) -> None:
        """Some worker cannot do the work; the first time, it is told to whoever watches."""
        if self._refused_since is None:
            self._refused_since = self.clock.monotonic()
        self._refusal = reply
        if reply.worker not in self._refusers:
            self._refusers.add(reply.worker)
            self.settings.on_notice(f"worker {reply.worker} refuses the work: {reply.why}")

    def note_results(self) -> None:
        """Some worker does the work."""
        self._refused_since = None
        self.note_sign()

    def require_takers(self, item_seconds: float) -> None:
        """End the run when workers refuse it, and none that does not has shown itself in time."""
        if self._refused_since is None or self._refusal is None:
            return
        seconds = self.clock.monotonic() - self._refused_since
        if seconds >= self.settings.refusal_seconds + item_seconds:
            raise refused_by_all(self._refusal)

    def note_sign(self) -> None:
        """Some worker is alive."""
        self._last_sign = self.clock.monotonic()
        self._noticed = False

    def quiet_seconds(self) -> float:
        """Since the last sign of any worker; after a while it is told to whoever watches."""
        quiet = self.clock.monotonic() - self._last_sign
        if quiet >= self.settings.notice_seconds and not self._noticed:
            self._noticed = True
            transport = self.transport
            text = f"no result from any worker on {transport.where} for {quiet:.0f} s"
            self.settings.on_notice(f"{text}; if none is running there, {transport.advice}")
        return quiet

    # --- replies ------------------------------------------------------------------------------

    async def _listen(self) -> None:
        failures = 0
        while True:
            try:
                replies = await self.transport.replies()
            except Exception as error:  # noqa: BLE001 - without replies it only takes longer
                log.warning("replies cannot be read now: %s", describe(error))
                failures += 1
                await asyncio.sleep(_UNHEARD.backoff_seconds(failures))
                continue
            failures = 0
            for reply in replies:
                for dispatch in self._dispatches:
                    dispatch.hear(reply)


class MailboxExperimentAdapter(BlockExperimentAdapter):
    """The adapter of a run whose evaluations go to workers over mailboxes.

    Racing, budget and idempotency are those of every run; only the blocks are evaluated elsewhere.
    """

    def __init__(
        self,
        workbench: ExperimentInputs,
        experiments: ExperimentRepository,
        materializer: CandidateMaterializer,
        gate: BudgetGate,
        lease: Lease,
        *,
        transport: ShardTransport,
        settings: ShardSettings | None = None,
    ) -> None:
        blocks = ShardedBlocks(transport, experiments, gate, lease, settings or ShardSettings())
        super().__init__(workbench, experiments, materializer, gate, lease, blocks)
