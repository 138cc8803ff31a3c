"""Streams of image runs: the run as it stands, to everybody who watches one.

What is sent is the whole run, never a difference, so a client that reads slowly misses states in
between and nothing else: no more than one waits for it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass

from burnish.domain import UnavailableError
from burnish.domain.images.protocols import ImageRepository
from burnish.domain.images.runs import ImageRun
from burnish.jobs.event_hub import EventHub, Subscription
from burnish.server.http.settings import StreamSettings
from burnish.server.http.sse import BYE, KEEP_ALIVE, RETRY
from burnish.server.images.schemas import ImageRunView


@dataclass(frozen=True, slots=True)
class RunState:
    """A run at one of its revisions, as an event."""

    run: ImageRun

    @property
    def sequence(self) -> int:
        """Its revision."""
        return self.run.revision

    @property
    def created_at(self) -> str:
        """When it was stored."""
        return self.run.updated_at

    def encoded(self) -> bytes:
        """The whole run; the event's id is the revision."""
        text = ImageRunView.of(self.run).model_dump_json()
        return f"id: {self.run.revision}\nevent: run\ndata: {text}\n\n".encode()


class _States:
    """The newest state of each run that changed. A Feed."""

    def __init__(self, runs: ImageRepository) -> None:
        self._runs = runs

    async def positions(self, run_ids: Sequence[str]) -> dict[str, int]:
        return await self._runs.revisions(run_ids)

    async def after(self, positions: Mapping[str, int], *, limit: int) -> dict[str, list[RunState]]:
        revisions = await self._runs.revisions(tuple(positions))
        return {
            run_id: [RunState(await self._runs.run(run_id))]
            for run_id, revision in revisions.items()
            if revision > positions[run_id]
        }


class RunWatch:
    """One client's stream of one run."""

    def __init__(
        self,
        hub: ImageRunHub,
        subscription: Subscription[RunState],
        run: ImageRun,
        seen: int | None,
    ) -> None:
        self.subscription = subscription
        self._hub = hub
        self._first = RunState(run)
        self._skip_first = seen == run.revision

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The run as it stands and as it changes, until it has ended."""
        state = self._first
        if not self._skip_first:
            yield state.encoded()
        elif not state.run.status.ended:
            yield KEEP_ALIVE
        while not state.run.status.ended:
            waiting = [
                one for one in await self.subscription.take() if one.sequence > state.sequence
            ]
            if waiting:
                state = waiting[-1].event
                yield waiting[-1].body
            elif self.subscription.closed:
                yield BYE
                return
            else:
                yield KEEP_ALIVE

    def close(self) -> None:
        """Its client is gone."""
        self._hub.unsubscribe(self.subscription)


class ImageRunHub(EventHub[RunState]):
    """The hub of image runs; each watcher gets the newest state."""

    def __init__(
        self, runs: ImageRepository, settings: StreamSettings, *, look_seconds: float = 1.0
    ) -> None:
        super().__init__(
            _States(runs),
            lambda _, state: state.encoded(),
            look_seconds=look_seconds,
            quiet_seconds=settings.keep_alive_seconds,
            stuck_seconds=settings.send_seconds,
            newest_only=True,
        )
        self._runs = runs
        self._most = settings.image_streams

    async def watch(self, run_id: str, seen: int | None) -> tuple[RunWatch, bytes]:
        """A stream of one run after a revision, and its first bytes. Unknown ids are refused."""
        await self._runs.run(run_id)
        if self.watchers >= self._most:
            raise UnavailableError(
                what="the run cannot be watched",
                why=f"{self._most} streams are open already, which is all that there may be",
                fix="ask for the run every second or so instead, or try again later",
                code="too_many_streams",
            )
        subscription, _ = await self.subscribe((run_id,))
        # What changes from now on is heard of.
        run = await self._runs.run(run_id)
        return RunWatch(self, subscription, run, seen), RETRY
