"""Runs with a pairwise scorer: against a stored baseline, and as the objective of an optimization."""

import json
import re

import pytest

import burnish

ROWS = [{"id": f"i{n}", "question": f"q{n}"} for n in range(12)]


def answer(configuration, item):
    return f"{configuration.sections['system']} {item['question']}"


def prefers_polite(prompt):
    """Whoever says please is better; between equals it takes the first, a bias of order."""
    a, b = (
        re.search(rf"<<<OUTPUT {name} \w+\n(.*?)\nOUTPUT {name} ", prompt, re.DOTALL).group(1)
        for name in "AB"
    )
    winner = "A" if ("please" in a) >= ("please" in b) else "B"
    return json.dumps({"winner": winner, "reason": "manners"})


def agent(system):
    return burnish.Agent(run=answer, configuration={"sections": {"system": system}}, version="1")


@pytest.fixture
def suite():
    scorer = {"kind": "pairwise", "model": prefers_polite, "criteria": "Which is politer?"}
    return burnish.Suite(
        dataset=ROWS, scorers=[scorer], split={"train": 2, "validation": 4, "test": 6}
    )


async def test_an_evaluation_is_scored_against_a_baselines_outputs(suite, tmp_path):
    db = tmp_path / "db"
    plain = burnish.Suite(dataset=ROWS, scorers=[lambda output, item: 1.0])
    before = await burnish.evaluate_async(agent("now"), plain, db=db)

    after = await burnish.evaluate_async(
        agent("please"), suite, db=db, baseline=before.experiment_id
    )
    same = await burnish.evaluate_async(agent("now"), suite, db=db, baseline=before.experiment_id)

    assert (after.score, after.win_rates[0].wins, after.comparison.delta) == (1.0, 12, 0.5)
    assert after.to_json()["win_rates"][0]["interval"][0] > 0.5
    assert (same.score, same.win_rates[0].ties, same.comparison.delta) == (0.5, 12, 0.0)
    with pytest.raises(burnish.UsageError, match="nothing to compare with"):
        await burnish.evaluate_async(agent("now"), suite, db=db)


async def test_an_optimization_has_it_as_objective_and_its_baseline_scores_half(suite, tmp_path):
    result = await burnish.optimize_async(
        agent("now"),
        suite,
        "grid",
        settings={"sections": {"system": ["please", "at once"]}},
        db=tmp_path / "db",
    )

    document = result.to_json()
    assert (document["baseline"]["score"], document["best"]["score"]) == (0.5, 1.0)
    assert (document["test"]["baseline_score"], document["test"]["best_score"]) == (0.5, 1.0)
