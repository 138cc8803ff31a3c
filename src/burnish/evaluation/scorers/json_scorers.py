"""JSON scorers: a field of the output by its path, or the output against a schema."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from burnish.domain import AgentOutput, Item, Json, Score
from burnish.evaluation.scorers.comparison import (
    TextRule,
    alternatives,
    as_text,
    same_value,
    shown,
)
from burnish.evaluation.scorers.fields import (
    DEFAULT_FIELD,
    FieldComparison,
    bad_setting,
    error_score,
    fingerprint_of,
    require_text,
)
from burnish.evaluation.scorers.json_values import (
    NotJsonError,
    json_of,
    load_schema,
    schema_validator,
)
from burnish.evaluation.scorers.numeric import tolerance_of

_REPORTED_ERRORS = 5
_STEP = re.compile(
    r"\.?(?P<key>[^.\[\]]+)|\[(?P<index>-?\d+)\]"
    r"|\[\"(?P<double>[^\"]*)\"\]|\['(?P<single>[^']*)'\]"
)


class JsonSchema:
    """1 when the output is JSON that the schema allows, else 0 with what is wrong and where."""

    instant: ClassVar[bool] = True
    fields_needed: tuple[str, ...] = ()

    def __init__(
        self,
        schema: Mapping[str, Any] | str | Path,
        *,
        repair: bool = False,
        name: str = "json_schema",
    ) -> None:
        self.name = require_text("json_schema", "name", name)
        self.schema = load_schema(schema)
        self._validator = schema_validator(self.schema)
        self._repair = repair
        self.fingerprint: str | None = fingerprint_of(
            "json_schema", 1, schema=self.schema, repair=repair
        )

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """The verdict on one output."""
        try:
            value = json_of(output, repair=self._repair)
        except NotJsonError as error:
            reason = f"the output is not JSON: {error}; it is {shown(output.text)}"
            return Score(0.0, reason, name=self.name)
        try:
            errors = list(islice(self._validator.iter_errors(value), _REPORTED_ERRORS))
        except Exception as error:  # noqa: BLE001 - a broken reference, too deep nesting
            return error_score(self.name, f"the schema cannot be applied: {error}")
        if not errors:
            return Score(1.0, name=self.name)
        reason = "; ".join(f"{error.json_path}: {error.message[:300]}" for error in errors)
        return Score(0.0, reason, name=self.name)


class JsonField(FieldComparison):
    """1 when the value at a path of the output's JSON is the item's field, else 0.

    A path reads `answer.items[0].total`; a key with dots is `["a.b"]`. Numbers may be off by the
    tolerance, and agree with numbers that the dataset holds as text (CSV).
    """

    accepts_null: ClassVar[bool] = True

    def __init__(
        self,
        path: str,
        field: str | None = None,
        *,
        absolute: float = 0.0,
        relative: float = 0.0,
        ignore_case: bool = False,
        strip: bool = True,
        repair: bool = False,
        name: str = "json_field",
    ) -> None:
        super().__init__("json_field", DEFAULT_FIELD if field is None else field, name)
        self._path = path
        self._steps = path_steps(path)
        self._rule = TextRule(ignore_case=ignore_case, strip=strip)
        self._tolerance = tolerance_of("json_field", absolute, relative)
        self._repair = repair
        self.fingerprint = fingerprint_of(
            "json_field",
            1,
            path=path,
            field=self.field,
            absolute=absolute,
            relative=relative,
            ignore_case=ignore_case,
            strip=strip,
            repair=repair,
        )

    def _compare(self, output: AgentOutput, expected: Json) -> Score:
        try:
            got = value_at(json_of(output, repair=self._repair), self._steps)
        except NotJsonError as error:
            reason = f"the output is not JSON: {error}; it is {shown(output.text)}"
            return Score(0.0, reason, name=self.name)
        except NothingThereError as error:
            reason = f"the output has nothing at {self._path}: {error}"
            return Score(0.0, reason, name=self.name)
        if self._same(got, expected):
            return self._right
        reason = f"at {self._path}: expected {shown(expected)}, got {shown(got)}"
        return Score(0.0, reason, name=self.name)

    def _same(self, got: Json, expected: Json) -> bool:
        if same_value(got, expected, self._rule, self._tolerance):
            return True
        if isinstance(expected, str) and not isinstance(got, (str, list, Mapping)):
            return self._agrees_with_text(got, expected.strip())
        if isinstance(expected, list) and not isinstance(got, list):
            return any(self._same(got, one) for one in alternatives(expected))
        return False

    def _agrees_with_text(self, got: Json, expected: str) -> bool:
        if isinstance(got, (int, float)) and not isinstance(got, bool):
            try:
                return self._tolerance.covers(got, float(expected))
            except ValueError:
                return False
        return as_text(got) == expected.casefold()


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
