"""`burnish bench optimizers` as a user runs it, with tiny budgets."""

import json
import sys

import pytest

from burnish.benchmarks import make_world, run_burnish
from burnish.benchmarks.batches import Batch, run_batch
from burnish.benchmarks.comparison import Plan, compare
from burnish.benchmarks.contestants import PEERS, contestants
from burnish.benchmarks.curves import Curve


@pytest.fixture
def burnish(commands, tmp_path):
    def run(*arguments):
        return commands.run(arguments, cwd=tmp_path)

    return run


def test_one_command_compares_and_writes_the_same_document_twice(burnish, tmp_path):
    file = tmp_path / "bench.json"
    options = ("--worlds", "rules,noisy", "--optimizers", "random", "--seeds", "2")

    done = burnish(
        "bench", "optimizers", *options, "--budgets", "130", "--json", "--output", str(file)
    )

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document == json.loads(file.read_text())
    assert document["seeds"] == [4000, 4001]
    assert [(row["world"], row["optimizer"]) for row in document["standings"]] == [
        ("noisy", "random"),
        ("rules", "random"),
    ]
    assert all(curve["calls"] <= 130 for curve in document["curves"])
    assert document["failures"] == []


def test_a_table_is_printed_and_tuning_seeds_are_called_so(burnish):
    options = ("--worlds", "rules", "--optimizers", "random", "--seeds", "1", "--first-seed", "5")

    done = burnish("bench", "optimizers", *options, "--budgets", "70", "--processes", "1")

    assert done.returncode == 0, done.stderr
    assert "Budget of 70 calls, medians of 1 seeds" in done.stdout
    assert "do not report them" in done.stdout


def test_without_a_name_the_benchmarks_are_listed(burnish):
    assert "optimizers" in burnish("bench").stdout
    assert "bench" in burnish("--help").stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--worlds", "rule"), "weak_reflector"),
        (("--optimizers", "nobody"), "dspy_gepa"),
        (("--budgets", "many"), "700,4000"),
        (("--output", "/nowhere/at/all.json"), "folder"),
    ],
)
def test_bad_usage_is_answered_before_anything_runs(burnish, options, said):
    done = burnish("bench", "optimizers", *options)

    assert done.returncode == 2
    assert said in done.stderr


def test_the_same_seed_gives_the_same_curve():
    first, second = (
        run_burnish(make_world("rules", 1), "gepa", budget=260, seed=1) for _ in range(2)
    )

    assert first.points == second.points
    assert first.calls == second.calls <= 260
    assert first.reflections > 0


def test_the_gepa_package_runs_in_the_same_world():
    [contestant] = contestants(["gepa_package"])
    jobs = [{"optimizer": "gepa_package", "world": "rules", "seed": 0, "budget": 330}]
    answers = []

    failed = run_batch(
        [sys.executable, "-E", "-s", str(PEERS / "gepa_package.py")],
        Batch(contestant=contestant, jobs=jobs),
        answers.append,
    )

    assert failed is None
    curve = Curve.of(answers[0])
    assert curve.maximum == make_world("rules", 0).maximum
    assert curve.reflections > 0
    assert curve.final > curve.start


def test_a_failing_job_and_a_dead_process_are_told_and_the_rest_runs():
    [contestant] = contestants(["random"])
    good = {"optimizer": "random", "world": "rules", "seed": 0, "budget": 70}
    answers = []

    failed = run_batch(
        contestant.command(),
        Batch(contestant=contestant, jobs=[good | {"world": "nowhere"}, good]),
        answers.append,
    )
    dead = run_batch(
        [sys.executable, "-c", "raise SystemExit('gone')"],
        Batch(contestant=contestant, jobs=[good]),
        answers.append,
    )

    assert failed is None
    assert "nowhere" in answers[0]["error"]
    assert answers[1]["calls"] > 0
    assert "1 jobs were not answered" in dead and "gone" in dead


def test_a_peer_that_is_missing_does_not_stop_the_others(tmp_path, monkeypatch):
    (tmp_path / "dspy").write_text("a file where the environment should be")
    monkeypatch.setenv("BURNISH_BENCH_VENVS", str(tmp_path))
    plan = Plan(
        worlds=["rules"],
        contestants=contestants(["random", "dspy_gepa"]),
        seeds=[0],
        budgets=[70],
    )

    outcome = compare(plan)

    assert [curve.optimizer for curve in outcome.curves] == ["random"]
    assert "dspy_gepa did not run" in outcome.failures[0]
