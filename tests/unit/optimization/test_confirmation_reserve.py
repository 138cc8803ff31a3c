"""What a search leaves for the confirmation of its winner, and what stands in its way meanwhile."""

from __future__ import annotations

import pytest
from tests.support.memory_experiments import MemoryExperimentRepository

from burnish.domain import (
    Budget,
    BudgetReached,
    ErrorKind,
    ItemError,
    ModelRequest,
    Purpose,
    Spending,
    Usage,
)
from burnish.models import as_model
from burnish.optimization.budget_gate import BudgetGate, OwnModels
from burnish.optimization.confirmation import ConfirmationReserve, drawn_part
from burnish.optimization.trial_index import TrialIndex
from burnish.testing.clocks import FakeClock
from burnish.testing.samples.experiments import make_experiment, make_result
from burnish.testing.samples.optimizations import make_candidate, make_trial

SHAPE = {"items": 10, "trial_items": 5, "repeats": 1, "concurrency": 4}


def cost(calls: int = 1, tokens: int = 100, dollars: float | None = 0.01) -> Spending:
    usage = Usage(calls=calls, input_tokens=tokens - 1, output_tokens=1, cost_usd=dollars)
    return Spending.on(Purpose.AGENT, usage)


class Run:
    """A budget, and trials that took what they are said to."""

    def __init__(self, **limits: float) -> None:
        budget = Budget(**limits)
        self.experiments = MemoryExperimentRepository()
        self.gate = BudgetGate(budget, FakeClock())
        self.trial_index = TrialIndex("o1")
        self.reserve = ConfirmationReserve(budget, self.gate, self.experiments, **SHAPE)

    async def kept(self) -> dict[str, float]:
        await self.reserve.keep(self.trial_index)
        return dict(self.gate.reserved)

    async def trial(self, number: int, *spent: Spending, **changes: object) -> None:
        trial = make_trial(number)
        await self.experiments.create_experiment(make_experiment(trial.experiment_id))
        results = [
            make_result(f"item {index}", **{"spending": one, "latency_ms": 200.0, **changes})
            for index, one in enumerate(spent)
        ]
        await self.experiments.save_results(trial.experiment_id, results)
        self.trial_index.add_candidates([make_candidate(number)])
        self.trial_index.observe([trial])


async def test_evaluations_are_kept_back_before_anything_ran() -> None:
    run = Run(max_evaluations=100, max_calls=100)

    assert await run.kept() == {"max_evaluations": 20}
    assert run.gate.evaluations_left() == 80


async def test_what_the_baseline_took_is_kept_back_for_two_candidates_on_all_test_items() -> None:
    run = Run(max_calls=1000, max_tokens=10_000, max_cost_usd=9.0, max_seconds=100.0)
    await run.trial(0, *[cost(calls=3)] * 5)

    assert await run.kept() == pytest.approx(
        # 20 runs of 0.2 seconds, four at a time; the winner may take a quarter more than the best.
        {"max_calls": 60, "max_tokens": 2250, "max_cost_usd": 0.225, "max_seconds": 1.0}
    )


async def test_the_best_so_far_counts_with_what_it_takes_itself() -> None:
    run = Run(max_tokens=10_000)
    await run.trial(0, *[cost(tokens=50)] * 5)
    await run.trial(1, *[cost(tokens=150)] * 5)

    assert await run.kept() == {"max_tokens": 500 + 1.25 * 1500}


async def test_uneven_runs_get_a_margin() -> None:
    run = Run(max_tokens=100_000)
    await run.trial(0, *[cost(tokens=tokens) for tokens in (50, 150)] * 5)

    # Twenty runs deviate by 50 each, so their sum by 50 times the root of 20; twice that.
    assert await run.kept() == {"max_tokens": pytest.approx(2250 + 2 * 50 * 20**0.5)}


async def test_no_more_than_a_share_is_kept_back_and_the_rest_of_the_items_left_out() -> None:
    run = Run(max_calls=40, max_tokens=7500)
    await run.trial(0, *[cost()] * 5)

    assert await run.kept() == {"max_calls": pytest.approx(9.0), "max_tokens": 2250}
    run.gate.spend(cost(calls=31, tokens=2))
    await run.trial(1, *[cost()] * 5)

    # Two candidates, one call an item: nine calls are four items.
    assert await run.reserve.fitting(run.trial_index) == 4


