"""Pattern scorers: something that the output's text contains or matches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from burnish.domain import AgentOutput, Item, Json, Score
from burnish.evaluation.scorers.comparison import TextRule, alternatives, as_text, shown
from burnish.evaluation.scorers.fields import (
    MissingFieldError,
    bad_setting,
    error_score,
    fingerprint_of,
    read_filled,
    require_text,
)

_FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE, "a": re.ASCII}


class Contains:
    """1 when the output contains the text, or the item's field. Of several, `all` or `any`."""

    instant: ClassVar[bool] = True

    def __init__(
        self,
        field: str | None = None,
        *,
        text: str | Sequence[str] | None = None,
        match: str = "all",
        ignore_case: bool = False,
        name: str = "contains",
    ) -> None:
        if (field is None) == (text is None):
            why = "it needs exactly one of `field` and `text`"
            raise bad_setting("contains", "field", why, "give `field` or `text`")
        if match not in ("all", "any"):
            raise bad_setting("contains", "match", f"{match!r} is neither 'all' nor 'any'")
        self.name = require_text("contains", "name", name)
        self.field = None if field is None else require_text("contains", "field", field)
        self.fields_needed: tuple[str, ...] = () if field is None else (field,)
        self._rule = TextRule(ignore_case=ignore_case, strip=False)
        self._texts = None if text is None else self._needles(text)
        if self._texts is not None and not all(self._texts):
            raise bad_setting("contains", "text", "it is empty, and every output contains that")
        self._all = match == "all"
        self.fingerprint: str | None = fingerprint_of(
            "contains", 1, field=field, text=self._texts, match=match, ignore_case=ignore_case
        )

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """The verdict on one output."""
        try:
            needles = self._texts or self._from_item(item)
        except MissingFieldError as error:
            return error_score(self.name, str(error))
        got = self._rule.fold(output.text)
        absent = [one for one in needles if self._rule.fold(one) not in got]
        if not absent or (not self._all and len(absent) < len(needles)):
            return Score(1.0, name=self.name)
        listed = ", ".join(map(shown, absent))
        reason = f"the output does not contain {listed}; it is {shown(output.text)}"
        return Score(0.0, reason, name=self.name)

    def _from_item(self, item: Item) -> list[str]:
        assert self.field is not None
        needles = self._needles(read_filled(item, self.field))
        if not all(needles) or not needles:
            raise MissingFieldError(f"the item's field {self.field!r} holds nothing to look for")
        return needles

    @staticmethod
    def _needles(value: Json) -> list[str]:
        return [as_text(one) for one in alternatives(value)]


class Regex:
    """1 when a pattern is found in the output.

    `pattern` alone: it must be found. `field` alone: the item's field holds the pattern. Both:
    what the pattern captures (its first group, or all of it) must be the item's field.
    """

    instant: ClassVar[bool] = True

    def __init__(
        self,
        pattern: str | None = None,
        *,
        field: str | None = None,
        flags: str | int = "",
        name: str = "regex",
    ) -> None:
        if pattern is None and field is None:
            raise bad_setting("regex", "pattern", "it is missing", "give `pattern` or `field`")
        self.name = require_text("regex", "name", name)
        self.field = None if field is None else require_text("regex", "field", field)
        self.fields_needed: tuple[str, ...] = () if field is None else (field,)
        self._flags = _flags(flags)
        self._pattern = None if pattern is None else self._compiled(pattern)
        self.fingerprint: str | None = fingerprint_of(
            "regex", 1, pattern=pattern, field=field, flags=self._flags
        )

    @property
    def compares(self) -> bool:
        """Whether the field holds the right answer, rather than a pattern or nothing."""
        return self._pattern is not None and self.field is not None

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """The verdict on one output."""
        try:
            expected = None if self.field is None else read_filled(item, self.field)
            pattern = self._pattern or re.compile(as_text(expected), self._flags)
        except MissingFieldError as error:
            return error_score(self.name, str(error))
        except re.error as error:
            why = f"the item's field {self.field!r} is not a regular expression: {error}"
            return error_score(self.name, why)
        found = pattern.search(output.text)
        if found is None:
            reason = f"{shown(pattern.pattern)} is not found in {shown(output.text)}"
            return Score(0.0, reason, name=self.name)
        if not self.compares or _captured(found, expected):
            return Score(1.0, name=self.name)
        captured = shown(_capture(found))
        return Score(0.0, f"expected {shown(expected)}, found {captured}", name=self.name)

    def _compiled(self, pattern: str) -> re.Pattern[str]:
        require_text("regex", "pattern", pattern)
        try:
            return re.compile(pattern, self._flags)
        except re.error as error:
            place = "" if error.pos is None else f" at position {error.pos}"
            why = f"{pattern!r} is not a regular expression: {error.msg}{place}"
            raise bad_setting("regex", "pattern", why) from error


def _capture(found: re.Match[str]) -> str:
    return (found.group(1) or "") if found.re.groups else found.group()


def _captured(found: re.Match[str], expected: Json) -> bool:
    rule = TextRule(ignore_case=bool(found.re.flags & re.IGNORECASE))
    got = rule.fold(_capture(found))
    return any(got == rule.fold(as_text(one)) for one in alternatives(expected))


def _flags(flags: str | int) -> int:
    if isinstance(flags, int):
        return int(flags)
    unknown = [letter for letter in flags if letter.lower() not in _FLAGS]
    if unknown:
        why = f"{unknown[0]!r} is not a flag"
        raise bad_setting("regex", "flags", why, f"use letters of {''.join(_FLAGS)!r}")
    combined = 0
    for letter in flags:
        combined |= _FLAGS[letter.lower()]
    return combined
