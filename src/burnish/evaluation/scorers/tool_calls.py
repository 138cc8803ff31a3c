"""Tool-call scorers: which tools a run called, with which arguments and in which order."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias

from burnish.domain import Json, Score
from burnish.domain.experiments.transcripts import CallMade, Transcript, call_text
from burnish.evaluation.scorers.comparison import TextRule
from burnish.evaluation.scorers.expected_calls import (
    CALL_FORM,
    ArgumentRule,
    ExpectedCall,
    expected_call,
    expected_calls,
)
from burnish.evaluation.scorers.fields import (
    MissingFieldError,
    bad_setting,
    fingerprint_of,
)
from burnish.evaluation.scorers.json_values import load_schema, schema_validator
from burnish.evaluation.scorers.numeric import tolerance_of
from burnish.evaluation.scorers.transcripts import TranscriptScorer

DEFAULT_CALLS = "expected_calls"
# Kinds that read it unless their settings say what is expected.
READS_CALLS = ("tool_called", "tool_arguments", "tool_order")
_REPORTED = 3
Given: TypeAlias = "str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]]"


class _CallScorer(TranscriptScorer):
    """Compares the calls of a run with those that a setting or the item's field names."""

    def __init__(
        self, kind: str, name: str, field: str | None, given: Given | None, setting: str
    ) -> None:
        if given is not None and field is not None:
            raise bad_setting(kind, "field", f"{setting!r} is given as well", "remove one of them")
        super().__init__(kind, name, DEFAULT_CALLS if given is None and field is None else field)
        self._fixed: tuple[ExpectedCall, ...] | None = None
        if given is not None:
            try:
                self._fixed = expected_calls(given)
            except ValueError as error:
                raise bad_setting(kind, setting, str(error), f"write {CALL_FORM}") from error
            if not self._fixed:
                raise bad_setting(kind, setting, "it is empty", f"write {CALL_FORM}")

    def _judge(self, transcript: Transcript, given: Json) -> Score:
        try:
            expected = self._fixed if self._fixed is not None else self._read(given)
        except ValueError as error:
            why = f"the item's field {self.field!r} cannot be read: {error}"
            raise MissingFieldError(why) from error
        return self._compare(transcript, expected)

    def _read(self, given: Json) -> tuple[ExpectedCall, ...]:
        return expected_calls(given)

    def _compare(self, transcript: Transcript, expected: Sequence[ExpectedCall]) -> Score:
        raise NotImplementedError


class ToolCalled(_CallScorer):
    """The share of the expected tools that were called, whatever their arguments.

    Expected are `tools`, the same for all items, or the item's `field`: a name, or a list of names
    or of calls.
    """

    def __init__(
        self,
        tools: str | Sequence[str] | None = None,
        *,
        field: str | None = None,
        name: str = "tool_called",
    ) -> None:
        super().__init__("tool_called", name, field, tools, "tools")
        self.fingerprint = fingerprint_of(
            "tool_called", 1, tools=_stored(self._fixed), field=self.field
        )

    def _compare(self, transcript: Transcript, expected: Sequence[ExpectedCall]) -> Score:
        called = {one.name for one in transcript.calls}
        wanted = list(dict.fromkeys(one.name for one in expected))
        missing = [one for one in wanted if one not in called]
        if not missing:
            return self._right()
        reason = f"the run ended without a call of {' or '.join(missing)}; {_made(transcript)}"
        return self._wrong(1 - len(missing) / len(wanted), reason, transcript.steps or None)


class ToolNotCalled(_CallScorer):
    """1 when no forbidden call was made, else 0.

    Forbidden are `tools`, or the item's `field`: names, in which * stands for anything, or calls with
    arguments, which forbid just calls with these.
    """

    def __init__(
        self,
        tools: Given | None = None,
        *,
        field: str | None = None,
        name: str = "tool_not_called",
    ) -> None:
        if tools is None and field is None:
            raise bad_setting("tool_not_called", "tools", "it is missing", "give tools or field")
        super().__init__("tool_not_called", name, field, tools, "tools")
        self._rule = ArgumentRule()
        self.fingerprint = fingerprint_of(
            "tool_not_called", 1, tools=_stored(self._fixed), field=self.field
        )

    def _compare(self, transcript: Transcript, expected: Sequence[ExpectedCall]) -> Score:
        for call in transcript.calls:
            for one in expected:
                if fnmatchcase(call.name, one.name) and not self._rule.problems(call, one):
                    made = call_text(call.name, call.arguments)[:300]
                    return self._wrong(0.0, f"{made} was called, which is forbidden", call.step)
        return self._right()


