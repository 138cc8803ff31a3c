"""Virtual environments for the peer libraries we are measured against.

Each peer gets its own, so their dependencies meet neither ours nor each other's.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

PEERS = Path(__file__).resolve().parent
VENVS = PEERS.parents[1] / ".bench-venvs"
INSTALL_TIMEOUT = 900.0
STAMP = "burnish-requirements.sha256"


class PeerError(RuntimeError):
    """A peer could not be installed or measured; says why and what to do."""


def ensure(name: str) -> Path:
    """Return the Python of peer ``name``, installing it when needed.

    Rebuilds when ``requirements-NAME.txt`` or our own Python version changed, or
    when an earlier installation did not finish. Not safe to run twice at once.
    """
    requirements = PEERS / f"requirements-{name}.txt"
    if not requirements.is_file():
        known = sorted(
            path.stem.removeprefix("requirements-") for path in PEERS.glob("requirements-*.txt")
        )
        raise PeerError(
            f"There is no peer {name!r}: {requirements} does not exist. "
            f"Use one of {', '.join(known)}, or add that file."
        )
    folder = VENVS / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / STAMP
    seed = platform.python_version().encode() + requirements.read_bytes()
    digest = hashlib.sha256(seed).hexdigest()
    if python.exists() and stamp.is_file() and stamp.read_text() == digest:
        return python

    _call(
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        what=f"Making the virtual environment {folder}",
        fix="check that this Python has the venv and ensurepip modules",
        timeout=INSTALL_TIMEOUT,
    )
    _call(
        [str(python), "-m", "pip", "install", "--quiet", "--requirement", str(requirements)],
        what=f"Installing {requirements.name}",
        fix="check the network and pip's index settings, or correct the pins",
        timeout=INSTALL_TIMEOUT,
    )
    # Written last, so that an interrupted installation is done again.
    stamp.write_text(digest)
    return python


def run(name: str, script: str | Path, *args: object, timeout: float = 600.0) -> dict[str, object]:
    """Run a script of this folder (or any absolute path) with peer ``name``.

    Returns the JSON object on its last line of stdout; anything before that is
    the peer's chatter. ``timeout`` covers the script, not the installation.
    """
    python = ensure(name)
    path = PEERS / script
    with tempfile.TemporaryDirectory() as scratch:
        stdout = _call(
            [str(python), "-I", str(path), *map(str, args)],
            what=f"Running {path.name} with peer {name!r}",
            fix=f"run {path} by hand with {python} to look closer",
            timeout=timeout,
            cwd=scratch,
            env=_isolated(scratch),
        )
    lines = stdout.strip().splitlines()
    try:
        report = json.loads(lines[-1])
    except (IndexError, ValueError):
        report = None
    if not isinstance(report, dict):
        raise PeerError(
            f"{path.name} ran, but the last line of its stdout is not a JSON object: "
            f"{lines[-1:]!r}. Make the script print its report last, on one line."
        )
    return report


def _isolated(home: str) -> dict[str, str]:
    """The environment without what would make peers behave differently per user.

    Peers read options from the environment and keep caches and settings
    under the home folder.
    """
    dropped = ("INSPECT_", "DSPY_", "OPIK_", "LITELLM_", "XDG_")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    return {**kept, "HOME": home, "USERPROFILE": home}


def _call(
    command: list[str],
    *,
    what: str,
    fix: str,
    timeout: float,
    cwd: str | None = None,
    env: Mapping[str, str] | None = None,
) -> str:
    try:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            timeout=timeout,
            cwd=cwd,
            env=env,
        )
    except subprocess.TimeoutExpired as error:
        raise PeerError(
            f"{what} took more than {timeout:g} s and was stopped. "
            f"Give it less to do, a longer timeout or a quieter machine, or {fix}."
        ) from error
    except OSError as error:
        raise PeerError(f"{what} failed: {error}. To fix it, {fix}.") from error
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "nothing")[-2000:]
        raise PeerError(
            f"{what} failed with exit status {done.returncode}. To fix it, {fix}. It said:\n{said}"
        )
    return done.stdout
