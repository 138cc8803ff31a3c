"""Mailbox loop under all loops: receive, work on a bounded number at once, stop in good order."""

from __future__ import annotations

import asyncio
import logging
import random
from abc import abstractmethod
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, Generic, TypeVar

from burnish.domain import Clock, InvariantError, UnavailableError, UsageError
from burnish.domain.mailboxes import Mailbox, Message
from burnish.runtime.loops.message_handler import Delivery, Ending, MessageHandler, RetryRules
from burnish.runtime.loops.worker_loop import LoopState, WorkerLoop
from burnish.runtime.mailboxes.rules import MAX_DELIVERIES, check_count
from burnish.support.retry import RetryPolicy

RequestT = TypeVar("RequestT")
ReplyT = TypeVar("ReplyT")

_log = logging.getLogger(__name__)
BEAT_SECONDS = 0.5
_CLOSING_SECONDS = 3.0
# A receiver that is silent so much longer than it was to wait has hung.
_SILENCE_SECONDS = 60.0
_SUSPECT_FROM = 3
_AWAY = RetryPolicy(first_wait_seconds=0.2, longest_wait_seconds=15.0)


class MailboxLoop(WorkerLoop, Generic[RequestT, ReplyT]):
    """Serves the requests of a mailbox. A subclass says how in `handle`, and in `failed` what the
    sender of a request hears that cannot be served.

    A request that is refused with UsageError is answered so and is done; one that is no
    `request_type` is refused so. Any other failure sends it back, to be tried again later by anybody,
    and to the dead letters after `max_deliveries`; the sender is told at the last. A request that
    comes for the third time may be one that ends its worker: from then on it is worked on alone, and
    where its mailbox allows a delivery more than the loop, that one only tells the sender. While a
    mailbox is away the loop waits, ever longer, and goes on by itself. A loop belongs to one event
    loop, and shares no state of requests with others.
    """

    request_type: type[Any] = object

    def __init__(
        self,
        *,
        name: str,
        requests: Mailbox[RequestT, ReplyT] | None,
        concurrency: int = 1,
        max_deliveries: int = MAX_DELIVERIES,
        rules: RetryRules | None = None,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(name=name, requests=requests, clock=clock)
        self._concurrency = check_count(concurrency, "concurrency")
        self._max_deliveries = max_deliveries
        self._rules = rules or RetryRules()
        self._deadline: float | None = None
        self._failures = 0
        self._work: set[asyncio.Task[None]] = set()
        self._endings: Counter[str] = Counter()
        # Whether to take one message at a time: until one came that is no suspect.
        self._careful = True

    @abstractmethod
    async def handle(self, request: RequestT, delivery: Delivery) -> ReplyT | None:
        """The answer to a request."""

    def failed(self, request: RequestT, error: Exception) -> ReplyT | None:
        """What the sender hears when there is no answer; None is nothing."""
        del request, error
        return None

    @property
    def ready(self) -> bool:
        """Whether it takes requests: it runs, is not stopping, and its mailbox answers."""
        return super().ready and not self._failures

    def status(self) -> dict[str, Any]:
        """What people and probes want to know."""
        return {
            **super().status(),
            "in_work": len(self._work),
            **{ending.value: self._endings[ending.value] for ending in Ending},
        }

    async def run(
        self,
        *,
        max_iterations: int | None = None,
        visibility_timeout: float = 300,
        wait_time_seconds: float = 20,
    ) -> None:
        """Serve until `shutdown`, until the mailbox is closed, or for so many receptions."""
        requests = self._begin()
        iterations = 0
        try:
            while not self._stopping.is_set() and iterations != max_iterations:
                await self._until_there_is_room()
                received = await self._receive(requests, visibility_timeout, wait_time_seconds)
                await self._start_all(received, visibility_timeout)
                iterations += 1
            self._state = LoopState.DRAINING
            await self._drain()
        except UsageError as error:
            if error.code != "mailbox_closed":
                raise
            await self._drain()
        finally:
            self._state = LoopState.DRAINING
            await self._give_back_the_rest()
            self._state = LoopState.STOPPED
            self._stopped.set()

    async def shutdown(self, *, timeout: float = 30.0) -> bool:
        """Take nothing more and let what runs end, for so long; then give the rest back at once.

        False says that something was given back.
        """
        given_back = self._endings["given_back"]
        deadline = self._clock.monotonic() + timeout
        self._deadline = deadline if self._deadline is None else min(self._deadline, deadline)
        self._stopping.set()
        if self.running:
            await self._stopped.wait()
        return self._endings["given_back"] == given_back

    def _begin(self) -> Mailbox[RequestT, ReplyT]:
        if self.running:
            raise InvariantError(
                what=f"the loop {self.name} cannot be run twice at once",
                why="it is running",
                fix="raise its concurrency, or make another loop on the same mailbox",
            )
        if self.requests is None:
            raise UsageError(
                what=f"the loop {self.name} cannot be run",
                why="it has no mailbox of requests",
                fix="give it one with requests=",
                code="no_mailbox",
            )
        self._state = LoopState.RUNNING
        self._stopping.clear()
        self._stopped.clear()
        self._deadline, self._failures = None, 0
        self._beat()
        return self.requests

    async def _receive(
        self,
        requests: Mailbox[RequestT, ReplyT],
        visibility_timeout: float,
        wait_time_seconds: float,
    ) -> Sequence[Message[RequestT, ReplyT]]:
        """What came; nothing when the mailbox is away or the loop is to stop."""
        if self._stopping.is_set():
            return ()
        receiving = asyncio.ensure_future(
            requests.receive(
                max_messages=1 if self._careful else max(1, self._concurrency - len(self._work)),
                visibility_timeout=visibility_timeout,
                wait_time_seconds=wait_time_seconds,
            )
        )
        silent = self._clock.monotonic() + wait_time_seconds + _SILENCE_SECONDS
        try:
            while not (receiving.done() or self._stopping.is_set()):
                await self._pause({receiving})
                if self._clock.monotonic() > silent:
                    break
        except asyncio.CancelledError:
            await self._send_back(receiving)
            raise
        if self._stopping.is_set():
            await self._send_back(receiving)
            return ()
        try:
            if not receiving.done():
                await self._send_back(receiving)
                raise _silent(requests.name)
            messages = receiving.result()
        except UnavailableError as error:
            await self._wait_for_mailbox(error)
            return ()
        self._failures = 0
        return messages

    async def _send_back(self, receiving: asyncio.Future[Sequence[Message[Any, Any]]]) -> None:
        """Stop receiving; what came all the same goes back at once."""
        receiving.cancel()
        await asyncio.wait({receiving}, timeout=_CLOSING_SECONDS)
        if not receiving.done() or receiving.cancelled() or receiving.exception() is not None:
            return
        returning = [asyncio.ensure_future(one.nack()) for one in receiving.result()]
        if returning:
            self._endings["given_back"] += len(returning)
            await asyncio.wait(returning, timeout=_CLOSING_SECONDS)

    async def _wait_for_mailbox(self, error: UnavailableError) -> None:
        self._failures += 1
        if self._failures == 1:
            _log.warning("the loop %s waits for its mailbox: %s", self.name, error)
        wait = _AWAY.wait_seconds(self._failures, None, random.random())  # noqa: S311
        until = self._clock.monotonic() + wait
        while (left := until - self._clock.monotonic()) > 0 and not self._stopping.is_set():
            await self._pause((), left)

    async def _until_there_is_room(self) -> None:
        while len(self._work) >= self._concurrency and not self._stopping.is_set():
            await self._pause(self._work)

    async def _start_all(
        self, messages: Sequence[Message[RequestT, ReplyT]], visibility_timeout: float
    ) -> None:
        """Suspects alone, after the others have ended: one that ends its worker takes none along."""
        suspects = [one for one in messages if one.delivery_count >= _SUSPECT_FROM]
        for message in messages:
            if message not in suspects:
                self._start(message, visibility_timeout)
        if messages:
            self._careful = bool(suspects)
        for message in suspects:
            while self._work and not self._stopping.is_set():
                await self._pause(self._work)
            self._start(message, visibility_timeout)
        while suspects and self._work and not self._stopping.is_set():
            await self._pause(self._work)

    def _start(self, message: Message[RequestT, ReplyT], visibility_timeout: float) -> None:
        task = asyncio.create_task(self._serve(message, visibility_timeout))
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _serve(self, message: Message[RequestT, ReplyT], visibility_timeout: float) -> None:
        handler = MessageHandler(
            message,
            visibility_timeout=visibility_timeout,
            delivery=Delivery(
                count=message.delivery_count,
                last=message.delivery_count >= self._max_deliveries,
                stopping=self._stopping,
            ),
            rules=self._rules,
            clock=self._clock,
        )
        try:
            if not isinstance(message.body, self.request_type):
                ending = await handler.serve(self._refuse, self._wrong_type)
            elif message.delivery_count > self._max_deliveries:
                ending = await handler.give_up(self.failed)
            else:
                ending = await handler.serve(self.handle, self.failed)
        except asyncio.CancelledError:
            self._endings["given_back"] += 1
            raise
        except Exception:  # noqa: BLE001 - our own bug must not end the loop
            # The message comes back by itself.
            _log.exception("message %s could not be settled", message.id)
            ending = Ending.FAILED
        self._endings[ending.value] += 1

    async def _refuse(self, request: RequestT, delivery: Delivery) -> None:
        del delivery
        raise UsageError(
            what=f"the message cannot be served by the loop {self.name}",
            why=f"it is a {type(request).__name__}, and the mailbox takes {self.request_type.__name__}",
            fix="send it to the mailbox of its loop",
            code="wrong_type",
        )

    def _wrong_type(self, request: RequestT, error: Exception) -> Any:
        """All that can be said to anybody who waits for an answer."""
        from burnish.runtime.loops.main_loop import MainLoopResult  # noqa: PLC0415 - it is a loop's

        identity = getattr(request, "request_id", None)
        return None if identity is None else MainLoopResult(request_id=identity, error=str(error))

    async def _drain(self) -> None:
        """Until all work is done, or the time that a shutdown leaves is over."""
        while self._work:
            left = BEAT_SECONDS
            if self._deadline is not None:
                left = self._deadline - self._clock.monotonic()
                if left <= 0:
                    return
            await self._pause(self._work, left)

    async def _give_back_the_rest(self) -> None:
        rest = list(self._work)
        for task in rest:
            task.cancel()
        if rest:
            await asyncio.wait(rest, timeout=2 * _CLOSING_SECONDS)

    async def _pause(
        self, awaited: Collection[asyncio.Future[Any]], seconds: float = BEAT_SECONDS
    ) -> None:
        """Until something is done, the loop is to stop, or it is time for a heartbeat."""
        tick = asyncio.ensure_future(self._clock.sleep(min(seconds, BEAT_SECONDS)))
        waiting: set[asyncio.Future[Any]] = {tick, *awaited}
        stop = None
        if not self._stopping.is_set():
            stop = asyncio.ensure_future(self._stopping.wait())
            waiting.add(stop)
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            tick.cancel()
            if stop is not None:
                stop.cancel()
        self._beat()


def _silent(mailbox: str) -> UnavailableError:
    return UnavailableError(
        what=f"nothing can be received from the mailbox {mailbox}",
        why=f"it is silent for {_SILENCE_SECONDS:g} seconds longer than it was to wait",
        fix="it is tried again by itself; look after its server",
        code="mailbox_unavailable",
    )
