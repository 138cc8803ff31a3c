"""Agents of other frameworks, each in an environment of its own: `make framework-venvs` makes them."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CHECKS = sorted((ROOT / "tests" / "frameworks").glob("*_checks.py"))
EXAMPLES = sorted((ROOT / "examples" / "frameworks").glob("*_agent.py"))


@pytest.mark.parametrize("script", [*CHECKS, *EXAMPLES], ids=lambda script: script.stem)
def test_the_script_runs_where_the_framework_is_installed(script, tmp_path):
    name = script.stem.removesuffix("_checks").removesuffix("_agent")
    folder = ROOT / ".framework-venvs" / name
    if not (folder / ".setup").exists():
        pytest.skip(f"there is no environment with {name}: `make framework-venvs` makes one")

    done = subprocess.run(
        [folder / "bin" / "python", script],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )

    assert done.returncode == 0, done.stderr
