"""Contestants of the comparison: the catalog's optimizers, and peers in environments of their own."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.domain import UnavailableError, UsageError
from burnish.models.local.pull import cache_directory
from burnish.optimizers.catalog import list_optimizers
from burnish.support.child_process import ending_with_us

_DEFAULT = ("gepa", "edits", "evolve", "meta_prompt", "random")
REFERENCE = "gepa_package"
PEERS = Path(__file__).resolve().parent / "peers"
_LOCAL = Path(".bench-venvs")
_INSTALL_SECONDS = 900.0
_STAMP = "burnish-requirements.sha256"


@dataclass(frozen=True, kw_only=True)
class Contestant:
    """An optimizer by the name of the table, and what runs its jobs: a peer's script, or ourselves."""

    name: str
    about: str
    script: Path | None = None
    environment: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)

    def command(self) -> list[str]:
        """What runs its jobs; makes the environment first if it is missing."""
        if self.environment is None:
            return [sys.executable, "-m", "burnish.benchmarks.burnish_jobs"]
        python = ensure_environment(self.environment)
        # Neither the user's variables nor the user's packages, but the script's own folder.
        return [str(python), "-E", "-s", "-W", "ignore", str(self.script)]


_PEERS = (
    Contestant(
        name="gepa_package",
        about="the gepa package with its default settings",
        script=PEERS / "gepa_package.py",
        environment="gepa",
    ),
    Contestant(
        name="gepa_package_merge",
        about="the gepa package with use_merge=True",
        script=PEERS / "gepa_package.py",
        environment="gepa",
        settings={"use_merge": True},
    ),
    Contestant(
        name="dspy_gepa",
        about="dspy.GEPA with its default settings",
        script=PEERS / "dspy_gepa.py",
        environment="dspy",
    ),
)
# Not among those that are compared when nothing is said.
_SAMPLING_PEERS = tuple(
    Contestant(
        name=f"gepa_package_{parents}x{proposals}",
        about=f"the gepa package with PxNSampling({parents}, {proposals})",
        script=PEERS / "gepa_package.py",
        environment="gepa",
        settings={"sampling": [parents, proposals]},
    )
    for parents, proposals in ((2, 2), (2, 4))
)


def known_names() -> list[str]:
    """Every name that can be compared."""
    return [*list_optimizers(), *(peer.name for peer in (*_PEERS, *_SAMPLING_PEERS))]


def default_names() -> list[str]:
    """What is compared when nothing is said."""
    here = list_optimizers()
    return [*(name for name in _DEFAULT if name in here), *(peer.name for peer in _PEERS)]


def contestants(names: Sequence[str]) -> list[Contestant]:
    """Contestants by name; a name of the catalog wins over a peer's."""
    own, peers = list_optimizers(), {one.name: one for one in (*_PEERS, *_SAMPLING_PEERS)}
    found = []
    for name in dict.fromkeys(names):
        if name in own:
            found.append(Contestant(name=name, about="of the catalog"))
        elif name in peers:
            found.append(peers[name])
        else:
            raise UsageError(
                what=f"there is no optimizer {name!r} to compare",
                why="it is neither in the catalog nor one of the peers",
                fix=f"use some of {', '.join(known_names())}",
                code="unknown_optimizer",
            )
    return found


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
            ending_with_us(command),
            check=True,
            capture_output=True,
            text=True,
            timeout=_INSTALL_SECONDS,
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
