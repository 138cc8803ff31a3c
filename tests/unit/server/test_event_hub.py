"""One reader for all watchers: order, catching up, slow ones, and one that is away."""

import asyncio

import pytest

from burnish.domain import Event, EventType, UnavailableError, UsageError
from burnish.jobs.event_hub import EventHub
from burnish.server.http.sse import Watching, encode_event


class Feed:
    """Events in memory; counts how often it is read."""

    def __init__(self, *ids):
        self.events = {one: [] for one in ids}
        self.reads = 0
        self.broken = False

    def add(self, optimization_id, count=1):
        own = self.events[optimization_id]
        for _ in range(count):
            number = len(own) + 1
            own.append(
                Event(
                    type=EventType.PROGRESS_CHANGED,
                    key=str(number),
                    payload={"n": number},
                    sequence=number,
                    created_at=f"2026-01-01T00:00:{number:02d}Z",
                )
            )

    async def positions(self, optimization_ids):
        return {one: len(self.events[one]) for one in optimization_ids if one in self.events}

    async def after(self, positions, *, limit):
        self.reads += 1
        if self.broken:
            raise UnavailableError(what="no", why="away", fix="wait")
        found = {one: self.events[one][last:][:limit] for one, last in positions.items()}
        return {one: events for one, events in found.items() if events}


class Listener:
    def __init__(self):
        self.queue = asyncio.Queue()
        self.closed = False

    async def notifications(self):
        while True:
            yield await self.queue.get()

    async def close(self):
        self.closed = True


def hub_of(feed, **options):
    options = {"look_seconds": 30.0, **options}
    return EventHub(feed, encode_event, **options)


async def opened(hub, *ids, starts=None, **options):
    watching = Watching(hub, ids, starts or [0] * len(ids), **options)
    first = await watching.open()
    return watching, watching.chunks(), first


async def until(done):
    async with asyncio.timeout(600):
        while not done():
            await asyncio.sleep(0.001)


async def lines(chunks, word, count):
    """So many lines with the word, within a deadline."""
    found = []
    async with asyncio.timeout(600):
        while len(found) < count:
            chunk = (await anext(chunks)).decode()
            found += [line for line in chunk.splitlines() if word in line]
    return found


async def test_history_then_news_in_order_and_each_once():
    feed = Feed("a")
    feed.add("a", 3)
    async with hub_of(feed) as hub:
        _, chunks, first = await opened(hub, "a")
        feed.add("a", 2)
        hub.notify("a")
        ids = await lines(chunks, "id: ", 5)
        feed.add("a")
        hub.notify("a")
        ids += await lines(chunks, "id: ", 1)

    assert first == b"retry: 2000\n\n"
    assert ids == [f"id: {n}" for n in range(1, 7)]


async def test_many_watchers_cost_one_read():
    feed = Feed("a")
    async with hub_of(feed) as hub:
        watching = [await opened(hub, "a") for _ in range(20)]
        takers = [asyncio.create_task(lines(chunks, "id: ", 1)) for _, chunks, _ in watching]
        await until(lambda: feed.reads == 21)  # The hub once, and each for its own history.
        before = feed.reads
        feed.add("a")
        hub.notify("a")
        got = await asyncio.gather(*takers)

    assert got == [["id: 1"]] * 20
    assert feed.reads - before <= 2


async def test_a_stream_of_many_numbers_each_in_the_order_of_the_request():
    feed = Feed("a", "b")
    feed.add("a", 2)
    async with hub_of(feed) as hub:
        _, chunks, _ = await opened(hub, "b", "a", starts=[0, 1])
        first = await lines(chunks, "id: ", 1)
        feed.add("b")
        hub.notify("b")
        second = await lines(chunks, "id: ", 1)

    assert (first, second) == (["id: 0.2"], ["id: 1.2"])


async def test_a_slow_client_is_cut_off_with_a_hint_and_slows_nobody():
    feed = Feed("a")
    async with hub_of(feed, room=10) as hub:
        slow, slow_chunks, _ = await opened(hub, "a")
        _, quick, _ = await opened(hub, "a")
        for chunks in (slow_chunks, quick):
            feed.add("a")
            hub.notify("a")
            await lines(chunks, "id: ", 1)
        for _ in range(8):
            feed.add("a", 5)
            hub.notify("a")
            await lines(quick, "id: ", 5)

        told = b"".join([chunk async for chunk in slow_chunks]).decode()

    assert "event: reload" in told
    assert "too_slow" in told
    assert "load the snapshot" in told
    assert slow.subscription.overrun


async def test_what_overran_while_history_was_sent_is_read_again():
    feed = Feed("a")
    feed.add("a", 600)
    async with hub_of(feed, room=3) as hub:
        watching, chunks, _ = await opened(hub, "a")
        got = await lines(chunks, "id: ", 500)
        feed.add("a", 20)
        hub.notify("a")
        await until(lambda: watching.subscription.overrun)
        got += await lines(chunks, "id: ", 120)

    assert got == [f"id: {n}" for n in range(1, 621)]


