"""The examples run, in a folder of their own."""

import importlib.util
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_the_example_runs(name, tmp_path, commands):
    if "weakincentives" in name and importlib.util.find_spec("weakincentives") is None:
        pytest.skip("it needs Python 3.13: tests/integration/test_weakincentives.py runs it")
    finished = commands.run(["python", str(EXAMPLES / name)], cwd=tmp_path, timeout=1200)

    assert finished.returncode == 0, finished.stderr
    assert finished.stdout
    # Loops alone need no database.
    assert (tmp_path / ".burnish" / "burnish.db").exists() or name == "three_loops.py"
