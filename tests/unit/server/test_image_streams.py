"""Streams of image runs: each state once, only the newest to who is slow, an end with the run."""

import asyncio
from dataclasses import replace

import pytest

from burnish.domain import UnavailableError, UsageError
from burnish.domain.images.runs import ImageRun, ImageRunRequest, ImageRunStatus, ObjectivePreset
from burnish.server.http.settings import StreamSettings
from burnish.server.images.streams import ImageRunHub

RUN = ImageRun(
    run_id="r1",
    request=ImageRunRequest(
        project_id="p",
        base_prompt="a red fox",
        objective_preset=ObjectivePreset.ADHERENCE,
        image_model="sketch",
        judge_model="pixel-judge",
    ),
    revision=1,
)


class Runs:
    """As much of a repository as a stream reads."""

    def __init__(self, run=RUN):
        self.stored = {run.run_id: run}
        self.reads = 0
        self.broken = 0

    def change(self, **changes):
        run = self.stored["r1"]
        self.stored["r1"] = replace(run, revision=run.revision + 1, **changes)

    async def run(self, run_id):
        self.reads += 1
        if run_id not in self.stored:
            raise UsageError(what="no", why="no", fix="no", code="not_found")
        return self.stored[run_id]

    async def revisions(self, run_ids):
        if self.broken:
            self.broken -= 1
            raise RuntimeError("the database is away")
        return {one: self.stored[one].revision for one in run_ids if one in self.stored}


def hub_of(runs, **changes):
    # Nothing happens by the clock: what is to be seen is rung for.
    seconds = {"keep_alive_seconds": 9e6, "send_seconds": 9e6}
    return ImageRunHub(runs, StreamSettings(**{**seconds, **changes}), look_seconds=3e6)


async def next_of(chunks):
    async with asyncio.timeout(600):
        return (await anext(chunks)).decode()


async def test_a_watcher_gets_the_state_then_each_change_and_the_end():
    runs = Runs()
    async with hub_of(runs) as hub:
        watch, _ = await hub.watch("r1", None)
        chunks = watch.chunks()
        first = await next_of(chunks)
        runs.change(status=ImageRunStatus.PLANNING)
        hub.notify("r1")
        second = await next_of(chunks)
        runs.change(status=ImageRunStatus.COMPLETED)
        hub.notify("r1")
        last = await next_of(chunks)

        with pytest.raises(StopAsyncIteration):
            await next_of(chunks)

    assert first.startswith("id: 1\nevent: run\ndata: {")
    assert second.startswith("id: 2\n")
    assert '"status":"planning"' in second
    assert last.startswith("id: 3\n")
    assert '"progress_percent":100.0' in last


async def test_the_revision_that_was_seen_is_not_sent_again():
    runs = Runs()
    async with hub_of(runs) as hub:
        watch, _ = await hub.watch("r1", 1)
        chunks = watch.chunks()
        first = await next_of(chunks)
        runs.change()
        hub.notify("r1")

        assert first.startswith(":")
        assert (await next_of(chunks)).startswith("id: 2\n")


async def test_a_revision_of_another_database_is_answered_with_the_present_state():
    async with hub_of(Runs()) as hub:
        watch, _ = await hub.watch("r1", 77)

        assert (await next_of(watch.chunks())).startswith("id: 1\n")


async def test_a_run_that_has_ended_and_was_seen_ends_the_stream_at_once():
    runs = Runs(replace(RUN, status=ImageRunStatus.FAILED, revision=4))
    async with hub_of(runs) as hub:
        watch, _ = await hub.watch("r1", 4)

        assert [chunk async for chunk in watch.chunks()] == []


async def test_a_slow_watcher_gets_only_the_newest_state():
    runs = Runs()
    async with hub_of(runs) as hub:
        slow, _ = await hub.watch("r1", None)
        quick, _ = await hub.watch("r1", None)
        slow_chunks, quick_chunks = slow.chunks(), quick.chunks()
        await next_of(slow_chunks)
        await next_of(quick_chunks)
        for _ in range(5):
            runs.change()
            hub.notify("r1")
            await next_of(quick_chunks)

        assert (await next_of(slow_chunks)).startswith("id: 6\n")


async def test_a_state_is_read_once_for_all_who_watch():
    runs = Runs()
    async with hub_of(runs) as hub:
        watches = [(await hub.watch("r1", None))[0] for _ in range(10)]
        every = [watch.chunks() for watch in watches]
        for chunks in every:
            await next_of(chunks)
        before = runs.reads
        runs.change()
        hub.notify("r1")
        for chunks in every:
            await next_of(chunks)

    assert runs.reads == before + 1


async def test_there_are_no_more_streams_than_allowed():
    async with hub_of(Runs(), image_streams=2) as hub:
        first, _ = await hub.watch("r1", None)
        await hub.watch("r1", None)
        with pytest.raises(UnavailableError) as refused:
            await hub.watch("r1", None)
        first.close()
        await hub.watch("r1", None)

    assert refused.value.code == "too_many_streams"
    assert refused.value.retryable


async def test_an_unknown_run_is_refused():
    async with hub_of(Runs()) as hub:
        with pytest.raises(UsageError, match="no"):
            await hub.watch("other", None)
        assert hub.watchers == 0


async def test_a_closing_server_ends_the_streams():
    async with hub_of(Runs()) as hub:
        watch, _ = await hub.watch("r1", 1)
        chunks = watch.chunks()
        await next_of(chunks)
        hub.close()

        assert "closing" in await next_of(chunks)
        with pytest.raises(StopAsyncIteration):
            await next_of(chunks)


async def test_a_quiet_stream_is_kept_alive_and_a_stuck_one_is_told():
    stuck = []
    async with hub_of(Runs()) as hub:
        watch, _ = await hub.watch("r1", 1)
        watch.subscription.on_stuck = lambda: stuck.append(True)
        chunks = watch.chunks()
        await next_of(chunks)
        watch.subscription.tick(quiet_after=1, stuck_after=2)
        kept = await next_of(chunks)
        watch.subscription.begin_send()
        for _ in range(3):
            watch.subscription.tick(quiet_after=1, stuck_after=2)

    assert kept == ": keep-alive\n\n"
    assert stuck == [True]


async def test_a_database_that_is_away_ends_no_stream():
    runs = Runs()
    hub = ImageRunHub(runs, StreamSettings(), look_seconds=0.005)
    async with hub:
        watch, _ = await hub.watch("r1", 1)
        chunks = watch.chunks()
        await next_of(chunks)
        runs.broken = 1
        runs.change()
        hub.notify("r1")

        assert (await next_of(chunks)).startswith("id: 2\n")