async def test_what_overruns_during_the_last_read_of_the_history_is_not_lost():
    feed = Feed("a")
    async with hub_of(feed, room=3) as hub:
        watching, chunks, _ = await opened(hub, "a")
        read = feed.after

        async def slow(positions, *, limit):
            found = await read(positions, limit=limit)
            feed.after = read
            feed.add("a", 5)  # Here, after the database has answered, and before anybody hears it.
            watching.subscription.put(await hub.after({"a": 0}))
            return found

        feed.after = slow
        got = await lines(chunks, "id: ", 5)

    assert got == [f"id: {n}" for n in range(1, 6)]


async def test_an_event_that_cannot_be_written_ends_nobody_elses_stream(monkeypatch):
    monkeypatch.setattr("burnish.jobs.event_hub._RETRY_SECONDS", 0.01)
    feed, tries = Feed("a"), []

    def encode(optimization_id, event):
        tries.append(event.sequence)
        if len(tries) == 1:
            raise TypeError("not JSON")
        return encode_event(optimization_id, event)

    async with EventHub(feed, encode, look_seconds=30.0) as hub:
        subscription, _ = await hub.subscribe(["a"])
        feed.add("a")
        hub.notify("a")
        async with asyncio.timeout(600):
            told = await subscription.take()

    assert [one.sequence for one in told] == [1]
    assert tries == [1, 1]


async def test_a_gap_is_filled_from_the_database():
    feed = Feed("a")
    async with hub_of(feed) as hub:
        watching, chunks, _ = await opened(hub, "a")
        feed.add("a", 4)
        told = await hub.after({"a": 2})
        watching.subscription.put(told)
        got = await lines(chunks, "id: ", 4)

    assert got == ["id: 1", "id: 2", "id: 3", "id: 4"]


async def test_a_listener_hears_of_other_processes():
    feed, listener = Feed("a"), Listener()
    async with hub_of(feed, listener=listener, slow_seconds=30.0) as hub:
        _, chunks, _ = await opened(hub, "a")
        feed.add("a")
        listener.queue.put_nowait("a")
        assert await lines(chunks, "id: ", 1) == ["id: 1"]
        feed.add("a")
        listener.queue.put_nowait(None)
        assert await lines(chunks, "id: ", 1) == ["id: 2"]

    assert listener.closed


async def test_a_lost_ring_costs_only_time():
    feed = Feed("a")
    async with hub_of(feed, listener=Listener(), slow_seconds=0.02) as hub:
        _, chunks, _ = await opened(hub, "a")
        feed.add("a")
        assert await lines(chunks, "id: ", 1) == ["id: 1"]


async def test_a_database_that_is_away_loses_nothing(monkeypatch):
    monkeypatch.setattr("burnish.jobs.event_hub._RETRY_SECONDS", 0.01)
    feed = Feed("a")
    async with hub_of(feed) as hub:
        _, chunks, _ = await opened(hub, "a")
        taking = asyncio.create_task(lines(chunks, "id: ", 2))
        await until(lambda: feed.reads == 2)  # The hub once, and the watcher for its history.
        feed.broken = True
        feed.add("a", 2)
        hub.notify("a")
        await until(lambda: feed.reads >= 4)
        feed.broken = False

        assert await taking == ["id: 1", "id: 2"]


async def test_quiet_streams_are_kept_alive_and_end_when_the_hub_closes():
    feed = Feed("a")
    async with hub_of(feed, quiet_seconds=0.02) as hub:
        _, chunks, _ = await opened(hub, "a")
        assert await lines(chunks, "keep-alive", 2) == [": keep-alive"] * 2
        hub.close()
        rest = [chunk async for chunk in chunks]

    assert b"connect again" in rest[-1]


async def test_nobody_watching_reads_nothing():
    feed = Feed("a")
    async with hub_of(feed, look_seconds=0.001) as hub:
        watching, _, _ = await opened(hub, "a")
        await until(lambda: feed.reads)
        watching.close()
        reads = feed.reads
        hub.notify("a")
        await until(lambda: not hub._wake.is_set())  # It has looked for what there is to read.

    assert feed.reads == reads
    assert hub.watchers == 0


async def test_what_does_not_exist_cannot_be_watched():
    async with hub_of(Feed("a")) as hub:
        with pytest.raises(UsageError, match="no optimization 'b'"):
            await hub.subscribe(["a", "b"])

        assert hub.watchers == 0


async def test_a_client_that_takes_nothing_is_told_to_go():
    feed = Feed("a")
    async with hub_of(feed, stuck_seconds=0.02) as hub:
        subscription, _ = await hub.subscribe(["a"])
        stuck = asyncio.Event()
        subscription.on_stuck = stuck.set
        subscription.begin_send()

        async with asyncio.timeout(600):
            await stuck.wait()
