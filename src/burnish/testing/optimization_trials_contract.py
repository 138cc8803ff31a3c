"""What every store keeps to with candidates, trials and rejections."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from burnish.domain import (
    Configuration,
    ExperimentStatus,
    InvariantError,
    OptimizationRepository,
    UsageError,
)
from burnish.testing.optimization_samples import (
    begin,
    make_candidate,
    make_event,
    make_mini_batch,
    make_rejection,
    make_trial,
    planned,
)
from burnish.testing.repository_contract import AWKWARD_JSON, AWKWARD_TEXTS


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
