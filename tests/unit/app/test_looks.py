"""Comparisons on the same items are counted, and a gain has to be the clearer the more there were."""

import json
from pathlib import Path

import pytest

import burnish
from burnish.app.report.runs.evidence import is_proven
from burnish.cli.display.evaluation import verdict
from burnish.cli.invocation import run_command
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


def test_a_gain_at_a_later_look_is_none_in_an_exported_page_either(tmp_path, capfd):
    db = str(tmp_path / "db")
    before = burnish.evaluate(agent("x"), SUITE, db=db).experiment_id
    ids = [
        burnish.evaluate(agent(system), SUITE, db=db, baseline=before).experiment_id
        for system in ("x" * 7, "y" * 7)
    ]
    heads = []
    for one in ids:
        capfd.readouterr()
        assert run_command(["export", one, "-f", "markdown", "--baseline", before, "--db", db]) == 0
        heads.append(capfd.readouterr().out)

    assert ": better than the baseline" in heads[0]
    assert ": no clear difference, for so many looks" in heads[1]


def test_items_that_were_chosen_for_failing_in_the_baseline_show_no_gain(
    tmp_path, capfd, monkeypatch
):
    """Of items that pass by chance, those that failed pass more often the next time."""
    monkeypatch.chdir(tmp_path)
    Path("agent.py").write_text(
        "import random\nrng = random.Random(3)\n"
        "async def answer(configuration, item):\n"
        "    return rng.choice(['yes', 'no'])\n"
    )
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    Path("burnish.toml").write_text(
        '[agent]\nname = "a"\nrun = "agent:answer"\n[agent.sections]\nsystem = "x"\n'
        '[suite]\ndataset = "rows.jsonl"\nscorers = ["exact_match"]\n'
    )
    assert run_command(["eval", "--json", "--no-cache"]) == 0
    before = json.loads(capfd.readouterr().out)["experiment_id"]
    again = ["eval", "--filter-failing", before, "--baseline", before, "--no-cache"]

    assert run_command([*again, "--json"]) == 0
    document = json.loads(capfd.readouterr().out)
    assert run_command(again) == 0
    shown = capfd.readouterr().out

    assert document["baseline"]["delta"] > 0
    assert document["baseline"]["gain_counts"] is False
    assert any("show no gain" in one or "shows no gain" in one for one in document["warnings"])
    assert ": better" not in shown


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