@pytest.mark.parametrize(
    ("limit", "kept", "items"), [(1000, 20, 10), (70, 20, 10), (40, 9, 4), (14, 1.2, 0), (9, 0, 0)]
)
async def test_every_search_leaves_evaluations_that_its_baseline_and_a_trial_do_not_need(
    limit: int, kept: float, items: int
) -> None:
    run = Run(max_evaluations=limit)
    for number in (0, 1):
        await run.trial(number, *[cost()] * 5)

    assert await run.kept() == {"max_evaluations": pytest.approx(kept)}
    run.gate.evaluations = limit - int(kept)
    assert await run.reserve.fitting(run.trial_index) == items


async def test_without_limits_all_items_fit() -> None:
    assert await Run().reserve.fitting(TrialIndex("o1")) == 10


def test_a_part_is_drawn_by_the_seed_and_keeps_its_order() -> None:
    items = [f"item {number}" for number in range(40)]

    part = drawn_part(items, 12, seed=3)

    assert len(part) == 12
    assert list(part) == sorted(part, key=items.index)
    assert part == drawn_part(items, 12, seed=3)
    assert part != drawn_part(items, 12, seed=4)
    assert drawn_part(items, 40, seed=3) == tuple(items)


async def test_results_from_a_cache_tell_what_they_cost_when_they_were_paid_for() -> None:
    run = Run(max_calls=100, max_cost_usd=1.0)
    await run.trial(0, *[Spending()] * 5, reused=cost(), cached=True)

    assert await run.kept() == pytest.approx({"max_calls": 20, "max_cost_usd": 0.225})


async def test_runs_that_never_reached_the_model_tell_nothing() -> None:
    run = Run(max_calls=100)
    down = ItemError(kind=ErrorKind.INFRASTRUCTURE, message="down")
    await run.trial(0, cost(), cost())
    await run.experiments.save_results(
        "experiment 0", [make_result("lost", spending=Spending(), error=down)]
    )

    assert await run.kept() == {"max_calls": 20}


async def test_unknown_prices_keep_no_dollars_back() -> None:
    run = Run(max_cost_usd=1.0)
    await run.trial(0, *[cost(dollars=None)] * 5)

    assert await run.kept() == {"max_cost_usd": 0.0}


async def test_another_sitting_keeps_back_the_same() -> None:
    run = Run(max_tokens=100_000, max_seconds=1000.0)
    await run.trial(0, *[cost(tokens=tokens) for tokens in (90, 100, 130)])
    first = await run.kept()

    again = ConfirmationReserve(
        Budget(max_tokens=100_000, max_seconds=1000.0),
        run.gate,
        run.experiments,
        **SHAPE,
    )
    run.gate.reserved = {}
    await again.keep(run.trial_index)

    assert run.gate.reserved == first


async def test_the_search_stops_short_of_what_is_kept_back_and_the_confirmation_does_not() -> None:
    run = Run(max_calls=100)
    await run.trial(0, cost())
    await run.kept()
    run.gate.spend(cost(calls=80))
    assert run.gate.reached() == "max_calls"
    with pytest.raises(BudgetReached, match="max_calls"):
        run.gate.admit()

    run.reserve.release()

    assert run.gate.reached() is None
    run.gate.admit()


async def test_runs_under_way_count_with_what_they_will_likely_take() -> None:
    run = Run(max_calls=100)
    await run.trial(0, *[cost(calls=2)] * 5)
    await run.kept()  # 24 of the 80 that two trials leave: 40 is more than its share.
    run.gate.spend(cost(calls=73))

    run.gate.admit()
    with run.gate.running():
        run.gate.admit()
        with run.gate.running(), pytest.raises(BudgetReached, match="max_calls"):
            run.gate.admit()
        # A step does not end for what may still turn out cheaper.
        assert run.gate.reached() is None
    run.gate.admit()


async def test_own_calls_under_way_count_too() -> None:
    run = Run(max_calls=2)
    refused = []

    def answer(prompt: str) -> str:
        try:
            with run.gate.asking(), run.gate.asking():
                raise AssertionError
        except BudgetReached as reached:
            refused.append(reached.limit)
        return prompt

    await OwnModels(as_model, run.gate)(answer).complete(ModelRequest.text("a"))

    assert refused == ["max_calls"]
    assert run.gate.own.total.calls == 1


def test_time_that_is_kept_back_is_not_the_searchs() -> None:
    gate = BudgetGate(Budget(max_seconds=100.0), FakeClock())
    gate.reserved = {"max_seconds": 20.0}

    assert gate.seconds_left() == 80.0
