"""Who may write to an optimization, on every store. Subclass it and provide its fixtures."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from burnish.domain import (
    ConflictError,
    ExperimentRepository,
    ExperimentStatus,
    Lease,
    OptimizationRepository,
    OptimizationStatus,
)
from burnish.testing.optimization_samples import (
    begin,
    make_candidate,
    make_event,
    make_record,
    make_rejection,
    make_trial,
    planned,
)
from burnish.testing.repository_contract import AWKWARD_TEXTS, make_experiment, make_result

_Write = Callable[[OptimizationRepository, ExperimentRepository, Lease], Awaitable[None]]
_RUNNING = OptimizationStatus.RUNNING

# Every write that takes a lease; `begin(candidates=1)` and the experiment "e1" are there before.
LEASED_WRITES: dict[str, _Write] = {
    "renew_lease": lambda o, e, lease: o.renew_lease(lease, seconds=60),
    "save_status": lambda o, e, lease: o.save_status(lease, _RUNNING, events=[make_event("late")]),
    "save_step": lambda o, e, lease: o.save_step(
        lease,
        candidates=planned(make_candidate(1)),
        rejections=[make_rejection()],
        checkpoint={"late": True},
        events=[make_event("late")],
    ),
    "save_trial": lambda o, e, lease: o.save_trial(
        lease, make_trial(), events=[make_event("late")]
    ),
    "save_checkpoint": lambda o, e, lease: o.save_checkpoint(
        lease, {"late": True}, best_score=1.0, events=[make_event("late")]
    ),
    "append_events": lambda o, e, lease: o.append_events(lease, [make_event("late")]),
    "create_experiment": lambda o, e, lease: e.create_experiment(
        make_experiment("late"), lease=lease
    ),
    "update_experiment": lambda o, e, lease: e.update_experiment(
        "e1", status=ExperimentStatus.COMPLETED, lease=lease
    ),
    "save_results": lambda o, e, lease: e.save_results("e1", [make_result()], lease=lease),
}


class LeaseContract:
    """Provide `optimizations` and `experiments` on the same store."""

    async def test_while_a_lease_runs_nobody_else_gets_it(
        self, optimizations: OptimizationRepository
    ) -> None:
        await optimizations.create_optimization(make_record())
        first = await optimizations.acquire_lease("o1", owner="owner a", seconds=50)

        for dead in (None, "owner c", ""):
            with pytest.raises(ConflictError, match=r"owner a .* (50|49)\.\d seconds") as caught:
                await optimizations.acquire_lease("o1", owner="b", seconds=9, replacing=dead)
            assert caught.value.code == "owned"

        await optimizations.save_checkpoint(first, {"still": "mine"})
        assert (await optimizations.get_optimization("o1")).lease_owner == "owner a"

    async def test_each_new_holder_has_a_higher_token(
        self, optimizations: OptimizationRepository
    ) -> None:
        await optimizations.create_optimization(make_record())
        owner, rival = AWKWARD_TEXTS[2], AWKWARD_TEXTS[4]

        first = await optimizations.acquire_lease("o1", owner=owner, seconds=60)
        again = await optimizations.acquire_lease("o1", owner=owner, seconds=60)
        third = await optimizations.acquire_lease("o1", owner=rival, seconds=0, replacing=owner)
        expired = await optimizations.acquire_lease("o1", owner=owner, seconds=60)
        await optimizations.release_lease(expired)
        last = await optimizations.acquire_lease("o1", owner=rival, seconds=60)

        held = [first, again, third, expired, last]
        assert [one.token for one in held] == sorted({one.token for one in held})
        assert last == Lease(job_id="o1", owner=rival, token=last.token)
        for old in held[:-1]:
            with pytest.raises(ConflictError, match="owner"):
                await optimizations.save_checkpoint(old, {})

    @pytest.mark.parametrize("name", LEASED_WRITES)
    async def test_a_late_write_is_refused_after_the_lease_moved(
        self,
        optimizations: OptimizationRepository,
        experiments: ExperimentRepository,
        name: str,
    ) -> None:
        lease = await begin(optimizations, candidates=1)
        await experiments.create_experiment(make_experiment(optimization_id="o1"), lease=lease)
        before = await _everything(optimizations, experiments)
        late = replace(lease, token=lease.token - 1)
        thief = replace(lease, owner="owner b")
        write = LEASED_WRITES[name]

        for refused in (late, thief):
            with pytest.raises(ConflictError, match="owner") as caught:
                await write(optimizations, experiments, refused)
            assert caught.value.code == "lease_lost"
        assert await _everything(optimizations, experiments) == before
        await write(optimizations, experiments, lease)
        second = await optimizations.acquire_lease(
            "o1", owner="owner b", seconds=60, replacing="owner a"
        )
        before = await _everything(optimizations, experiments)
        with pytest.raises(ConflictError, match="owner b"):
            await write(optimizations, experiments, lease)
        await optimizations.release_lease(second)
        with pytest.raises(ConflictError, match="owner"):
            await write(optimizations, experiments, lease)

        after = await _everything(optimizations, experiments)
        assert after[1:] == before[1:]
        assert after[0] == replace(before[0], lease_owner=None)

    async def test_a_lease_that_was_given_up_serves_until_the_next_one(
        self, optimizations: OptimizationRepository, experiments: ExperimentRepository
    ) -> None:
        lease = await begin(optimizations, candidates=1)
        await experiments.create_experiment(make_experiment())

        await optimizations.release_lease(lease)
        await optimizations.release_lease(lease)
        await optimizations.save_trial(lease, make_trial())
        await experiments.save_results("e1", [make_result()], lease=lease)

        assert (await optimizations.get_optimization("o1")).lease_owner is None
        with pytest.raises(ConflictError, match="given up"):
            await optimizations.renew_lease(lease, seconds=60)
        second = await optimizations.acquire_lease("o1", owner="owner a", seconds=60)
        with pytest.raises(ConflictError, match="owner"):
            await optimizations.save_trial(lease, make_trial())
        # And whoever lost it cannot give up somebody else's.
        await optimizations.release_lease(lease)
        await optimizations.renew_lease(second, seconds=60)

    async def test_a_renewed_lease_runs_on(self, optimizations: OptimizationRepository) -> None:
        await optimizations.create_optimization(make_record())
        lease = await optimizations.acquire_lease("o1", owner="a", seconds=0)

        await optimizations.renew_lease(lease, seconds=50)

        with pytest.raises(ConflictError, match=r"(50|49)\.\d seconds"):
            await optimizations.acquire_lease("o1", owner="b", seconds=9)
        await optimizations.renew_lease(lease, seconds=0)
        await optimizations.acquire_lease("o1", owner="b", seconds=9)

    async def test_of_twenty_who_want_the_lease_at_once_one_gets_it(
        self, optimizations: OptimizationRepository
    ) -> None:
        await optimizations.create_optimization(make_record())
        for round_ in range(3):
            dead = (await optimizations.get_optimization("o1")).lease_owner
            outcomes = await asyncio.gather(
                *(
                    optimizations.acquire_lease(
                        "o1", owner=f"{round_} {number}", seconds=60, replacing=dead
                    )
                    for number in range(20)
                ),
                return_exceptions=True,
            )

            winners = [outcome for outcome in outcomes if isinstance(outcome, Lease)]
            assert len(winners) == 1
            assert [type(one) for one in outcomes].count(ConflictError) == 19
            owner = (await optimizations.get_optimization("o1")).lease_owner
            assert owner == winners[0].owner


async def _everything(
    optimizations: OptimizationRepository, experiments: ExperimentRepository
) -> tuple[Any, ...]:
    return (
        await optimizations.get_optimization("o1"),
        await optimizations.list_candidates("o1"),
        await optimizations.list_trials("o1", mini_batches=True),
        await optimizations.list_rejections("o1"),
        await optimizations.list_events("o1"),
        await experiments.list_experiments(),
        await experiments.get_results("e1"),
    )
