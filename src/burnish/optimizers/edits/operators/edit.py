"""One concrete edit: a named, pure change of a configuration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from burnish.domain import Configuration


class Stage(IntEnum):
    """The fixed order in which the edits of a set are applied, whatever order they were chosen in."""

    LINES = 10
    SHORTEN = 20
    SETTINGS = 30
    TASK = 40
    OPTIONS = 45
    DEFINITIONS = 50
    INSTRUCTIONS = 55
    FORMAT = 60
    OPENING = 65
    FRAME = 70
    CUE = 75
    LEAD = 80
    WORDS = 85
    ORDER = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class Edit:
    """A change with a stable name, `family:kind` or `family:kind:variant`.

    Two edits of one `group` exclude each other. `apply` returns None where the edit changes nothing
    or cannot be made. `promise` is the gain that is expected before anything was measured.
    """

    name: str
    group: str
    stage: Stage
    says: str
    apply: Callable[[Configuration], Configuration | None]
    promise: float = 0.0

    @property
    def family(self) -> str:
        """What comes before the first colon."""
        return self.name.split(":", 1)[0]


def section_edit(
    path: str, change: Callable[[str], str | None]
) -> Callable[[Configuration], Configuration | None]:
    """An `apply` that changes the text of one section."""

    def apply(configuration: Configuration) -> Configuration | None:
        before = configuration.sections[path]
        after = change(before)
        if after is None or after == before:
            return None
        return configuration.with_sections({path: after})

    return apply


def with_parameter(configuration: Configuration, name: str, value: object) -> Configuration:
    """The same configuration with one parameter set."""
    parameters = {**configuration.parameters, name: value}
    return Configuration.of({**configuration.to_json(), "parameters": parameters})
