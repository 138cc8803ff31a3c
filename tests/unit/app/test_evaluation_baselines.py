"""Evaluations are compared over the items that both ran, with an experiment or an exported file."""

import json

import pytest

from burnish.app.evaluate.baselines import Baseline, ItemOutcome, read_baseline, read_exported
from burnish.domain import UsageError


def run(item, score, *, passed=None, kind=None, repeat=0):
    error = None if kind is None else {"kind": kind, "message": "x"}
    passed = score == 1.0 if passed is None else passed
    return {"item_id": item, "repeat": repeat, "score": score, "passed": passed, "error": error}


def exported(path, *runs):
    if path.suffix == ".json":
        path.write_text(json.dumps({"experiment": {"id": "e1"}, "results": runs}))
    else:
        path.write_text("".join(json.dumps(one) + "\n" for one in runs))
    return path


def baseline(**scores):
    outcomes = {item: ItemOutcome(score, score == 1.0) for item, score in scores.items()}
    return Baseline(id="e", outcomes=outcomes)


def test_scores_are_paired_by_id_over_the_shared_items():
    before, after = baseline(a=0.0, b=1.0, gone=0.0), baseline(new=1.0, b=1.0, a=1.0)

    result = before.compare(after)

    assert (result.items, result.improved, result.delta) == (2, 1, 0.5)
    assert (before.fixed(after), before.broken(after)) == (["a"], [])
    assert (after.fixed(before), after.broken(before)) == ([], ["a"])


def test_experiments_with_no_item_in_common_are_refused():
    with pytest.raises(UsageError, match="no item in common") as raised:
        baseline(a=1.0).compare(baseline(b=1.0))

    assert raised.value.code == "nothing_in_common"


@pytest.mark.parametrize("name", ["before.json", "before.jsonl"])
async def test_a_file_of_export_is_a_baseline_without_a_database(name, tmp_path):
    runs = [run("a", 1.0), run("a", 0.0, repeat=1), run("b", 1.0), run("c", 0.0, kind="agent")]

    found = await read_baseline(None, str(exported(tmp_path / name, *runs)))

    assert found.id == ("e1" if name.endswith(".json") else name)
    expected = {"a": (0.5, False), "b": (1.0, True), "c": (0.0, False)}
    assert found.outcomes == expected


def test_what_nobody_answered_for_outside_reasons_is_no_score(tmp_path):
    runs = [run("a", 1.0), run("b", 0.0, kind="infrastructure"), run("c", 0.0, kind="skipped")]

    assert read_exported(exported(tmp_path / "b.json", *runs)).outcomes.keys() == {"a"}


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"experiment": {"id": "x"}, "results": [{}]}', '{"score": 0.5}']
)
def test_another_file_is_refused_with_the_command_that_writes_one(text, tmp_path):
    (path := tmp_path / "other.json").write_text(text)

    with pytest.raises(UsageError, match="cannot be the baseline") as raised:
        read_exported(path)

    assert raised.value.code == "invalid_baseline"
    assert "burnish export" in raised.value.fix


def test_a_file_that_is_not_there_says_so(tmp_path):
    with pytest.raises(UsageError, match="No such file"):
        read_exported(tmp_path / "none.json")
