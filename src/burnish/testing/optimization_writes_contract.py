"""Contract for writes to optimizations: leases, and trials that only a holder saves."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from burnish.domain import (
    Configuration,
    ConflictError,
    ExperimentRepository,
    ExperimentStatus,
    InvariantError,
    Lease,
    OptimizationRepository,
    OptimizationStatus,
    UsageError,
)
from burnish.testing.samples.experiments import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
    make_experiment,
    make_result,
)
from burnish.testing.samples.optimizations import (
    begin,
    make_candidate,
    make_event,
    make_mini_batch,
    make_record,
    make_rejection,
    make_trial,
    planned,
)

_Write = Callable[[OptimizationRepository, Any, Lease], Awaitable[None]]
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

OF_EXPERIMENTS = ("create_experiment", "update_experiment", "save_results")


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
        experiments: ExperimentRepository | None,
        name: str,
    ) -> None:
        lease = await begin(optimizations, candidates=1)
        if experiments is not None:
            await experiments.create_experiment(make_experiment(optimization_id="o1"), lease=lease)
        elif name in OF_EXPERIMENTS:
            pytest.skip("experiments are in another store")
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
        self, optimizations: OptimizationRepository, experiments: ExperimentRepository | None
    ) -> None:
        lease = await begin(optimizations, candidates=1)
        if experiments is not None:
            await experiments.create_experiment(make_experiment())

        await optimizations.release_lease(lease)
        await optimizations.release_lease(lease)
        await optimizations.save_trial(lease, make_trial())
        if experiments is not None:
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
    optimizations: OptimizationRepository, experiments: ExperimentRepository | None
) -> tuple[Any, ...]:
    stored: tuple[Any, ...] = ()
    if experiments is not None:
        stored = await experiments.list_experiments(), await experiments.get_results("e1")
    return (
        await optimizations.get_optimization("o1"),
        await optimizations.list_candidates("o1"),
        await optimizations.list_trials("o1", mini_batches=True),
        await optimizations.list_rejections("o1"),
        await optimizations.list_events("o1"),
        *stored,
    )


class OptimizationTrialsContract:
    """Provide `optimizations`, and `experiments` and `datasets` on the same store."""

    async def test_every_field_of_a_candidate_comes_back_in_order_of_number(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations)
        rich = make_candidate(
            2,
            id=AWKWARD_TEXTS[2],
            step_index=5,
            configuration=Configuration.of(
                {
                    "sections": {"system": "漢字 \x00 {{ticket}}", "user.extra": "2"},
                    "parameters": {"temperature": 0.0, "seed": 2**60, "stop": None},
                    "examples": [{"ticket": "\x00", "label": None}],
                }
            ),
            parent_candidate_ids=(AWKWARD_TEXTS[8], "o1-0"),
            rationale=AWKWARD_TEXTS[6],
            mask_id=AWKWARD_TEXTS[4],
            metadata={"kind": AWKWARD_TEXTS[6], "nested": [AWKWARD_JSON, None, 2**60]},
        )
        given = [make_candidate(0), make_candidate(1, rationale=""), rich]

        await optimizations.save_step(
            lease, candidates=planned(*reversed(given)), rejections=[], checkpoint=AWKWARD_JSON
        )

        stored = await optimizations.list_candidates("o1")
        assert stored == given
        assert [one.configuration.hash for one in stored] == [
            one.configuration.hash for one in given
        ]
        assert (await optimizations.get_optimization("o1")).checkpoint == AWKWARD_JSON

    async def test_a_candidate_that_is_there_stays_as_it_is(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations, candidates=2)
        changed = make_candidate(1, rationale="another one", metadata={"another": 1})

        await optimizations.save_step(
            lease, candidates=planned(changed, make_candidate(2)), rejections=[], checkpoint={}
        )

        stored = await optimizations.list_candidates("o1")
        assert stored == [make_candidate(number) for number in range(3)]

    async def test_optimizations_do_not_share_candidates(
        self, optimizations: OptimizationRepository
    ) -> None:
        for identity in ("o1", "o2"):
            lease = await begin(optimizations, identity=identity)
            mine = make_candidate(0, identity, id="same id")
            await optimizations.save_step(
                lease, candidates=planned(mine), rejections=[make_rejection()], checkpoint={}
            )
            await optimizations.save_trial(lease, make_trial(0, identity, candidate_id="same id"))

            assert await optimizations.list_candidates(identity) == [mine]
            assert len(await optimizations.list_trials(identity)) == 1
            assert len(await optimizations.list_rejections(identity)) == 1

    async def test_a_trial_is_replaced_by_candidate_and_a_mini_batch_by_experiment(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations, candidates=3)
        nothing = replace(make_trial().summary, total_cost=None, avg_latency_ms=None, pass_rate=0.0)
        running: dict[str, Any] = {
            "status": ExperimentStatus.RUNNING,
            "objective_score": None,
            "summary": nothing,
        }
        failed = make_trial(
            1,
            mask_id="m\x00",
            experiment_id="e\x00",
            status=ExperimentStatus.FAILED,
            error=AWKWARD_TEXTS[2],
            summary=replace(nothing, avg_ttft_ms=1 / 3, avg_tokens=0.1 + 0.2, avg_cost_usd=1e-7),
        )
        small = [make_mini_batch(1, "b1", objective_score=1.0), make_mini_batch(1, "b2")]
        done = make_mini_batch(2, "b0", status=ExperimentStatus.PRUNED)

        for number in (2, 1, 0):
            await optimizations.save_trial(lease, make_trial(number, **running))
        await optimizations.save_trial(lease, make_mini_batch(2, "b0", **running))
        for trial in (failed, make_trial(0), *small, done):
            await optimizations.save_trial(lease, trial)

        trials = await optimizations.list_trials("o1")
        everything = await optimizations.list_trials("o1", mini_batches=True)
        assert trials == [make_trial(0), failed, make_trial(2, **running)]
        assert everything == [make_trial(0), failed, *small, make_trial(2, **running), done]
        assert (await optimizations.get_optimization("o1")).trials == 2

    async def test_a_trial_of_an_unknown_candidate_is_refused(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations, candidates=1)

        with pytest.raises(InvariantError, match="candidate"):
            await optimizations.save_trial(lease, make_trial(9), events=[make_event("told")])

        assert await optimizations.list_trials("o1") == []
        assert await optimizations.list_events("o1") == []

    async def test_rejections_come_back_in_the_order_they_were_made(
        self, optimizations: OptimizationRepository
    ) -> None:
        lease = await begin(optimizations)
        odd = make_rejection(
            3,
            reason_code=AWKWARD_TEXTS[7],
            message=AWKWARD_TEXTS[2],
            configuration_hash=None,
            created_at="2020-01-31T12:00:00.000001Z",
            proposal={"configuration": AWKWARD_JSON, "duplicate_of": AWKWARD_TEXTS[2]},
        )

        for batch in ([make_rejection(5), odd], [], [make_rejection(0), make_rejection(0)]):
            await optimizations.save_step(lease, candidates=[], rejections=batch, checkpoint={})

        stored = await optimizations.list_rejections("o1")
        assert [one.proposed_index for one in stored] == [5, 3, 0, 0]
        assert stored[1] == odd
        assert stored[0] == make_rejection(5, created_at=stored[0].created_at)
        assert stored[0].created_at.endswith("Z")

    @pytest.mark.parametrize("part", ["candidates", "rejections", "checkpoint", "events"])
    async def test_a_step_is_kept_whole_or_not_at_all(
        self, optimizations: OptimizationRepository, part: str
    ) -> None:
        lease = await begin(optimizations, candidates=1)
        before = await optimizations.get_optimization("o1")
        step: dict[str, Any] = {
            "candidates": planned(make_candidate(1), make_candidate(2)),
            "rejections": [make_rejection()],
            "checkpoint": {"step": 1},
            "events": [make_event("good")],
        }
        broken: dict[str, Any] = {
            "candidates": planned(make_candidate(1), make_candidate(0, id="another 0")),
            "rejections": [make_rejection(), make_rejection(message=None)],
            "checkpoint": {"step": math.nan},
            "events": [make_event("good"), make_event("bad", n=object())],
        }

        with pytest.raises((UsageError, InvariantError)):
            await optimizations.save_step(lease, **{**step, part: broken[part]})

        assert await optimizations.get_optimization("o1") == before
        assert await optimizations.list_candidates("o1") == [make_candidate(0)]
        assert await optimizations.list_rejections("o1") == []
        assert await optimizations.list_events("o1") == []