class ToolArguments(_CallScorer):
    """The share of the expected calls that were made with the right arguments.

    Expected are `calls`, or the item's `field`: objects with `name` and `arguments`; with `tool` it
    holds just the arguments of that tool's call. Arguments that are not expected may be there too,
    unless `exact`. Numbers may be off by the tolerance; a list may hold alternatives. With a `schema`
    every call of `tool` (of any tool without one) has to fit it, and nothing else is compared.
    """

    def __init__(
        self,
        calls: Given | None = None,
        *,
        field: str | None = None,
        tool: str | None = None,
        schema: Mapping[str, Any] | str | Path | None = None,
        exact: bool = False,
        absolute: float = 0.0,
        relative: float = 0.0,
        ignore_case: bool = False,
        name: str = "tool_arguments",
    ) -> None:
        super().__init__("tool_arguments", name, field, calls, "calls")
        if schema is not None and (calls is not None or field is not None):
            why = "calls are compared with a schema or with expected calls, not both"
            raise bad_setting("tool_arguments", "schema", why, "use two scorers")
        self._tool = tool
        self._rule = ArgumentRule(
            exact=exact,
            text=TextRule(ignore_case=ignore_case),
            tolerance=tolerance_of("tool_arguments", absolute, relative),
        )
        self._schema = None if schema is None else schema_validator(load_schema(schema))
        if schema is not None:
            self.field, self.fields_needed, self._fixed = None, (), ()
        self.fingerprint = fingerprint_of(
            "tool_arguments",
            1,
            calls=_stored(self._fixed),
            field=self.field,
            tool=tool,
            schema=None if self._schema is None else self._schema.schema,
            exact=exact,
            absolute=absolute,
            relative=relative,
            ignore_case=ignore_case,
        )

    def _read(self, given: Json) -> tuple[ExpectedCall, ...]:
        if self._tool is None:
            return expected_calls(given)
        if isinstance(given, str):
            given = json.loads(given)
        listed = given if isinstance(given, (list, tuple)) else [given]
        return tuple(expected_call({"name": self._tool, "arguments": one}) for one in listed)

    def _compare(self, transcript: Transcript, expected: Sequence[ExpectedCall]) -> Score:
        if self._schema is not None:
            return self._fits(transcript)
        faults = self._faults(transcript, expected)
        if not faults:
            return self._right()
        told = sorted(faults, key=lambda fault: fault[0])
        reason = "; ".join(
            text if place == told[0][0] else f"step {place}: {text}"
            for place, text in told[:_REPORTED]
        )
        return self._wrong(1 - len(faults) / len(expected), reason, told[0][0] or None)

    def _faults(
        self, transcript: Transcript, expected: Sequence[ExpectedCall]
    ) -> list[tuple[int, str]]:
        """What is wrong with each expected call that was not made, and at which step."""
        free = list(transcript.calls)
        open_: list[ExpectedCall] = []
        for one in expected:
            made = next((call for call in free if self._is(call, one)), None)
            if made is None:
                open_.append(one)
            else:
                free.remove(made)
        faults: list[tuple[int, str]] = []
        for one in open_:
            near = [call for call in free if call.name == one.name]
            if not near:
                reason = f"the run ended without a call of {call_text(one.name, one.arguments)}"
                faults.append((transcript.steps, f"{reason}; {_made(transcript)}"))
                continue
            call = min(near, key=lambda call: len(self._rule.problems(call, one)))
            free.remove(call)
            wrong = ", ".join(self._rule.problems(call, one)[:_REPORTED])
            faults.append((call.step, f"{one.name} was called {wrong}"))
        return faults

    def _is(self, call: CallMade, one: ExpectedCall) -> bool:
        return call.name == one.name and not self._rule.problems(call, one)

    def _fits(self, transcript: Transcript) -> Score:
        assert self._schema is not None
        calls = [one for one in transcript.calls if self._tool in (None, one.name)]
        if not calls and self._tool is not None:
            reason = f"the run ended without a call of {self._tool}; {_made(transcript)}"
            return self._wrong(0.0, reason, transcript.steps or None)
        faults: list[tuple[int, str]] = []
        for call in calls:
            errors = list(islice(self._schema.iter_errors(call.arguments), _REPORTED))
            if errors:
                told = "; ".join(f"{one.json_path}: {one.message[:300]}" for one in errors)
                faults.append((call.step, f"the arguments of {call.name} do not fit: {told}"))
        if not faults:
            return self._right()
        return self._wrong(1 - len(faults) / len(calls), faults[0][1], faults[0][0])


