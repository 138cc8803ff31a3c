"""What an optimization asks of all its experiments at once. Subclass it and provide `experiments`."""

from __future__ import annotations

from dataclasses import replace

import pytest

from burnish.domain import CacheScope, Configuration, ExperimentRepository, Spending, Usage
from burnish.testing.samples.experiments import (
    SCOPE,
    failed_result,
    make_experiment,
    make_result,
    random_results,
)


class RunResultsContract:
    """Provide `experiments`."""

    async def test_whether_anything_can_be_used_again_is_known_by_scope(
        self, experiments: ExperimentRepository
    ) -> None:
        odd = CacheScope(agent_fingerprint="a\x00", configuration_hash="漢")
        for name in ("e1", "e2"):
            await experiments.create_experiment(make_experiment(name))
        assert not await experiments.has_results(SCOPE)

        await experiments.save_results("e1", [make_result()])
        await experiments.save_results("e1", [failed_result()], cache=SCOPE)
        assert not await experiments.has_results(SCOPE)
        await experiments.save_results("e1", [failed_result(), make_result("i2")], cache=SCOPE)
        # Also of an experiment that went on with changed code.
        await experiments.save_results("e1", [make_result("i3")], cache=odd)
        await experiments.save_results("e2", [make_result()], cache=SCOPE)

        assert await experiments.has_results(SCOPE)
        assert await experiments.has_results(odd)
        for other in (
            replace(SCOPE, agent_fingerprint="other"),
            replace(SCOPE, configuration_hash="other"),
            CacheScope(agent_fingerprint="agentconf", configuration_hash="iguration"),
        ):
            assert not await experiments.has_results(other)

    async def test_what_was_evaluated_is_known_over_all_experiments(
        self, experiments: ExperimentRepository
    ) -> None:
        other = Configuration.of({"sections": {"system": "another"}})
        first = make_experiment("e1", optimization_id="o\x00")
        second = make_experiment("e2", optimization_id="o\x00", configuration=other)
        again = make_experiment("e3", optimization_id="o\x00")
        for experiment in (first, second, again, make_experiment("e4", optimization_id="o2")):
            await experiments.create_experiment(experiment)
        await experiments.save_results("e1", [make_result("i\x00"), make_result("i\x00", 1)])
        await experiments.save_results("e2", [failed_result("i1")])
        await experiments.save_results("e3", [make_result("i\x00", 1), make_result("i2")])
        await experiments.save_results("e4", [make_result("i9")])

        found = await experiments.evaluated("o\x00")

        mine = first.configuration.hash
        assert found == {
            (mine, "i\x00", 0),
            (mine, "i\x00", 1),
            (mine, "i2", 0),
            (other.hash, "i1", 0),
        }
        assert await experiments.evaluated("none") == set()

    async def test_spending_is_summed_over_all_experiments(
        self, experiments: ExperimentRepository
    ) -> None:
        results = random_results(3, count=150)
        cheap = Spending({"agent": Usage(calls=1, input_tokens=10, cost_usd=0.1)})
        alike = [make_result(f"alike {n}", spending=cheap) for n in range(30)]
        for name in ("e1", "e2"):
            await experiments.create_experiment(make_experiment(name, optimization_id="o1"))
        await experiments.create_experiment(make_experiment("e3", optimization_id="o2"))
        await experiments.save_results("e1", [*results[:100], *alike])
        await experiments.save_results("e2", results[100:])
        await experiments.save_results("e3", results)

        found = await experiments.spending_of("o1")

        expected = Spending.sum(result.spending for result in (*results, *alike))
        assert found.by_purpose.keys() == expected.by_purpose.keys()
        for purpose, usage in expected.by_purpose.items():
            mine = found.by_purpose[purpose]
            assert mine == replace(usage, cost_usd=mine.cost_usd)
            assert mine.cost_usd == pytest.approx(usage.cost_usd)
        assert await experiments.spending_of("none") == Spending()
