"""Virtual environments of the peers, so that their dependencies meet neither ours nor each other's."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

from burnish.domain import UnavailableError
from burnish.models.local.pull import cache_directory

PEERS = Path(__file__).resolve().parent / "peers"
_LOCAL = Path(".bench-venvs")
_INSTALL_SECONDS = 900.0
_STAMP = "burnish-requirements.sha256"


def environments_folder() -> Path:
    """`$BURNISH_BENCH_VENVS`, `.bench-venvs` if it is here, else a folder in the user's cache."""
    given = os.environ.get("BURNISH_BENCH_VENVS")
    if given:
        return Path(given).resolve()
    return _LOCAL.resolve() if _LOCAL.is_dir() else cache_directory() / "bench-venvs"


def ensure_environment(name: str) -> Path:
    """The Python of a peer's environment, made with pip if it is missing or its pins have changed."""
    requirements = PEERS / f"requirements-{name}.txt"
    folder = environments_folder() / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    stamp = folder / _STAMP
    pins = platform.python_version().encode() + requirements.read_bytes()
    digest = hashlib.sha256(pins).hexdigest()
    if python.exists() and stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
        return python
    _call([sys.executable, "-m", "venv", "--clear", str(folder)], name)
    _call([str(python), "-m", "pip", "install", "--quiet", "-r", str(requirements)], name)
    # Written last, so that an interrupted installation is done again.
    stamp.write_text(digest, encoding="utf-8")
    return python


def _call(command: list[str], name: str) -> None:
    try:
        subprocess.run(  # noqa: S603 - our own Python and pip
            command, check=True, capture_output=True, text=True, timeout=_INSTALL_SECONDS
        )
    except subprocess.CalledProcessError as error:
        raise _unavailable(name, str(error.stderr or error.stdout or error)[-500:]) from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _unavailable(name, str(error)) from error


def _unavailable(name: str, why: str) -> UnavailableError:
    pins = PEERS / f"requirements-{name}.txt"
    return UnavailableError(
        what=f"the environment of the peer {name!r} could not be made",
        why=" ".join(why.split()),
        fix=f"make {environments_folder() / name} yourself and install {pins} into it, or leave the "
        "peer out of --optimizers",
        code="peer_unavailable",
    )
