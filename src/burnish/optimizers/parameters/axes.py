"""Axes of a search over parameters and listed texts: points as configurations, and back."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from burnish.domain import Configuration, Json, ParameterSpace, RunContext, UsageError
from burnish.optimizers.shared.acceptance import is_acceptable, with_text
from burnish.optimizers.shared.facts import RunFacts
from burnish.support.number_checks import bad_setting

# A point: the place of an option, or the number itself, by the name of the axis.
Point = Mapping[str, float]
_DIGITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """One thing that varies: `options` to choose from, or numbers from `low` to `high`."""

    kind: str
    name: str
    options: tuple[Json, ...] = ()
    low: float = 0.0
    high: float = 0.0
    whole: bool = False

    @property
    def key(self) -> str:
        """Unique among the axes."""
        return f"{self.kind}:{self.name}"

    @property
    def size(self) -> int | None:
        """How many values there are; None when they are without number."""
        if self.options:
            return len(self.options)
        return int(self.high - self.low) + 1 if self.whole else None

    def value(self, place: float) -> Json:
        """What stands at a place."""
        if self.options:
            return self.options[int(place)]
        if self.whole:
            return round(place)
        return min(max(round(place, _DIGITS), self.low), self.high)

    def place(self, value: Json) -> float | None:
        """Where a value stands; None when it is not on this axis."""
        if self.options:
            return next((n for n, one in enumerate(self.options) if _same(one, value)), None)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return None
        on_it = self.low <= value <= self.high and (not self.whole or value == int(value))
        return value if on_it else None

    def places(self) -> list[float]:
        """All places of an axis that can be counted."""
        return [n if self.options else self.low + n for n in range(self.size or 0)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """All that varies. The baseline's own values and texts are among the options."""

    baseline: Configuration
    axes: tuple[Axis, ...]

    @classmethod
    def of(cls, facts: RunFacts, texts: Mapping[str, Sequence[str]]) -> Axes:
        """The declared parameters that are bounded, and the listed texts."""
        found = [_section_axis(facts, path, texts[path]) for path in sorted(texts)]
        found += [_parameter_axis(facts, name) for name in sorted(facts.space.parameters)]
        return cls(baseline=facts.baseline, axes=tuple(axis for axis in found if axis is not None))

    @property
    def size(self) -> int | None:
        """How many points there are; None when they are without number."""
        sizes = [axis.size for axis in self.axes]
        return None if None in sizes else prod(size or 0 for size in sizes)

    def configuration(self, point: Point) -> Configuration:
        """The baseline at a point."""
        value = self.baseline.to_json()
        for axis in self.axes:
            table = value["sections" if axis.kind == "section" else "parameters"]
            table[axis.name] = axis.value(point[axis.key])
        return Configuration.of(value)

    def point(self, configuration: Configuration) -> dict[str, float] | None:
        """Where a configuration stands; None when it is off an axis."""
        found: dict[str, float] = {}
        for axis in self.axes:
            table: Mapping[str, Json] = (
                configuration.sections if axis.kind == "section" else configuration.parameters
            )
            place = axis.place(table[axis.name]) if axis.name in table else None
            if place is None:
                return None
            found[axis.key] = place
        return found

    def every_point(self) -> Iterator[Point]:
        """All points of a finite search, the last axis fastest."""
        for places in product(*(axis.places() for axis in self.axes)):
            yield dict(zip((axis.key for axis in self.axes), places, strict=True))

    def describe(self, point: Point) -> str:
        """A point in words."""
        said = []
        for axis in self.axes:
            if axis.kind == "parameter":
                said.append(f"{axis.name} = {axis.value(point[axis.key])!r:.60}")
            elif point[axis.key]:
                said.append(f"text {int(point[axis.key])} of {axis.name}")
        return f"{', '.join(said) or 'the texts of the baseline'}."


