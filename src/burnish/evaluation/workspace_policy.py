"""Workspace policy: what a user decides in `[agent.workspace]` for a command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path, PurePosixPath
from typing import Any

from burnish.domain import UsageError
from burnish.support.number_checks import is_number

_MB = 1024 * 1024
ANSWERS = ("text", "json")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkspacePolicy:
    """What a command finds in its folder, how it answers, and what it may do.

    `template` is a folder that is copied. `item_file` is where the item is written besides stdin.
    `fields` are what the command sees of an item; None means all. `output` is the file that holds
    the answer; None means stdout. `answer` is "text", or "json" for the object that a service would
    answer with: output, trace, usage. `environment` are variables handed over besides PATH, the
    language and the time zone. `network` allows it one. `writable` are folders outside that it may
    write in. The limits hold for one item.
    """

    template: str | Path | None = None
    item_file: str | None = None
    fields: Sequence[str] | None = None
    output: str | None = None
    answer: str = "text"
    environment: Sequence[str] = ()
    network: bool = True
    writable: Sequence[str] = ()
    max_output_mb: float = 8.0
    max_workspace_mb: float = 256.0
    max_memory_mb: float | None = None

    def __post_init__(self) -> None:
        for name in ("item_file", "output"):
            if getattr(self, name) is not None:
                require_inside(getattr(self, name), f"workspace.{name}")
        if self.answer not in ANSWERS:
            raise _bad("answer", f"{self.answer!r} is none of {', '.join(ANSWERS)}")
        if not isinstance(self.network, bool):
            raise _bad("network", f"{self.network!r} is neither true nor false")
        for name in ("fields", "environment", "writable"):
            given = getattr(self, name)
            listed = isinstance(given, Sequence) and not isinstance(given, str)
            if given is not None and not (listed and all(isinstance(one, str) for one in given)):
                raise _bad(name, f"{given!r} is not a list of texts")
        for name in ("max_output_mb", "max_workspace_mb", "max_memory_mb"):
            given = getattr(self, name)
            if given is not None and not (is_number(given) and given > 0):
                raise _bad(name, f"{given!r} is not a number above 0")

    @classmethod
    def of(cls, value: WorkspacePolicy | Mapping[str, Any] | None) -> WorkspacePolicy:
        """From a table."""
        if isinstance(value, WorkspacePolicy):
            return value
        known = [one.name for one in fields(cls)]
        for name in value or {}:
            if name not in known:
                raise _bad(str(name), f"there is no such setting; there are {', '.join(known)}")
        return cls(**(value or {}))

    @property
    def max_output_bytes(self) -> int:
        """The largest answer."""
        return int(self.max_output_mb * _MB)

    @property
    def max_workspace_bytes(self) -> int:
        """The largest folder."""
        return int(self.max_workspace_mb * _MB)

    @property
    def max_memory_bytes(self) -> int | None:
        """The most memory of one process."""
        return None if self.max_memory_mb is None else int(self.max_memory_mb * _MB)


def require_inside(name: str, where: str) -> None:
    """A relative path that leads nowhere else."""
    path = PurePosixPath(name)
    if (
        not name
        or path.is_absolute()
        or ".." in path.parts
        or "\\" in name
        or path == PurePosixPath()
    ):
        raise UsageError(
            what=f"{name!r} in {where} cannot be used",
            why="it is not the path of a file inside of the workspace",
            fix='write a relative path without "..", such as "SKILL.md"',
            code="invalid_agent",
        )


def _bad(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"the agent's workspace.{name} cannot be used",
        why=why,
        fix=f"correct {name} in [agent.workspace]",
        code="invalid_agent",
    )
