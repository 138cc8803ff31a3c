"""Expected calls: tool calls as a dataset or a setting writes them, and when a call is one of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import Json
from burnish.domain.experiments.transcripts import CallMade
from burnish.evaluation.scorers.comparison import (
    TextRule,
    Tolerance,
    alternatives,
    same_value,
    shown,
)

CALL_FORM = 'a tool\'s name, {"name": …, "arguments": {…}}, or a list of them'


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call as a user expects or forbids it; without arguments any will do."""

    name: str
    arguments: Mapping[str, Json] | None = None


def expected_calls(value: Json) -> tuple[ExpectedCall, ...]:
    """Calls from a dataset's cell or a setting; ValueError says what they cannot be."""
    if isinstance(value, str) and value.strip()[:1] in ("[", "{", '"'):
        value = json.loads(value)  # A cell of a CSV file.
    if value in ("", None):
        return ()
    listed = value if isinstance(value, (list, tuple)) else [value]
    return tuple(expected_call(one) for one in listed)


def expected_call(value: Any) -> ExpectedCall:
    """One call; ValueError says what it cannot be."""
    if isinstance(value, str) and value:
        return ExpectedCall(value)
    name = value.get("name") if isinstance(value, Mapping) else None
    arguments = value.get("arguments") if isinstance(value, Mapping) else None
    if isinstance(arguments, str):
        arguments = json.loads(arguments)
    if not isinstance(name, str) or not name:
        raise ValueError(f"{shown(value)} is not {CALL_FORM}")
    if arguments is not None and not isinstance(arguments, Mapping):
        raise ValueError(f"the arguments of {name} are {shown(arguments)}, not an object")
    return ExpectedCall(name, arguments)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentRule:
    """When the arguments of a call count as the expected ones."""

    exact: bool = False
    text: TextRule = field(default_factory=TextRule)
    tolerance: Tolerance = field(default_factory=Tolerance)

    def problems(self, call: CallMade, expected: ExpectedCall) -> list[str]:
        """What is wrong with a call, each as words that follow `was called`."""
        if expected.arguments is None:
            return []
        if not isinstance(call.arguments, Mapping):
            return [f"with {shown(call.arguments)}, which is no object of arguments"]
        return self._object(call.arguments, expected.arguments, "")

    def _object(self, got: Mapping[str, Json], wanted: Mapping[str, Json], path: str) -> list[str]:
        found: list[str] = []
        for key, value in wanted.items():
            name = f"{path}{key}"
            if key not in got:
                found.append(f"without {name}, expected {shown(value)}")
            elif isinstance(value, Mapping) and isinstance(inner := got[key], Mapping):
                found += self._object(inner, value, f"{name}.")
            elif not self._same(got[key], value):
                found.append(f"with {name}={shown(got[key])}, expected {shown(value)}")
        if self.exact:
            more = [key for key in got if key not in wanted]
            found += [f"with {path}{key}={shown(got[key])}, which is not expected" for key in more]
        return found

    def _same(self, got: Json, wanted: Json) -> bool:
        if same_value(got, wanted, self.text, self.tolerance):
            return True
        if isinstance(wanted, (list, tuple)) and not isinstance(got, (list, tuple)):
            return any(
                same_value(got, one, self.text, self.tolerance) for one in alternatives(wanted)
            )
        return False
