"""What an optimizer may change, and within which bounds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.domain.errors import UsageError
from burnish.domain.json_values import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSpace:
    """The values one parameter may take: a list of choices, or a range of numbers."""

    choices: tuple[Json, ...] = ()
    low: float | None = None
    high: float | None = None

    def allows(self, value: Json) -> bool:
        """Whether the value lies in the space."""
        if self.choices:
            return value in self.choices
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def describe(self) -> str:
        """The space in words, for a rejection's message."""
        if self.choices:
            return "one of " + ", ".join(repr(choice) for choice in self.choices)
        return f"a number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpace:
    """Which sections may change, how long they may grow, and what parameters may be tried.

    `sections` None means every section of the baseline. Parameters that are not named here must stay
    as they are in the baseline; `label_words` is the agent's own and always free. With
    `own_placeholders` each section is filled from fields of its own: it keeps its placeholders, and
    those of another section mean nothing in it.
    """

    sections: tuple[str, ...] | None = None
    locked: tuple[str, ...] = ()
    parameters: Mapping[str, ParameterSpace] = field(default_factory=dict)
    max_section_chars: int = 20_000
    max_examples: int = 32
    own_placeholders: bool = False

    def may_change(self, path: str) -> bool:
        """Whether a section is free."""
        return path not in self.locked and (self.sections is None or path in self.sections)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> SearchSpace:
        """From its JSON form."""
        known = (
            "sections",
            "locked",
            "parameters",
            "max_section_chars",
            "max_examples",
            "own_placeholders",
        )
        for key in value:
            if key not in known:
                raise _bad(f"it has no field {key!r}; known are {', '.join(known)}")
        sections = value.get("sections")
        parameters = value.get("parameters") or {}
        return cls(
            sections=None if sections is None else tuple(sections),
            locked=tuple(value.get("locked") or ()),
            parameters={name: _parameter(name, one) for name, one in parameters.items()},
            max_section_chars=int(value.get("max_section_chars", 20_000)),
            max_examples=int(value.get("max_examples", 32)),
            own_placeholders=bool(value.get("own_placeholders", False)),
        )

    def to_json(self) -> dict[str, Any]:
        """The JSON form that `of` reads."""
        return {
            "sections": None if self.sections is None else list(self.sections),
            "locked": list(self.locked),
            "parameters": {
                name: list(one.choices) if one.choices else {"low": one.low, "high": one.high}
                for name, one in self.parameters.items()
            },
            "max_section_chars": self.max_section_chars,
            "max_examples": self.max_examples,
            # Only where it is on: without it the document is that of before, and so equal.
            **({"own_placeholders": True} if self.own_placeholders else {}),
        }


def _parameter(name: str, value: Any) -> ParameterSpace:
    if isinstance(value, (list, tuple)) and value:
        return ParameterSpace(choices=tuple(value))
    if isinstance(value, Mapping) and set(value) <= {"low", "high"} and value:
        return ParameterSpace(low=value.get("low"), high=value.get("high"))
    raise _bad(f"{name!r} needs a list of choices or {{low, high}}, not {value!r}")


def _bad(why: str) -> UsageError:
    return UsageError(
        what="the search space cannot be used",
        why=why,
        fix='write {"sections": ["system"], "parameters": {"temperature": {"low": 0, "high": 1}}}',
        code="invalid_space",
    )
