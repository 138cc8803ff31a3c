"""Paths into JSON values, such as `answer.items[0].total`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from burnish.domain import Json
from burnish.evaluation.scorers.comparison import shown
from burnish.evaluation.scorers.fields import bad_setting, require_text

_STEP = re.compile(
    r"\.?(?P<key>[^.\[\]]+)|\[(?P<index>-?\d+)\]"
    r"|\[\"(?P<double>[^\"]*)\"\]|\['(?P<single>[^']*)'\]"
)


class NothingThereError(LookupError):
    """A path leads nowhere in a value; the message says what there is instead."""


def path_steps(path: str) -> tuple[str | int, ...]:
    """A path's keys and positions, in order."""
    require_text("json_field", "path", path)
    rest = path.removeprefix("$").removeprefix(".") if path.startswith("$") else path
    steps: list[str | int] = []
    position = 0
    while position < len(rest):
        step = _STEP.match(rest, position)
        if step is None:
            why = f"{path!r} cannot be read from {rest[position:]!r} on"
            raise bad_setting("json_field", "path", why, "write it like answer.items[0].total")
        key, index, quoted = step["key"], step["index"], step["double"] or step["single"]
        steps.append(int(index) if index is not None else key or quoted or "")
        position = step.end()
    return tuple(steps)


def value_at(value: Json, steps: tuple[str | int, ...]) -> Json:
    """The value at the end of a path; NothingThereError if there is none."""
    inner: Any = value
    for step in steps:
        if isinstance(step, str) and isinstance(inner, Mapping):
            if step not in inner:
                raise NothingThereError(
                    f"no key {step!r} among {', '.join(map(repr, inner)) or 'none'}"
                )
        elif isinstance(step, int) and isinstance(inner, (list, tuple)):
            if not -len(inner) <= step < len(inner):
                raise NothingThereError(f"no position {step} in a list of {len(inner)}")
        else:
            raise NothingThereError(f"cannot go to {step!r} in {shown(inner)}")
        inner = inner[step]
    return inner  # type: ignore[no-any-return]