def _section_axis(facts: RunFacts, path: str, texts: Sequence[str]) -> Axis | None:
    """The baseline's text and those that would be accepted in its place."""
    own = facts.baseline.sections[path]
    usable = [
        made.sections[path]
        for text in texts
        if (made := with_text(facts.baseline, path, text)) is not None
        and is_acceptable(made, baseline=facts.baseline, space=facts.space)
    ]
    options = tuple(dict.fromkeys((own, *usable)))
    return Axis(kind="section", name=path, options=options) if len(options) > 1 else None


def _parameter_axis(facts: RunFacts, name: str) -> Axis | None:
    space, own = facts.space.parameters[name], facts.baseline.parameters.get(name)
    low, high = space.low, space.high
    if low is not None and high is not None and not space.choices and low < high:
        whole = are_whole(low, high)
        return Axis(kind="parameter", name=name, low=low, high=high, whole=whole)
    ends: list[Json] = [end for end in (low, high) if end is not None]
    options = list(space.choices) or list(dict.fromkeys(ends))
    if name in facts.baseline.parameters and not any(_same(own, one) for one in options):
        options.insert(0, own)
    return Axis(kind="parameter", name=name, options=tuple(options)) if len(options) > 1 else None


def _same(one: Json, other: Json) -> bool:
    """Equal, and True is not 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def values_of(space: ParameterSpace, *, steps: int) -> list[Json]:
    """All choices, or `steps` values evenly from the low to the high end; half-open ends add one."""
    if space.choices:
        return list(space.choices)
    low, high = space.low, space.high
    if low is None or high is None:
        return [end for end in (low, high) if end is not None]
    if steps < 2 or low == high:
        return [low]
    whole = are_whole(low, high)
    found: list[Json] = []
    for step in range(steps):
        value = low + (high - low) * step / (steps - 1)
        tidy = min(max(round(value) if whole else round(value, 10), low), high)
        if tidy not in found:
            found.append(tidy)
    return found


def is_bounded(space: ParameterSpace) -> bool:
    """Whether anything is known of its values; without choices and ends nothing can be drawn."""
    return bool(space.choices) or space.low is not None or space.high is not None


def draw_value(space: ParameterSpace, generator: random.Random) -> Json:
    """One value at random of a bounded space; a half-open range gives its end."""
    if space.choices:
        return generator.choice(space.choices)
    low, high = space.low, space.high
    if low is None or high is None:
        return next(end for end in (low, high) if end is not None)
    if are_whole(low, high):
        return generator.randint(int(low), int(high))
    return min(max(round(generator.uniform(low, high), 4), low), high)


def are_whole(low: float, high: float) -> bool:
    """Whether a range counts something: 1 to 64 does, a temperature from 0 to 2 does not."""
    written = isinstance(low, int) and isinstance(high, int)
    return written and (low >= 1 or high - low >= 8)


def checked_texts(
    optimizer: str, sections: Mapping[str, Sequence[str]]
) -> dict[str, tuple[str, ...]]:
    """The setting `sections`: lists of texts by section path."""
    if not isinstance(sections, Mapping):
        raise bad_setting(
            optimizer, "sections", f"{sections!r:.60} is not a table of lists of texts"
        )
    checked: dict[str, tuple[str, ...]] = {}
    for path, texts in sections.items():
        if isinstance(texts, str) or not all(isinstance(text, str) for text in texts):
            raise bad_setting(optimizer, "sections", f"{path!r} is not given a list of texts")
        checked[path] = tuple(texts)
    return checked


def require_free(
    optimizer: str, sections: Mapping[str, Sequence[str]], context: RunContext
) -> None:
    """Refuse texts for sections that are not there or not free."""
    for path in sections:
        if path not in context.baseline.sections or not context.space.may_change(path):
            known = [one for one in context.baseline.sections if context.space.may_change(one)]
            raise UsageError(
                what=f"the {optimizer} optimizer cannot change the section {path!r}",
                why="the baseline has no such section, or it is locked",
                fix=f"use one of {', '.join(sorted(known)) or 'none: all are locked'}",
                code="unknown_section",
            )
