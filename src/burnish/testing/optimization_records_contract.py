"""What every store keeps to with the optimizations themselves."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from burnish.domain import (
    ConflictError,
    DatasetRepository,
    ExperimentRepository,
    Lease,
    OptimizationRepository,
    OptimizationStatus,
    UsageError,
)
from burnish.testing.lease_contract import LEASED_WRITES
from burnish.testing.optimization_samples import (
    begin,
    make_candidate,
    make_record,
    make_trial,
    planned,
)
from burnish.testing.repository_contract import AWKWARD_JSON, AWKWARD_TEXTS, make_experiment


class OptimizationRecordsContract:
    """Provide `optimizations`, and `experiments` and `datasets` on the same store."""

    async def test_every_field_of_an_optimization_comes_back(
        self, optimizations: OptimizationRepository, datasets: DatasetRepository
    ) -> None:
        dataset = await datasets.ensure_dataset("d", "f", [])
        given = make_record(
            AWKWARD_TEXTS[2],
            name=AWKWARD_TEXTS[6],
            status=OptimizationStatus.FAILED,
            objective_name=AWKWARD_TEXTS[7],
            agent_name=AWKWARD_TEXTS[4],
            suite_name=AWKWARD_TEXTS[8],
            optimizer_name=AWKWARD_TEXTS[5],
            dataset_id=dataset.id,
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
        self, optimizations: OptimizationRepository, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        nobodys = Lease(job_id="none\x00", owner="me", token=1)
        attempts: list[Callable[[], Awaitable[Any]]] = [
            lambda: optimizations.create_optimization(make_record(dataset_id="nowhere")),
            lambda: optimizations.get_optimization("none\x00"),
            lambda: optimizations.list_optimizations(before="none\x00"),
            lambda: optimizations.acquire_lease("none\x00", owner="me", seconds=1),
            lambda: optimizations.request_cancel("none\x00"),
            lambda: optimizations.cancel_requested("none\x00"),
            *(
                lambda write=write: write(optimizations, experiments, nobodys)
                for write in LEASED_WRITES.values()
            ),
        ]
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
