"""Who can take part: the optimizers of the catalog, and other packages' in their own environments."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.benchmarks.environments import PEERS, ensure_environment
from burnish.domain import UsageError
from burnish.optimizers.catalog import list_optimizers


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
_DEFAULT = ("gepa", "edits", "evolve", "meta_prompt", "random")
REFERENCE = "gepa_package"


def known_names() -> list[str]:
    """Every name that can be compared."""
    return [*list_optimizers(), *(peer.name for peer in _PEERS)]


def default_names() -> list[str]:
    """What is compared when nothing is said."""
    here = list_optimizers()
    return [*(name for name in _DEFAULT if name in here), *(peer.name for peer in _PEERS)]


def contestants(names: Sequence[str]) -> list[Contestant]:
    """Contestants by name; a name of the catalog wins over a peer's."""
    own, peers = list_optimizers(), {peer.name: peer for peer in _PEERS}
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
