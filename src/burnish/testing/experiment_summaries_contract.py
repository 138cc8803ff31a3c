"""What every repository keeps to when it sums up an experiment."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from burnish.domain import (
    ExperimentRepository,
    ExperimentSummary,
    Purpose,
    Spending,
    Usage,
)
from burnish.testing.experiment_samples import (
    failed_result,
    make_experiment,
    make_result,
    random_results,
    summary_of,
)


class ExperimentSummariesContract:
    """Provide `experiments`, and `datasets` on the same store."""

    @pytest.mark.parametrize("seed", range(3))
    async def test_a_summary_is_what_the_results_amount_to(
        self, experiments: ExperimentRepository, seed: int
    ) -> None:
        results = random_results(seed, count=200 + seed)
        for name in ("e1", "other"):
            await experiments.create_experiment(make_experiment(name))
        await experiments.save_results("other", random_results(99, count=10))
        await experiments.save_results("e1", results)

        summary = await experiments.summarise("e1")
        scores = await experiments.item_scores("e1")

        expected = summary_of(results)
        assert summary.avg_latency_ms == pytest.approx(expected.avg_latency_ms)
        assert summary.avg_ttft_ms == pytest.approx(expected.avg_ttft_ms)
        assert summary.avg_cost_usd == pytest.approx(expected.avg_cost_usd)
        assert summary == replace(
            expected,
            spending=summary.spending,
            avg_latency_ms=summary.avg_latency_ms,
            avg_ttft_ms=summary.avg_ttft_ms,
            avg_cost_usd=summary.avg_cost_usd,
        )
        assert summary.spending.by_purpose.keys() == expected.spending.by_purpose.keys()
        for purpose, usage in expected.spending.by_purpose.items():
            found = summary.spending.by_purpose[purpose]
            assert found == replace(usage, cost_usd=found.cost_usd)
            assert found.cost_usd == pytest.approx(usage.cost_usd)
        assert scores == {
            item_id: math.fsum(mine) / len(mine)
            for item_id in {result.item_id for result in results}
            for mine in [[r.score for r in results if r.item_id == item_id]]
        }

    async def test_a_summary_does_not_depend_on_the_order_of_writing(
        self, experiments: ExperimentRepository
    ) -> None:
        results = random_results(5, count=300)
        summaries = []
        for name in ("e1", "e2"):
            await experiments.create_experiment(make_experiment(name))
            for start in range(0, 300, 50):
                await experiments.save_results(name, results[start : start + 50])
            summaries.append(await experiments.summarise(name))
            results.reverse()

        first, second = summaries
        assert (first.score, first.spending) == (second.score, second.spending)
        assert first.avg_tokens == second.avg_tokens
        assert first.avg_cost_usd == second.avg_cost_usd

    async def test_an_answer_takes_as_much_when_it_is_reused(
        self, experiments: ExperimentRepository
    ) -> None:
        paid = Spending.on(Purpose.AGENT, Usage(calls=1, input_tokens=90, cost_usd=0.2))
        judged = Spending.on(Purpose.JUDGE, Usage(calls=1, input_tokens=5, cost_usd=0.1))
        none = Spending.on(Purpose.AGENT, Usage())
        broken = failed_result("i3", spending=paid)
        for name in ("paid", "reused", "untold"):
            await experiments.create_experiment(make_experiment(name))
        await experiments.save_results(
            "paid",
            [make_result("i1", spending=paid + judged), make_result("i2", spending=none), broken],
        )
        await experiments.save_results(
            "reused",
            [
                make_result("i1", reused=paid, spending=judged, cached=True),
                make_result("i2", reused=none, cached=True),
            ],
        )
        await experiments.save_results("untold", [make_result("i1", spending=judged)])

        first, second, third = [
            await experiments.summarise(name) for name in ("paid", "reused", "untold")
        ]

        assert (first.avg_tokens, first.avg_cost_usd) == (45, 0.1)
        assert (second.avg_tokens, second.avg_cost_usd) == (45, 0.1)
        assert second.spending == judged
        assert (third.avg_tokens, third.avg_cost_usd) == (None, None)

    async def test_the_cost_is_unknown_where_one_price_is(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())
        known = Spending.on(Purpose.AGENT, Usage(calls=1, input_tokens=9, cost_usd=0.2))
        unknown = Spending.on(Purpose.AGENT, Usage(calls=1, input_tokens=3, cost_usd=None))
        results = [make_result("i1", spending=known), make_result("i2", reused=unknown)]
        await experiments.save_results("e1", results)

        summary = await experiments.summarise("e1")

        assert (summary.avg_tokens, summary.avg_cost_usd) == (6, None)

    async def test_the_summary_of_nothing_has_no_score(
        self, experiments: ExperimentRepository
    ) -> None:
        await experiments.create_experiment(make_experiment())

        summary = await experiments.summarise("e1")

        assert summary == ExperimentSummary(
            runs=0,
            passed=0,
            failed=0,
            errors=0,
            infrastructure_errors=0,
            score=None,
            pass_rate=None,
        )
        assert await experiments.item_scores("e1") == {}
