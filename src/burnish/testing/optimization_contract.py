"""Contract for optimization repositories and overlay stores."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from burnish.domain import (
    ConflictError,
    DatasetRepository,
    Event,
    EventType,
    ExperimentRepository,
    Lease,
    OptimizationRepository,
    OptimizationStatus,
    Overlay,
    OverlayStore,
    UsageError,
)
from burnish.testing.optimization_writes_contract import (
    LEASED_WRITES,
    OF_EXPERIMENTS,
    LeaseContract,
    OptimizationTrialsContract,
)
from burnish.testing.samples.experiments import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
    make_experiment,
)
from burnish.testing.samples.optimizations import (
    begin,
    make_candidate,
    make_event,
    make_record,
    make_trial,
    planned,
)


class OptimizationRecordsContract:
    """Provide `optimizations`, and `experiments` and `datasets` on the same store."""

    async def test_every_field_of_an_optimization_comes_back(
        self, optimizations: OptimizationRepository, datasets: DatasetRepository | None
    ) -> None:
        dataset = None if datasets is None else await datasets.ensure_dataset("d", "f", [])
        given = make_record(
            AWKWARD_TEXTS[2],
            name=AWKWARD_TEXTS[6],
            status=OptimizationStatus.FAILED,
            objective_name=AWKWARD_TEXTS[7],
            agent_name=AWKWARD_TEXTS[4],
            suite_name=AWKWARD_TEXTS[8],
            optimizer_name=AWKWARD_TEXTS[5],
            dataset_id=None if dataset is None else dataset.id,
            seed=2**62,
            spec=AWKWARD_JSON,
            checkpoint={"state": AWKWARD_JSON},
            framework_error={"why": AWKWARD_TEXTS[3]},
            stop_reason=AWKWARD_TEXTS[2],
            result={"best": AWKWARD_JSON},
            cancel_requested=True,
            best_candidate_id=AWKWARD_TEXTS[2],
            best_score=0.1 + 0.2,
            baseline_score=-0.0,
            created_at="2026-01-31T12:00:00.000001Z",
            updated_at="2026-01-31T12:00:00.000002Z",
        )
        bare = make_record("bare", created_at="2026-01-31T13:00:00+01:00")

        await optimizations.create_optimization(given)
        await optimizations.create_optimization(bare)

        assert await optimizations.get_optimization(given.id) == given
        stored = await optimizations.get_optimization("bare")
        assert stored.created_at == "2026-01-31T12:00:00.000000Z"
        assert stored.updated_at.endswith("Z")
        assert stored == replace(bare, created_at=stored.created_at, updated_at=stored.updated_at)

    async def test_an_id_is_taken_once(self, optimizations: OptimizationRepository) -> None:
        wanted = [make_record(name=f"rival {number}", spec={"n": number}) for number in range(8)]

        outcomes = await asyncio.gather(
            *map(optimizations.create_optimization, wanted), return_exceptions=True
        )

        assert [type(outcome) for outcome in outcomes].count(ConflictError) == 7
        winner = wanted[outcomes.index(None)]
        stored = await optimizations.get_optimization("o1")
        assert (stored.name, stored.spec) == (winner.name, winner.spec)

    async def test_what_is_not_there_is_not_found(
        self, optimizations: OptimizationRepository, experiments: ExperimentRepository | None
    ) -> None:
        if experiments is not None:
            await experiments.create_experiment(make_experiment())
        nobodys = Lease(job_id="none\x00", owner="me", token=1)
        attempts: list[Callable[[], Awaitable[Any]]] = [
            lambda: optimizations.get_optimization("none\x00"),
            lambda: optimizations.list_optimizations(before="none\x00"),
            lambda: optimizations.acquire_lease("none\x00", owner="me", seconds=1),
            lambda: optimizations.request_cancel("none\x00"),
            lambda: optimizations.cancel_requested("none\x00"),
            *(
                lambda write=write: write(optimizations, experiments, nobodys)
                for name, write in LEASED_WRITES.items()
                if experiments is not None or name not in OF_EXPERIMENTS
            ),
        ]
        if experiments is not None:
            lost = make_record(dataset_id="nowhere")
            attempts.append(lambda: optimizations.create_optimization(lost))
        for attempt in attempts:
            with pytest.raises(UsageError) as caught:
                await attempt()
            assert caught.value.code == "not_found"
        await optimizations.release_lease(nobodys)
        assert await optimizations.list_candidates("none\x00") == []

    async def test_listing_is_newest_first_in_pages_and_leaves_long_parts_out(
        self, optimizations: OptimizationRepository
    ) -> None:
        for number in range(5):
            await optimizations.create_optimization(
                make_record(f"o{number}", spec={"n": 1}, checkpoint={"n": 2}, result={"n": 3})
            )
        lease = await optimizations.acquire_lease("o2", owner="me", seconds=9)
        made = planned(make_candidate(0, "o2"), make_candidate(1, "o2"))
        await optimizations.save_step(lease, candidates=made, rejections=[], checkpoint={})
        for number in (0, 1):
            await optimizations.save_trial(lease, make_trial(number, "o2"))

        first = await optimizations.list_optimizations(limit=3)
        rest = await optimizations.list_optimizations(limit=3, before=first[-1].id)

        assert [one.id for one in (*first, *rest)] == ["o4", "o3", "o2", "o1", "o0"]
        assert {(str(one.spec), one.checkpoint, one.result) for one in first} == {
            ("{}", None, None)
        }
        assert (first[2].trials, first[2].lease_owner, first[1].trials) == (1, "me", 0)
        assert await optimizations.list_optimizations(limit=0) == []

    async def test_a_status_comes_with_what_explains_it_and_without_what_explained_the_last(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations)
        error = {"message": AWKWARD_TEXTS[2]}

        await optimizations.save_status(
            lease,
            OptimizationStatus.FAILED,
            stop_reason="error",
            framework_error=error,
            result=AWKWARD_JSON,
        )
        failed = await optimizations.get_optimization("o1")
        await optimizations.save_status(lease, OptimizationStatus.RUNNING)
        running = await optimizations.get_optimization("o1")

        assert (failed.status, failed.stop_reason) == (OptimizationStatus.FAILED, "error")
        assert (failed.framework_error, failed.result) == (error, AWKWARD_JSON)
        assert running.status is OptimizationStatus.RUNNING
        assert (running.stop_reason, running.framework_error, running.result) == (None, None, None)
        assert running.updated_at > failed.updated_at

    async def test_a_checkpoint_comes_back_and_the_best_is_never_taken_back(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations)

        await optimizations.save_checkpoint(
            lease, AWKWARD_JSON, best_candidate_id="o1-0", best_score=0.5, baseline_score=0.0
        )
        first = await optimizations.get_optimization("o1")
        await optimizations.save_checkpoint(lease, {"step": 2}, best_score=0.75)
        second = await optimizations.get_optimization("o1")

        assert first.checkpoint == AWKWARD_JSON
        assert (first.best_candidate_id, first.best_score) == ("o1-0", 0.5)
        assert second.checkpoint == {"step": 2}
        assert (second.best_candidate_id, second.best_score) == ("o1-0", 0.75)
        assert second.baseline_score == 0.0

    async def test_anybody_may_ask_the_owner_to_stop(
        self, optimizations: OptimizationRepository
    ) -> None:
        await begin(optimizations)
        assert not await optimizations.cancel_requested("o1")

        await optimizations.request_cancel("o1")
        await optimizations.request_cancel("o1")

        assert await optimizations.cancel_requested("o1")
        assert (await optimizations.get_optimization("o1")).cancel_requested


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


class OptimizationRepositoryContract(
    OptimizationRecordsContract, OptimizationTrialsContract, OptimizationEventsContract
):
    """Provide `optimizations`, and `experiments` and `datasets` on the same store."""


class OwnRepositoryContract(OptimizationRepositoryContract, LeaseContract):
    """For what `burnish.optimize(repository=…)` is given: provide `optimizations`, and no more."""

    @pytest.fixture
    def experiments(self) -> None:
        """Of Burnish's database."""

    @pytest.fixture
    def datasets(self) -> None:
        """Of Burnish's database."""


