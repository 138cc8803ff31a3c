"""Who takes part, and the environments of peers."""

import subprocess
import sys
from pathlib import Path

import pytest

from burnish.benchmarks import comparison
from burnish.benchmarks import contestants as environments
from burnish.benchmarks.comparison import Plan, compare
from burnish.benchmarks.contestants import (
    PEERS,
    contestants,
    default_names,
    ensure_environment,
    known_names,
)
from burnish.benchmarks.curves import Curve
from burnish.domain import UnavailableError, UsageError
from burnish.optimizers.catalog import list_optimizers

BENCH = Path(__file__).parents[3] / "bench" / "peers"


def test_every_optimizer_of_the_catalog_can_take_part():
    assert set(list_optimizers()) < set(known_names())
    assert {"gepa_package", "dspy_gepa"} < set(default_names())
    assert {"gepa_package_2x2", "gepa_package_2x4"} <= {*known_names()} - {*default_names()}
    assert [one.name for one in contestants(["random", "dspy_gepa", "random"])] == [
        "random",
        "dspy_gepa",
    ]


def test_what_is_known_is_not_run_again_and_what_is_new_is_kept(monkeypatch):
    def curve(seed):
        fixed = {
            "start": 0.1,
            "maximum": 1.0,
            "calls": 9,
            "reflections": 1,
            "seconds": 1.0,
            "points": [],
        }
        return Curve(world="rules", optimizer="random", seed=seed, budget=50, **fixed)

    def answer(command, batch, take):
        for job in batch.jobs:
            take(curve(job["seed"]).to_json())

    monkeypatch.setattr(comparison, "run_batch", answer)
    plan = Plan(worlds=["rules"], contestants=contestants(["random"]), seeds=range(3), budgets=[50])
    kept = []

    outcome = compare(plan, keep=kept.append, known=[curve(1)])

    assert [one.seed for one in kept] == [0, 2]
    assert [one.seed for one in outcome.curves] == [0, 1, 2]


def test_an_unknown_name_is_refused_with_those_that_exist():
    with pytest.raises(UsageError, match="dspy_gepa"):
        contestants(["gepa_pakage"])


@pytest.mark.parametrize("name", ["gepa", "dspy"])
def test_pins_are_those_of_the_repository_so_that_one_environment_serves_both(name):
    file = f"requirements-{name}.txt"

    assert (PEERS / file).read_bytes() == (BENCH / file).read_bytes()


def test_the_command_line_loads_no_benchmark_before_it_is_asked_for():
    code = "import sys, burnish.cli.app; print([m for m in sys.modules if 'benchmarks' in m])"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


class FakePip:
    """Makes the Python that a real venv would, and fails when told to."""

    def __init__(self, folder, fails=False):
        self.folder, self.fails, self.commands = folder, fails, []

    def __call__(self, command, **options):
        self.commands.append(command)
        if self.fails:
            raise subprocess.CalledProcessError(1, command, stderr="no network")
        python = self.folder / "gepa" / "bin" / "python"
        python.parent.mkdir(parents=True, exist_ok=True)
        python.touch()


def test_an_environment_is_made_once(tmp_path, monkeypatch):
    pip = FakePip(tmp_path)
    monkeypatch.setenv("BURNISH_BENCH_VENVS", str(tmp_path))
    monkeypatch.setattr(environments.subprocess, "run", pip)

    python = ensure_environment("gepa")
    again = ensure_environment("gepa")

    assert python == again == tmp_path / "gepa" / "bin" / "python"
    assert [command[command.index("-m") + 1] for command in pip.commands] == ["venv", "pip"]


def test_a_peer_that_cannot_be_installed_says_how_to_do_without(tmp_path, monkeypatch):
    monkeypatch.setenv("BURNISH_BENCH_VENVS", str(tmp_path))
    monkeypatch.setattr(environments.subprocess, "run", FakePip(tmp_path, fails=True))

    with pytest.raises(UnavailableError, match="no network.*--optimizers"):
        ensure_environment("gepa")
