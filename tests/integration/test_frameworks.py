"""Agents of other frameworks, each in an environment of its own: `make framework-venvs` makes them."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKS = sorted((ROOT / "tests" / "frameworks").glob("*_checks.py"))
# In one process: loading such a framework takes seconds.
BOTH = "import runpy, sys\nfor one in sys.argv[1:]: runpy.run_path(one, run_name='__main__')"


@pytest.mark.parametrize("checks", CHECKS, ids=lambda checks: checks.stem)
def test_checks_and_example_run_where_the_framework_is_installed(checks, tmp_path):
    name = checks.stem.removesuffix("_checks")
    example = ROOT / "examples" / "frameworks" / f"{name}_agent.py"
    folder = ROOT / ".framework-venvs" / name
    if not (folder / ".setup").exists():
        pytest.skip(f"there is no environment with {name}: `make framework-venvs` makes one")

    done = subprocess.run(
        [folder / "bin" / "python", "-c", BOTH, checks, example],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_every_example_has_checks():
    examples = (ROOT / "examples" / "frameworks").glob("*_agent.py")

    assert {one.stem.removesuffix("_agent") for one in examples} == {
        one.stem.removesuffix("_checks") for one in CHECKS
    }
