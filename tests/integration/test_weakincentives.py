"""Prompts of weakincentives, in the environment of `make wi-venv`: it needs another Python."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from tests.wink import interpreter

ROOT = Path(__file__).parents[2]
VENV = ROOT / ".wi-venv"
# Measured: 1 to 6 s with uv on a quiet machine. Whoever has slower ways builds it once.
BUILD_SECONDS = 600


@pytest.fixture(scope="module")
def python():
    if not (VENV / ".setup").exists():
        build()
    return VENV / "bin" / "python"


def build():
    if interpreter.find() is None:
        pytest.skip("there is no Python 3.13; BURNISH_PYTHON313 may name one")
    if shutil.which("make") is None or not (ROOT / ".venv" / "bin" / "uv").exists():
        pytest.skip("`make wi-venv` cannot be run here: there is no make, or no uv in .venv")
    # What an outer make said is not meant for this one.
    outer = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    environment = {name: value for name, value in os.environ.items() if name not in outer}
    made = subprocess.Popen(
        ["make", "--no-print-directory", "wi-venv"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        _, told = made.communicate(timeout=BUILD_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(made.pid, signal.SIGKILL)
        made.communicate()
        pytest.skip(f"building it takes more than {BUILD_SECONDS} s: run `make wi-venv` once")
    if made.returncode != 0:
        pytest.skip(f"`make wi-venv` failed: {told.strip()[-300:]}")


# One test, so that one process builds the environment.
def test_its_prompts_are_read_run_and_written(python):
    # Uncompiled, a process that it starts would take seconds to begin.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [python, "-m", "pytest", "-o", "addopts=", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/wink"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\d+ passed", done.stdout), done.stdout
    assert "skipped" not in done.stdout
