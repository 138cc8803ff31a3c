"""The benchmark on real tasks, in the parts that need no model."""

import asyncio
import json

import pytest
from bench.real.calls import CountedModel, KeptCalls
from bench.real.command import KEY, parse, plan
from bench.real.report import lines, mean_interval
from bench.real.runs import finished, read_runs
from bench.real.tasks import load_task, split, task_names

from burnish.domain import InvariantError, ModelRequest
from burnish.models.catalog import CachedModel
from burnish.models.scripted import ScriptedModel


def write_task(folder, name="coins", *, rows=200, **meta):
    place = folder / name
    place.mkdir()
    told = {"labels": ["a", "b"], "seed_prompt": "Say a or b.", "scorer": "exact_match"} | meta
    (place / "meta.json").write_text(json.dumps(told))
    data = [{"input": f"row {number}", "label": "ab"[number % 2]} for number in range(rows)]
    (place / "data.jsonl").write_text("\n".join(map(json.dumps, data)))


def run_of(job, gain=0.1):
    return {
        **{name: job[name] for name in ("task", "seed", "contestant", "key", "code")},
        "items": [30, 30, 100],
        "before": 0.5,
        "after": 0.5 + gain,
        "gain": gain,
        "low": gain - 0.1,
        "high": gain + 0.1,
        "made": 700,
        "asked": 4,
        "usable": 3,
        "seconds": 12.3,
    }


def test_every_folder_with_rows_and_a_first_prompt_is_a_task(tmp_path):
    write_task(tmp_path, "free", labels="many numbers")
    write_task(tmp_path, "coins")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "meta.json").write_text("{}")

    assert task_names(tmp_path) == ["coins", "free"]
    assert load_task(tmp_path, "coins").labels == ["a", "b"]
    assert load_task(tmp_path, "coins").rows[1] == {"message": "row 1", "label": "b"}
    assert load_task(tmp_path, "free").labels == ()


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [(600, (75, 75, 150)), (250, (50, 50, 150)), (178, (30, 30, 118)), (60, (20, 20, 20))],
)
def test_a_split_shares_no_row_and_leaves_small_tasks_something_to_search_with(
    tmp_path, rows, sizes
):
    write_task(tmp_path, rows=rows)
    task = load_task(tmp_path, "coins")

    made, again, other = split(task, 1, 150), split(task, 1, 150), split(task, 2, 150)

    assert (len(made.train), len(made.validation), len(made.test)) == sizes
    parts = (made.train, made.validation, made.test, made.spare)
    used = [row["message"] for part in parts for row in part]
    assert len(made.spare) == (150 if rows == 600 else 0)
    assert len(set(used)) == len(used)
    assert made == again
    assert made != other


def test_a_call_is_made_once_whoever_opens_the_file_next(tmp_path):
    made = []

    def answer(request):
        made.append(request)
        return "yes"

    scripted = ScriptedModel(answer)
    for _ in range(2):
        calls = KeptCalls(tmp_path / "build" / "calls.db")
        model = CountedModel(CachedModel(scripted, calls))
        response = asyncio.run(model.complete(ModelRequest.text("Is it?")))
        calls.close()

    assert response.text == "yes"
    assert (model.calls, model.from_disk, len(made)) == (1, 1, 1)


def test_more_questions_than_agreed_end_the_run():
    model = CountedModel(ScriptedModel(["yes"]), 1)
    asyncio.run(model.complete(ModelRequest.text("Is it?")))

    with pytest.raises(InvariantError, match="1 times"):
        asyncio.run(model.complete(ModelRequest.text("Is it?")))


def test_finished_runs_are_taken_and_the_rest_is_run(tmp_path):
    write_task(tmp_path)
    jobs = plan(parse(["--data", str(tmp_path), "--seeds", "2"]))
    kept = [
        json.dumps(run_of(jobs[0])),
        json.dumps(run_of(jobs[1]) | {"code": "of last week"}),
        json.dumps(run_of(jobs[2]) | {"key": ["another budget"]}),
        json.dumps(run_of(jobs[3]))[:40],
    ]

    (tmp_path / "kept.jsonl").write_text("\n".join(kept))

    done, missing = finished(jobs, read_runs(tmp_path / "kept.jsonl"))

    assert [(job["contestant"], job["seed"]) for job in jobs] == [
        *(("gepa", 0), ("gepa_package", 0)),
        *(("gepa", 1), ("gepa_package", 1)),
    ]
    assert done == [run_of(jobs[0])]
    assert missing == jobs[1:]
    assert len(jobs[0]["key"]) == 1 + len(KEY)


def test_what_a_run_cannot_depend_on_makes_no_other_run(tmp_path):
    write_task(tmp_path)
    names = "few_shot,joint_hard,dspy_bootstrap,dspy_mipro,gepa_package"
    told = ["--data", str(tmp_path), "--contestants", names, "--seeds", "1"]

    few, more = (plan(parse([*told, "--reflections", count])) for count in ("5", "40"))

    assert [job["contestant"] for job in few] == names.split(",")
    assert [job["key"] == other["key"] for job, other in zip(few, more, strict=True)] == [
        *(True, True, True),
        *(False, False),
    ]


def test_a_task_that_is_not_there_is_named(tmp_path):
    write_task(tmp_path)

    with pytest.raises(SystemExit, match="no task 'dice'"):
        plan(parse(["--data", str(tmp_path), "--tasks", "dice"]))


def test_the_table_has_every_run_the_means_and_who_is_better(tmp_path):
    write_task(tmp_path)
    jobs = plan(parse(["--data", str(tmp_path), "--seeds", "3"]))
    gains = iter([0.10, 0.00, 0.20, -0.02, 0.15, 0.01])
    runs = [run_of(job, next(gains)) for job in jobs]

    said = lines(runs, ["gepa", "gepa_package"])

    assert sum(line.startswith("| coins |") for line in said) == 6
    assert any("| coins | 1 | gepa_package | 0.500 | 0.480 | -0.020 (" in one for one in said)
    assert any(line.startswith("| gepa | 3 | +0.1500 (") for line in said)
    assert any(
        line.startswith("gepa less gepa_package, in 3 pairs of runs: +0.15") for line in said
    )
    assert said[-1].endswith("beyond the spread of its runs: gepa.")


def test_it_says_plainly_that_nothing_improves(tmp_path):
    write_task(tmp_path)
    jobs = plan(parse(["--data", str(tmp_path), "--contestants", "gepa"]))

    assert lines([run_of(jobs[0], 0.1), run_of(jobs[1], -0.1)], ["gepa"])[-1].startswith("Nothing ")
    assert lines([], ["gepa"])[-1] == "No run is finished yet."


def test_the_interval_of_a_mean_is_of_its_runs():
    mean, interval = mean_interval([0.0, 0.1, 0.2, 0.1])

    assert mean == pytest.approx(0.1)
    assert 0.0 <= interval.low < 0.1 < interval.high <= 0.2