class OverlayStoreContract:
    """Provide `overlays`."""

    @pytest.mark.parametrize(
        "overlay",
        [
            Overlay(sections={}),
            Overlay(sections={"system": "\x00 漢字 🙂"}, parameters={}, examples=()),
            Overlay(
                sections={"a": "", "b.c": "{{x}}"},
                parameters={"temperature": 0.0, "deep": [None, {"n": 2**60}]},
                examples=({"text": "\x00", "label": None}, {}),
            ),
        ],
        ids=["empty", "of nothing", "full"],
    )
    async def test_an_overlay_comes_back_as_it_was(
        self, overlays: OverlayStore, overlay: Overlay
    ) -> None:
        await overlays.put("n\x00", "k\x00", "t\x00", overlay)

        assert await overlays.get("n\x00", "k\x00", "t\x00") == overlay

    async def test_a_tag_is_replaced_whole_and_known_by_all_three_names(
        self, overlays: OverlayStore
    ) -> None:
        await overlays.put("n", "k", "t", Overlay(sections={"a": "1"}, parameters={"x": 1}))
        await overlays.put("n", "k", "t", Overlay(sections={"b": "2"}))

        assert await overlays.get("n", "k", "t") == Overlay(sections={"b": "2"})
        for names in (("m", "k", "t"), ("n", "j", "t"), ("n", "k", "s"), ("n", "kt", "")):
            assert await overlays.get(*names) is None

    async def test_a_deleted_tag_is_gone_and_deleting_it_again_is_fine(
        self, overlays: OverlayStore
    ) -> None:
        for tag in ("t", "other"):
            await overlays.put("n", "k", tag, Overlay(sections={}))

        await overlays.delete("n", "k", "t")
        await overlays.delete("n", "k", "t")

        assert await overlays.get("n", "k", "t") is None
        assert await overlays.list_tags("n", "k") == ["other"]

    async def test_tags_are_found_by_what_they_start_with(self, overlays: OverlayStore) -> None:
        tags = [
            *("opt-1-0", "opt-1-1", "opt-10-0", "opt_1-0", "OPT-1-0", "%", "_", "%%", "a%b", "a_b"),
            *("acb", "a\x00b", "a\U0010ffffb", "\U0010ffff!", "\ud7ffx", "\ue000", "é", "e\u0301"),
            *("\x00", "\x00\x01", "\x02", "\x02\x02", "half \ud800", "half \ud801", "a'b", "a\\b"),
        ]
        for tag in tags:
            await overlays.put("n", "k", tag, Overlay(sections={}))
        await overlays.put("n", "other", "opt-1-9", Overlay(sections={}))

        for prefix in {"", *tags, *(tag[:1] for tag in tags), "opt-1-", "a%", "a_", "x", "half "}:
            expected = sorted(tag for tag in tags if tag.startswith(prefix))
            assert await overlays.list_tags("n", "k", prefix=prefix) == expected, repr(prefix)
        assert await overlays.list_tags("n", "k", prefix="opt-1-") == ["opt-1-0", "opt-1-1"]

    async def test_writers_at_once_leave_one_whole_overlay(self, overlays: OverlayStore) -> None:
        written = [
            Overlay(sections={"s": str(n)}, parameters={"n": n}, examples=({"n": n},))
            for n in range(20)
        ]

        await asyncio.gather(*(overlays.put("n", "k", "t", one) for one in written))

        assert await overlays.get("n", "k", "t") in written