class ToolOrder(_CallScorer):
    """The share of the expected calls that were made in their order; others may stand between.

    Expected are `calls`, or the item's `field`: names, or calls with arguments, which then have to be
    there. With `strict` there may be no other calls. Calls of one step come in the order in which
    the assistant lists them.
    """

    def __init__(
        self,
        calls: Given | None = None,
        *,
        field: str | None = None,
        strict: bool = False,
        name: str = "tool_order",
    ) -> None:
        super().__init__("tool_order", name, field, calls, "calls")
        self._strict = strict
        self._rule = ArgumentRule()
        self.fingerprint = fingerprint_of(
            "tool_order", 1, calls=_stored(self._fixed), field=self.field, strict=strict
        )

    def _compare(self, transcript: Transcript, expected: Sequence[ExpectedCall]) -> Score:
        calls = transcript.calls
        common = self._in_order(calls, expected)
        whole = max(len(expected), len(calls)) if self._strict else len(expected)
        if common == whole:
            return self._right()
        reason, step = self._first_fault(transcript, expected)
        return self._wrong(common / whole, reason, step)

    def _in_order(self, calls: Sequence[CallMade], expected: Sequence[ExpectedCall]) -> int:
        """How many of the expected calls were made in their order at most."""
        row = [0] * (len(expected) + 1)
        for call in calls:
            before = row[:]
            for place, one in enumerate(expected, start=1):
                taken = before[place - 1] + 1 if self._is(call, one) else 0
                row[place] = max(taken, before[place], row[place - 1])
        return row[-1]

    def _first_fault(
        self, transcript: Transcript, expected: Sequence[ExpectedCall]
    ) -> tuple[str, int | None]:
        calls, place, last = transcript.calls, 0, ""
        order = f"expected in this order: {', '.join(one.name for one in expected) or 'no call'}"
        for one in expected:
            found = next((i for i in range(place, len(calls)) if self._is(calls[i], one)), None)
            if found is None:
                early = next((call for call in calls[:place] if self._is(call, one)), None)
                if early is not None:
                    return f"{one.name} was called before {last}; {order}", early.step
                after = f" after {last}" if last else ""
                reason = (
                    f"the run ended without a call of {call_text(one.name, one.arguments)}{after}"
                )
                return f"{reason}; {order}", transcript.steps or None
            if self._strict and found > place:
                break
            place, last = found + 1, one.name
        extra = calls[place]  # Only a strict order comes here.
        return f"{extra.name} was called; {order}, and nothing else", extra.step

    def _is(self, call: CallMade, one: ExpectedCall) -> bool:
        return call.name == one.name and not self._rule.problems(call, one)


def _made(transcript: Transcript) -> str:
    """The calls that there were, for a reason."""
    if not transcript.calls:
        return "it called no tool"
    listed = [f"{one.name} (step {one.step})" for one in transcript.calls[:8]]
    more = len(transcript.calls) - len(listed)
    return "it called " + ", ".join(listed) + (f" and {more} more" if more else "")


def _stored(calls: Sequence[ExpectedCall] | None) -> Json:
    if calls is None:
        return None
    return [[one.name, None if one.arguments is None else dict(one.arguments)] for one in calls]
