"""Comparisons on the same items are counted, and a gain has to be the clearer the more there were."""

import pytest

import burnish
from burnish.app.report.runs.evidence import is_proven
from burnish.cli.display.evaluation import verdict
from burnish.evaluation.looks import level_by_hand, level_of
from burnish.evaluation.statistics import paired_permutation_test

ROWS = [{"id": f"r{n}", "n": n, "expected": "yes"} for n in range(24)]
SUITE = burnish.Suite(dataset=ROWS, scorers=["exact_match"], split={"validation": 0.5, "test": 0.5})


def agent(system, name="a"):
    def answer(configuration, item):
        return "yes" if item["n"] < len(configuration["sections"]["system"]) else "no"

    configuration = {"sections": {"system": system}}
    return burnish.Agent(name=name, run=answer, configuration=configuration, version="1")


def test_the_levels_of_looks_by_hand_add_up_to_little_more():
    assert [level_by_hand(1), level_by_hand(2)] == [0.05, level_of(2)]
    assert sum(map(level_by_hand, range(1, 10_000))) < 0.075


def test_comparisons_with_a_baseline_are_counted_and_repeats_of_one_are_not(tmp_path):
    db = tmp_path / "db"
    before = burnish.evaluate(agent("x"), SUITE, db=db).experiment_id

    def look(system, name="a"):
        result = burnish.evaluate(agent(system, name), SUITE, db=db, baseline=before)
        return result.to_json()["baseline"]

    looks = [look("xx"), look("x" * 7), look("xx"), look("x" * 8, "another")]

    assert [one["look"] for one in looks] == [1, 2, 2, 1]
    # Six items better: p = 0.03, enough for a first look and not for a second.
    assert looks[1]["level"] == level_of(2) < looks[1]["p_value"] < 0.05
    assert not looks[1]["gain_counts"]


@pytest.mark.parametrize(("look", "said"), [(1, "better"), (2, "no clear difference, for so many")])
def test_a_gain_that_was_enough_at_first_is_not_at_a_later_look(look, said):
    found = paired_permutation_test([0.0] * 6 + [1.0] * 6, [1.0] * 12, seed=0)
    improvement = {"p_value": found.p_value, "ci_low": 0.1, "items": 12, "look": look}

    assert 0.02 < found.p_value < 0.05
    assert verdict(found, look).plain.startswith(said)
    assert is_proven({"improvement": improvement}) == (look == 1)


def test_confirmations_on_the_same_held_out_items_are_counted_and_the_same_outcome_once(tmp_path):
    def run(name, found="x" * 12):
        result = burnish.optimize(
            agent("x", name),
            SUITE,
            "grid",
            settings={"sections": {"system": [found]}},
            seed=1,
            db=tmp_path / "db",
        )
        return result.improvement.look, result.document["confirmation"]

    runs = [run("a"), run("a"), run("a", "x" * 16), run("a"), run("b")]

    assert [look for look, _ in runs] == [1, 1, 2, 1, 1]
    assert "look" not in runs[0][1]
    assert "look 2 at these items: a gain counts where p is below 0.0083" in runs[2][1]
