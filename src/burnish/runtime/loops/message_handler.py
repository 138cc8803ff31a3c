"""Message handler: one message from delivery to its end, held, worked on, answered, settled."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

from burnish.domain import BurnishError, Clock, ConflictError, UnavailableError, UsageError
from burnish.domain.mailboxes import Message
from burnish.domain.wording import counted
from burnish.evaluation.item_runner import describe
from burnish.support.retry import RetryPolicy, retry

_log = logging.getLogger(__name__)
RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")
# As the seed has it: a request that keeps failing is left alone for ever longer, up to a cap.
_STEP_SECONDS = 60.0
_LONGEST_SECONDS = 900.0
# A mailbox allows at most so many hours for one delivery; whatever takes longer has hung.
_LONGEST_WORK_SECONDS = 12 * 3600.0
# How long work that was cancelled, or a mailbox that is told so, may take.
_GIVE_BACK_SECONDS = 2.0
_RETRIES = RetryPolicy(max_attempts=None, first_wait_seconds=0.1, longest_wait_seconds=5.0)


class GivenBack(Exception):  # noqa: N818 - no error: another worker goes on with it
    """Raised by a handler that will not finish: the message goes back for others to take."""

    def __init__(self, seconds: float = 0.0) -> None:
        super().__init__("given back")
        self.seconds = seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One delivery of a request. `last` says that after this one there is no other.

    `stopping` is set when the worker shuts down: work that cannot end within a grace period ends
    where it can be gone on with.
    """

    count: int = 1
    last: bool = False
    stopping: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryRules:
    """When a request that failed comes back, and how long a result may wait for its mailbox."""

    step_seconds: float = _STEP_SECONDS
    longest_seconds: float = _LONGEST_SECONDS
    settle_seconds: float = 300.0
    work_seconds: float = _LONGEST_WORK_SECONDS

    def wait_seconds(self, delivery_count: int) -> float:
        """How long a request rests after so many deliveries."""
        return min(self.step_seconds * delivery_count, self.longest_seconds)


class Ending(StrEnum):
    """What became of a delivery."""

    DONE = "done"
    FAILED = "failed"
    GIVEN_BACK = "given_back"
    LOST = "lost"


