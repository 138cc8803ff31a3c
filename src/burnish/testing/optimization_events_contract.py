"""What every store keeps to with the events of an optimization."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio
from dataclasses import replace

from burnish.domain import (
    Event,
    EventType,
    OptimizationRepository,
    OptimizationStatus,
)
from burnish.testing.optimization_samples import (
    begin,
    make_event,
    make_trial,
)
from burnish.testing.repository_contract import AWKWARD_JSON, AWKWARD_TEXTS


class OptimizationEventsContract:
    """Provide `optimizations`, and `experiments` and `datasets` on the same store."""

    async def test_every_field_of_an_event_comes_back(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations)
        given = [
            Event(type=kind, key=f"{kind} {AWKWARD_TEXTS[2]}", payload=AWKWARD_JSON)
            for kind in EventType
        ]
        dated = Event(type=EventType.RUN_FINISHED, key="", created_at="2026-01-31T12:00:00+01:00")

        await optimizations.append_events(lease, [*given, dated])
        await optimizations.append_events(lease, [])

        *stored, last = await optimizations.list_events("o1")
        assert [replace(one, sequence=0, created_at="") for one in stored] == given
        assert all(one.created_at.endswith("Z") for one in stored)
        assert last == replace(dated, sequence=6, created_at="2026-01-31T11:00:00.000000Z")

    async def test_an_event_is_kept_once_by_its_key_with_the_write_it_goes_with(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations, candidates=1)
        first = make_event("k1", n=1)

        await optimizations.append_events(lease, [first, make_event("k1", n=2), make_event("k2")])
        await optimizations.save_trial(lease, make_trial(), events=[first])
        await optimizations.save_checkpoint(lease, {}, events=[first, make_event("k3")])
        await optimizations.save_status(
            lease, OptimizationStatus.RUNNING, events=[make_event("k3"), first]
        )
        await optimizations.save_step(
            lease, candidates=[], rejections=[], checkpoint={}, events=[make_event("k4"), first]
        )

        stored = await optimizations.list_events("o1")
        assert [(one.sequence, one.key) for one in stored] == [
            (1, "k1"),
            (2, "k2"),
            (3, "k3"),
            (4, "k4"),
        ]
        assert stored[0].payload == {"n": 1}

    async def test_events_are_read_from_where_a_watcher_stopped(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations)
        await optimizations.append_events(lease, [make_event(f"k{n}") for n in range(10)])

        page = await optimizations.list_events("o1", after=3, limit=4)

        assert [one.sequence for one in page] == [4, 5, 6, 7]
        assert await optimizations.list_events("o1", after=10) == []
        assert await optimizations.list_events("o1", limit=0) == []

    async def test_events_written_at_once_are_numbered_without_gaps(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations, candidates=5)
        other = await begin(optimizations, identity="o2")

        async def write(number: int) -> None:
            mine = [make_event(f"{number} {n}") for n in range(3)]
            told = [make_event("everyone's"), *mine, make_event(f"pair {number // 2}")]
            await optimizations.save_trial(lease, make_trial(number % 5), events=told)
            await optimizations.append_events(other, mine)

        await asyncio.gather(*map(write, range(20)))

        stored = await optimizations.list_events("o1")
        assert [one.sequence for one in stored] == list(range(1, 1 + 60 + 10 + 1))
        assert len({one.key for one in stored}) == len(stored)
        assert [one.sequence for one in await optimizations.list_events("o2")] == [*range(1, 61)]
        assert (await optimizations.get_optimization("o1")).trials == 4
