"""Under which experiment code runs right now: its tag and flags, for rendering, tools and agents."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

DEFAULT_TAG = "stable"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentContext:
    """What a request says about its experiment; the record of one is `Experiment`.

    `overrides_tag` names the overrides that the prompt is rendered with, `parent_tag` what they
    build on. `flags` are for the agent's own code.
    """

    id: str
    name: str = ""
    overrides_tag: str = DEFAULT_TAG
    parent_tag: str | None = None
    flags: Mapping[str, bool] = field(default_factory=dict)
    created_at: datetime = field(default_factory=lambda: datetime.now(UTC))

    def flag(self, name: str, default: bool = False) -> bool:
        return self.flags.get(name, default)

    def to_json(self) -> dict[str, Any]:
        """The JSON form that `of` reads."""
        return {
            "id": self.id,
            "name": self.name,
            "overrides_tag": self.overrides_tag,
            "parent_tag": self.parent_tag,
            "flags": dict(self.flags),
            "created_at": self.created_at.isoformat(),
        }

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> ExperimentContext:
        """From its JSON form; a field of another type is a TypeError or ValueError."""
        flags = value.get("flags") or {}
        texts = (value["id"], value["name"], value["overrides_tag"])
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("id, name and overrides_tag are text")
        if not all(isinstance(state, bool) for state in flags.values()):
            raise TypeError("flags are true or false")
        return cls(
            id=value["id"],
            name=value["name"],
            overrides_tag=value["overrides_tag"],
            parent_tag=value.get("parent_tag"),
            flags=flags,
            created_at=datetime.fromisoformat(value["created_at"]),
        )


_current: ContextVar[ExperimentContext | None] = ContextVar("burnish_experiment", default=None)


def current_experiment() -> ExperimentContext | None:
    """The experiment that the calling code runs under; None outside of one.

    It holds in async functions, in plain functions that Burnish runs in threads, and in tasks that
    are started from either.
    """
    return _current.get()


@contextlib.contextmanager
def experiment_scope(experiment: ExperimentContext | None) -> Iterator[None]:
    """Within, `current_experiment()` is this one."""
    token = _current.set(experiment)
    try:
        yield
    finally:
        _current.reset(token)
