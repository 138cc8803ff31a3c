"""Server-sent events on the wire, and the response that sends them.

FastAPI's own event responses encode each event anew for each client and hold no deadline for one that
does not read. Here an event is encoded once, and a client that stays behind is cut off.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from typing import Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from burnish.domain import Event, EventType
from burnish.jobs.event_hub import EncodedEvent, EventHub, Subscription

_log = logging.getLogger("burnish.events")
KEEP_ALIVE = b": keep-alive\n\n"
RETRY = b"retry: 2000\n\n"
BYE = b": the server is closing this stream; connect again\n\n"


def encode_event(optimization_id: str, event: Event) -> bytes:
    """An event without its `id:` line, which differs between streams."""
    data = {
        "optimization_id": optimization_id,
        "sequence": event.sequence,
        "type": event.type.value,
        "created_at": event.created_at,
        "payload": dict(event.payload),
    }
    text = json.dumps(data, separators=(",", ":"))
    return f"event: {event.type.value}\ndata: {text}\n\n".encode()


class Watching:
    """One client's stream: what it has seen, and what comes next."""

    def __init__(
        self,
        hub: EventHub[Event],
        optimization_ids: Sequence[str],
        starts: Sequence[int],
        *,
        unfinished: Iterable[str] | None = None,
    ) -> None:
        """With `unfinished`, the stream ends once all of these have."""
        self._hub = hub
        self._seen = dict(zip(optimization_ids, starts, strict=True))
        self._unfinished = None if unfinished is None else set(unfinished)
        self._subscription: Subscription[Event] | None = None

    @property
    def subscription(self) -> Subscription[Event]:
        """What it waits for, once it is open."""
        assert self._subscription is not None
        return self._subscription

    async def open(self) -> bytes:
        """Subscribe; the first bytes of the stream. Unknown ids are refused here."""
        self._subscription, positions = await self._hub.subscribe(tuple(self._seen))
        ahead = [one for one, seen in self._seen.items() if seen > positions[one]]
        if not ahead:
            return RETRY
        # Such a position is of another database, or of one that was restored.
        self._seen |= {one: positions[one] for one in ahead}
        return RETRY + self._hint("unknown_position", "the stream has no such event")

    def close(self) -> None:
        """Let go of the subscription."""
        if self._subscription is not None:
            self._hub.unsubscribe(self._subscription)

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """What happened before, then what happens."""
        subscription = self.subscription
        while True:
            # What overran before a read is in it; what overruns meanwhile is read once more.
            subscription.forgive()
            if encoded := await self._hub.after(self._seen):
                yield self._frames(encoded)
            elif not subscription.overrun:
                break
        while not self._finished:
            encoded = await subscription.take()
            if frames := self._frames(await self._without_gaps(encoded)):
                yield frames
            elif subscription.overrun:
                yield self._hint("too_slow", "more happened than this client reads")
                return
            elif subscription.closed:
                yield BYE
                return
            else:
                yield KEEP_ALIVE

    @property
    def _finished(self) -> bool:
        return self._unfinished is not None and not self._unfinished

    async def _without_gaps(
        self, encoded: Sequence[EncodedEvent[Event]]
    ) -> Sequence[EncodedEvent[Event]]:
        """What was dropped or came before is read from the database."""
        expected = dict(self._seen)
        for one in encoded:
            if one.sequence > expected[one.optimization_id] + 1:
                return await self._hub.after(self._seen)
            expected[one.optimization_id] = max(expected[one.optimization_id], one.sequence)
        return encoded

    def _frames(self, encoded: Sequence[EncodedEvent[Event]]) -> bytes:
        parts: list[bytes] = []
        for one in encoded:
            if one.sequence <= self._seen[one.optimization_id]:
                continue
            self._seen[one.optimization_id] = one.sequence
            self._note_end(one)
            parts.append(f"id: {self._place}\n".encode() + one.body)
        return b"".join(parts)

    def _note_end(self, encoded: EncodedEvent[Event]) -> None:
        if self._unfinished is None:
            return
        if encoded.event.type is EventType.RUN_FINISHED:
            self._unfinished.discard(encoded.optimization_id)
        elif encoded.event.payload.get("status") == "running":  # It was resumed.
            self._unfinished.add(encoded.optimization_id)

    @property
    def _place(self) -> str:
        """A number for each optimization in the order of the request, so that all can go on."""
        return ".".join(map(str, self._seen.values()))

    def _hint(self, code: str, why: str) -> bytes:
        data = json.dumps(
            {
                "code": code,
                "message": f"this stream has a gap: {why}",
                "fix": "load the snapshot again, and connect anew",
                "retryable": True,
            }
        )
        return f"id: {self._place}\nevent: reload\ndata: {data}\n\n".encode()


class Sending(Protocol):
    """Is told when a send begins and ends; calls `on_stuck` when one takes too long."""

    on_stuck: Callable[[], object] | None

    def begin_send(self) -> None:
        """From here on it waits for its client."""
        ...

    def end_send(self) -> None:
        """Its client has taken what was sent."""
        ...


class Source(Protocol):
    """What one client is to be sent."""

    @property
    def subscription(self) -> Sending:
        """What is told of sends."""
        ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """All that there is to send."""
        ...

    def close(self) -> None:
        """The client is gone."""
        ...


class EventStream(Response):
    """Sends a client's stream until it goes, falls behind, or the server closes."""

    media_type = "text/event-stream"

    def __init__(self, watching: Source, first: bytes) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({"Cache-Control": "no-cache, no-store", "X-Accel-Buffering": "no"})
        self._watching = watching
        self._first = first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One client."""
        sending = asyncio.create_task(self._send_all(send))
        leaving = asyncio.create_task(_disconnected(receive))
        self._watching.subscription.on_stuck = sending.cancel
        try:
            await asyncio.wait((sending, leaving), return_when=asyncio.FIRST_COMPLETED)
            if sending.cancelled():
                _log.info("a client that does not read is cut off")
            elif sending.done():
                sending.result()
        finally:
            self._watching.close()
            for task in (sending, leaving):
                task.cancel()
            await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send_all(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        await self._send(send, self._first)
        async with contextlib.aclosing(self._watching.chunks()) as chunks:
            async for chunk in chunks:
                await self._send(send, chunk)
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _send(self, send: Send, chunk: bytes) -> None:
        subscription = self._watching.subscription
        subscription.begin_send()
        await send({"type": "http.response.body", "body": chunk, "more_body": True})
        subscription.end_send()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
