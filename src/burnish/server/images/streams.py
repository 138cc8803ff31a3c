"""Image runs as they change, to everybody who watches one: each state is read and encoded once.

What is sent is the run as it stands, never a difference, so a client that reads slowly misses
states in between and nothing else: no more than one waits for it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from types import TracebackType
from typing import Self

from burnish.domain import BurnishError, UnavailableError
from burnish.domain.images.protocols import ImageRepository
from burnish.domain.images.runs import ImageRun
from burnish.server.http.settings import StreamSettings
from burnish.server.http.sse import BYE, KEEP_ALIVE, RETRY
from burnish.server.images.schemas import ImageRunView

_log = logging.getLogger("burnish.images")


def encode_run(run: ImageRun) -> bytes:
    """The whole run as one event; its id is the revision."""
    text = ImageRunView.of(run).model_dump_json()
    return f"id: {run.revision}\nevent: run\ndata: {text}\n\n".encode()


class RunWatch:
    """One client's stream of one run."""

    def __init__(self, hub: ImageRunHub, run: ImageRun, seen: int | None) -> None:
        self.run_id = run.run_id
        self.seen = run.revision
        self.on_stuck: Callable[[], object] | None = None
        self._hub = hub
        self._waiting = b"" if seen == run.revision else encode_run(run)
        self._ended = run.status.ended
        self._closed = False
        self._ready = asyncio.Event()
        self._ready.set()
        self._sending = False
        self._idle_ticks = 0

    @property
    def subscription(self) -> RunWatch:
        """What a stream tells when it sends."""
        return self

    def put(self, revision: int, body: bytes, *, ended: bool) -> None:
        """A newer state, instead of the one that waited."""
        self.seen, self._waiting, self._ended = revision, body, ended
        self._ready.set()

    def end(self) -> None:
        """Nothing more will come from this server."""
        self._closed = True
        self._ready.set()

    def begin_send(self) -> None:
        """From here on it waits for its client."""
        self._sending = True

    def end_send(self) -> None:
        """Its client has taken what was sent."""
        self._sending = False
        self._idle_ticks = 0

    def tick(self, *, quiet_after: int, stuck_after: int) -> None:
        """Time has passed."""
        self._idle_ticks += 1
        if self._sending:
            if self._idle_ticks > stuck_after and self.on_stuck is not None:
                self.on_stuck()
        elif self._idle_ticks >= quiet_after:
            self._ready.set()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The run as it stands and as it changes, until it has ended."""
        while True:
            await self._ready.wait()
            self._ready.clear()
            self._idle_ticks = 0
            waiting, self._waiting, ended = self._waiting, b"", self._ended
            if waiting:
                yield waiting
            if ended:
                return
            if self._closed:
                yield BYE
                return
            if not waiting:
                yield KEEP_ALIVE

    def close(self) -> None:
        """Its client is gone."""
        self._hub.leave(self)


class ImageRunHub:
    """Looks every `look_seconds` at what is watched, and at once when it is notified."""

    def __init__(
        self, runs: ImageRepository, settings: StreamSettings, *, look_seconds: float = 1.0
    ) -> None:
        self._runs = runs
        self._most = settings.image_streams
        self._look = look_seconds
        self._quiet_after = max(round(settings.keep_alive_seconds / look_seconds), 1)
        self._stuck_after = max(round(settings.send_seconds / look_seconds), 1)
        self._watches: set[RunWatch] = set()
        self._wake = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False

    async def __aenter__(self) -> Self:
        self._tasks = [
            asyncio.create_task(self._follow(), name="image runs"),
            asyncio.create_task(self._tick(), name="image run clock"),
        ]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def watchers(self) -> int:
        """How many watch at the moment."""
        return len(self._watches)

    def notify(self, run_id: str | None = None) -> None:
        """A change of this run, or of any, was stored by this process."""
        if run_id is None or any(one.run_id == run_id for one in self._watches):
            self._wake.set()

    def close(self) -> None:
        """End every stream."""
        self._closed = True
        for one in self._watches:
            one.end()

    async def watch(self, run_id: str, seen: int | None) -> tuple[RunWatch, bytes]:
        """A stream of one run after a revision, and its first bytes. Unknown ids are refused."""
        run = await self._runs.run(run_id)
        if len(self._watches) >= self._most:
            raise UnavailableError(
                what="the run cannot be watched",
                why=f"{self._most} streams are open already, which is all that there may be",
                fix="ask for the run every second or so instead, or try again later",
                code="too_many_streams",
            )
        watch = RunWatch(self, run, seen)
        self._watches.add(watch)
        if self._closed:
            watch.end()
        # It may have changed between the look at it and now.
        self.notify()
        return watch, RETRY

    def leave(self, watch: RunWatch) -> None:
        """It is not watched any more."""
        self._watches.discard(watch)

    async def _follow(self) -> None:
        while True:
            try:
                await self._wait()
                await self._read()
            except Exception as error:  # noqa: BLE001 - a bug must not end every stream
                bug = not isinstance(error, BurnishError)
                _log.warning("image runs cannot be read: %s", error, exc_info=bug)
                await asyncio.sleep(self._look)

    async def _wait(self) -> None:
        try:
            # Nobody watches: nothing to look for until somebody does.
            async with asyncio.timeout(self._look if self._watches else None):
                await self._wake.wait()
        except TimeoutError:
            pass
        self._wake.clear()

    async def _read(self) -> None:
        watched: dict[str, list[RunWatch]] = {}
        for watch in self._watches:
            watched.setdefault(watch.run_id, []).append(watch)
        if not watched:
            return
        revisions = await self._runs.revisions(tuple(watched))
        for run_id, revision in revisions.items():
            behind = [one for one in watched[run_id] if one.seen < revision]
            if not behind:
                continue
            run = await self._runs.run(run_id)
            body = encode_run(run)
            for one in behind:
                one.put(run.revision, body, ended=run.status.ended)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(self._look)
            for one in tuple(self._watches):
                one.tick(quiet_after=self._quiet_after, stuck_after=self._stuck_after)