class MessageHandler(Generic[RequestT, ReplyT]):
    """Serves one delivery. The message stays this worker's for as long as the work goes on.

    When the mailbox says that the message is not ours any more, the work is cancelled: somebody
    else does it, and it shall not be done twice.
    """

    def __init__(
        self,
        message: Message[RequestT, ReplyT],
        *,
        visibility_timeout: float,
        delivery: Delivery,
        rules: RetryRules,
        clock: Clock,
    ) -> None:
        self._message = message
        self._visibility = visibility_timeout
        self._delivery = delivery
        self._rules = rules
        self._clock = clock
        self._lost = False
        self._overdue = False

    async def serve(
        self,
        handle: Callable[[RequestT, Delivery], Awaitable[ReplyT | None]],
        failed: Callable[[RequestT, Exception], ReplyT | None],
    ) -> Ending:
        """Work, answer and settle. Cancelling it gives the message back at once."""
        working = asyncio.ensure_future(handle(self._message.body, self._delivery))
        keeping = asyncio.create_task(self._keep(working))
        try:
            await asyncio.wait({working})
            settling = asyncio.ensure_future(self._settle(working, failed))
            try:
                return await asyncio.shield(settling)
            except asyncio.CancelledError:
                await asyncio.wait({settling}, timeout=_GIVE_BACK_SECONDS)
                settling.cancel()
                raise
        except asyncio.CancelledError:
            if not working.done():
                working.cancel()
                await asyncio.wait({working}, timeout=_GIVE_BACK_SECONDS)
                await self._give_back(0)
            raise
        finally:
            keeping.cancel()

    async def give_up(self, failed: Callable[[RequestT, Exception], ReplyT | None]) -> Ending:
        """Tell the sender that nobody will try again; the mailbox buries it after that."""
        error = UnavailableError(
            what="the request was given up",
            why=f"{counted(self._message.delivery_count - 1, 'worker')} failed or ended in the "
            f"middle of it",
            fix="look at the workers' logs; the request is in the mailbox's dead letters",
            code="worker_ended",
        )
        _log.warning("message %s: %s", self._message.id, error)
        reply = self._excuse(failed, error)
        if reply is not None:
            await self._tell(reply, None)
        await self._give_back(0)
        return Ending.FAILED

    async def _keep(self, working: asyncio.Future[Any]) -> None:
        """Renew the visibility at a third of its time; sooner after a failure to do so."""
        started = self._clock.monotonic()
        pause = self._visibility / 3
        while True:
            await self._clock.sleep(pause)
            if self._clock.monotonic() - started > self._rules.work_seconds:
                self._overdue = True
                working.cancel()
                return
            try:
                await self._message.extend_visibility(self._visibility)
                pause = self._visibility / 3
            except ConflictError:
                self._lost = True
                working.cancel()
                return
            except BurnishError as error:
                _log.warning("a message could not be held: %s", error)
                pause = min(self._visibility / 10, 1.0)

    async def _settle(
        self,
        working: asyncio.Future[ReplyT | None],
        failed: Callable[[RequestT, Exception], ReplyT | None],
    ) -> Ending:
        if self._lost:
            _log.warning("message %s went to another worker meanwhile", self._message.id)
            return Ending.LOST
        if working.cancelled():
            error: BaseException | None = self._hung() if self._overdue else GivenBack()
        else:
            error = working.exception()
        if error is None:
            told = await self._tell(working.result(), failed)
            return await self._end(told)
        if isinstance(error, GivenBack):
            await self._give_back(error.seconds)
            return Ending.GIVEN_BACK
        if not isinstance(error, Exception):
            raise error
        return await self._fail(error, failed)

    async def _fail(
        self, error: Exception, failed: Callable[[RequestT, Exception], ReplyT | None]
    ) -> Ending:
        """Tell the sender where trying again is of no use; else let others try later.

        Without anybody to tell, the message goes on to the dead letters, where people find it.
        """
        _log.warning(
            "message %s failed in delivery %d: %s",
            self._message.id,
            self._message.delivery_count,
            describe(error),
        )
        final = isinstance(error, UsageError)
        if final or self._delivery.last:
            reply = self._excuse(failed, error)
            told = self._message.reply_to is not None and reply is not None
            told = told and await self._tell(reply, None)
            if final and told:
                await self._acknowledge()
                return Ending.FAILED
        over = final or self._delivery.last
        await self._give_back(0.0 if over else self._rules.wait_seconds(self._delivery.count))
        return Ending.FAILED

    async def _end(self, told: bool) -> Ending:
        if not told:
            await self._give_back(self._rules.wait_seconds(self._delivery.count))
            return Ending.FAILED
        await self._acknowledge()
        return Ending.DONE

    async def _tell(
        self,
        reply: ReplyT | None,
        failed: Callable[[RequestT, Exception], ReplyT | None] | None,
    ) -> bool:
        """Whether the sender has been answered, as far as it wants to be."""
        if reply is None or self._message.reply_to is None:
            return True
        try:
            await self._patiently(lambda: self._message.reply(reply))
        except UsageError as error:
            # Too large, say: the sender hears at least that.
            _log.warning("a reply could not be sent: %s", error)
            excuse = None if failed is None else self._excuse(failed, error)
            return excuse is not None and await self._tell(excuse, None)
        except BurnishError as error:
            _log.warning("a reply could not be sent: %s", error)
            return False
        return True

    def _excuse(
        self, failed: Callable[[RequestT, Exception], ReplyT | None], error: Exception
    ) -> ReplyT | None:
        """What the sender is to hear; nothing where the request is not even of the right kind."""
        try:
            return failed(self._message.body, error)
        except Exception as bug:  # noqa: BLE001 - the message must still be settled
            _log.warning("a failure could not be told: %s", describe(bug))
            return None

    async def _acknowledge(self) -> None:
        try:
            await self._patiently(self._message.acknowledge)
        except BurnishError as error:
            # It was done and answered; at worst it is done and answered once more.
            _log.warning("message %s could not be settled: %s", self._message.id, error)

    async def _give_back(self, seconds: float) -> None:
        if self._lost:
            return
        telling = asyncio.ensure_future(self._message.nack(visibility_timeout=seconds))
        await asyncio.wait({telling}, timeout=_GIVE_BACK_SECONDS)
        if not telling.done():
            telling.cancel()
        elif not telling.cancelled() and (error := telling.exception()) is not None:
            # It comes back by itself once its time is over.
            _log.warning("message %s could not be given back: %s", self._message.id, error)

    async def _patiently(self, call: Callable[[], Awaitable[object]]) -> None:
        """Until it is done, while the mailbox is away and time is left."""
        await retry(
            lambda _: call(),
            policy=replace(_RETRIES, deadline_seconds=self._rules.settle_seconds),
            passing=lambda error: isinstance(error, UnavailableError) and not self._lost,
            clock=self._clock,
        )

    def _hung(self) -> UnavailableError:
        return UnavailableError(
            what="the request was given up",
            why=f"it took more than {self._rules.work_seconds:,.0f} seconds",
            fix="find out what hangs; another worker tries again",
            code="work_hung",
        )
