"""Asserts of promptfoo as those of our scorer `asserts`; what needs code or a service is left."""

from __future__ import annotations

import contextlib
import csv
import json
import re
from collections.abc import Mapping
from typing import Any

from burnish.domain import AgentOutput, Json
from burnish.evaluation.scorers.assert_checks import (
    RUBRIC,
    SET,
    BadAssertError,
    Check,
    check_output,
    known_types,
    read_asserts,
)
from burnish.integrations.imports.files import (
    Beside,
    BrokenYamlError,
    CannotTakeError,
    is_code,
    parse_yaml,
)
from burnish.integrations.imports.project import Findings
from burnish.integrations.imports.promptfoo.prompts import fill, logic_in, texts_in

_CODE = ("javascript", "python", "ruby", "webhook")
_LISTS = ("contains-all", "contains-any", "icontains-all", "icontains-any")
_SCHEMAS = ("is-json", "contains-json")
# Types that a model grades by words alone, and how the words become a rubric.
_RUBRICS: Mapping[str, str] = {
    "model-graded-closedqa": "{}",
    "g-eval": "{}",
    "factuality": "The output agrees with this and contradicts none of it: {}",
    "model-graded-factuality": "The output agrees with this and contradicts none of it: {}",
}
_KEPT = ("weight", "threshold", "metric")
_DEEPEST = 4
_MOST = 1000
_EXPECTED = re.compile(r"\A(not-)?([a-z][a-z0-9-]*)(?:\((\d+(?:\.\d+)?)\))?(?::(.*))?\Z", re.DOTALL)
_SHORT = {"fn": "javascript", "eval": "javascript", "grade": RUBRIC}
_MEASURED_ELSEWHERE: Mapping[str, str] = {
    "latency": "no row is failed for its time here; results tell it, and objectives weigh it",
    "cost": "no row is failed for its cost here; results tell it, and --max-cost limits it",
    "rouge-n": "there is no such check here; the scorer `similarity` compares texts by edits",
    "bleu": "there is no such check here; the scorer `similarity` compares texts by edits",
}
# A cell may hold one of these words and nothing else.
_WITHOUT_VALUE = (
    *("is-json", "contains-json", "is-xml", "is-sql", "is-html", "contains-xml", "contains-sql"),
    *("contains-html", "is-refusal", "guardrails", "is-valid-function-call", "finish-reason"),
    *("is-valid-openai-function-call", "is-valid-openai-tools-call"),
)
# Prefixes that promptfoo knows in a cell and that we cannot check: to be named, not compared with.
_KNOWN_ELSEWHERE = (
    *(*_CODE, "similar", "latency", "cost", "perplexity", "perplexity-score", "rouge-n", "bleu"),
    *(
        "answer-relevance",
        "context-faithfulness",
        "context-recall",
        "context-relevance",
        "classifier",
    ),
    *("moderation", "pi", "ends-with", "gleu", "meteor", "word-count", "search-rubric", "human"),
    *("select-best", "max-score", "tool-call-f1", "skill-used", "conversation-relevance"),
    *("trace-error-spans", "trace-span-count", "trace-span-duration"),
    *_WITHOUT_VALUE,
)


class AssertReader:
    """Reads asserts; whatever cannot be taken is listed with its place."""

    def __init__(self, beside: Beside, findings: Findings, templates: Any = None) -> None:
        self._beside = beside
        self._findings = findings
        self._templates = templates if isinstance(templates, Mapping) else {}
        self.asks_a_model = False
        # The provider that an assert itself names to grade it.
        self.judge: str | None = None

    def read(
        self, given: Any, place: str, fields: Mapping[str, Json], depth: int = 0
    ) -> list[dict[str, Any]]:
        """The asserts of a test that can be taken, filled with its variables."""
        if given is None:
            return []
        if not isinstance(given, list) or depth > _DEEPEST:
            why = "it is not a list" if depth <= _DEEPEST else "sets nest too deep"
            self._findings.leave(place, "assert", why)
            return []
        if len(given) > _MOST:
            self._findings.leave(place, f"asserts after the {_MOST}th", "there are too many")
        taken = []
        for number, one in enumerate(given[:_MOST], start=1):
            read = self._one(one, f"{place}, assert {number}", fields, depth)
            if read is not None:
                taken.append(read)
        return taken

    def _one(
        self, given: Any, place: str, fields: Mapping[str, Json], depth: int
    ) -> dict[str, Any] | None:
        given = self._resolved(given)
        if isinstance(given, str):
            given = expected_text(given)
        kind = given.get("type") if isinstance(given, Mapping) else None
        if not isinstance(given, Mapping) or not isinstance(kind, str):
            self._findings.leave(place, "assert", "it has no type")
            return None
        try:
            read = self._taken(given, kind, place, fields, depth)
            read |= {name: given[name] for name in _KEPT if given.get(name) is not None}
            _require_usable(read)
        except (CannotTakeError, BadAssertError) as error:
            self._findings.leave(place, kind[:80], str(error))
            return None
        taken: tuple[str, ...] = (*_KEPT, "type", "value", "assert")
        if read["type"].removeprefix("not-") == RUBRIC:
            taken = (*taken, "provider")
        ignored = [key for key in given if key not in taken]
        for key in ignored:
            self._findings.leave(place, f"{key} of {kind}"[:80], "asserts of ours have no such key")
        return read

    def _resolved(self, given: Any) -> Any:
        reference = given.get("$ref") if isinstance(given, Mapping) else None
        if not isinstance(reference, str):
            return given
        return self._templates.get(reference.rpartition("/")[2], given)

    def _taken(
        self,
        given: Mapping[str, Any],
        kind: str,
        place: str,
        fields: Mapping[str, Json],
        depth: int,
    ) -> dict[str, Any]:
        base = kind.removeprefix("not-")
        if base in _CODE or base.startswith("file://"):
            raise CannotTakeError("it is code or a service, which is never called")
        if given.get("transform") is not None:
            raise CannotTakeError("its transform is code, which is never run")
        if base == SET:
            inner = self.read(given.get("assert"), place, fields, depth + 1)
            if not inner:
                raise CannotTakeError("none of its asserts can be taken")
            return {"type": kind, "assert": inner}
        if base in _RUBRICS or base == RUBRIC:
            return self._rubric(given, kind, base, place, fields)
        if base not in known_types():
            raise CannotTakeError(_why_unknown(base))
        value = self._value(given.get("value"), fields)
        if base in _LISTS and isinstance(value, str):
            value = comma_separated(value)
        if base in _SCHEMAS:
            value = _schema(value)
        return {"type": kind, **({} if value is None else {"value": value})}

    def _rubric(
        self,
        given: Mapping[str, Any],
        kind: str,
        base: str,
        place: str,
        fields: Mapping[str, Json],
    ) -> dict[str, Any]:
        value = self._value(given.get("value"), fields)
        if isinstance(value, list):
            value = "\n".join(f"- {one}" for one in value)
        if not isinstance(value, str) or not value.strip():
            raise CannotTakeError("it does not say in words what to judge by")
        if base != RUBRIC:
            self._findings.note(f"{base} is judged as {RUBRIC}, in the words of its value")
        self.asks_a_model = True
        provider = given.get("provider")
        provider = provider.get("id") if isinstance(provider, Mapping) else provider
        if isinstance(provider, str):
            self._name_judge(provider, place)
        return {
            "type": ("not-" if kind.startswith("not-") else "") + RUBRIC,
            "value": _RUBRICS.get(base, "{}").replace("{}", value),
        }

    def _name_judge(self, provider: str, place: str) -> None:
        if self.judge is None:
            self.judge = provider
        elif self.judge != provider:
            why = f"one judge grades all asserts, and that is {self.judge}"
            self._findings.leave(place, f"provider {provider}"[:80], why)

    def _value(self, value: Any, fields: Mapping[str, Json]) -> Any:
        if isinstance(value, str) and value.startswith("file://"):
            if is_code(value):
                raise CannotTakeError("its value is code, which is never run")
            value = self._beside.value(value)
        for text in texts_in(value):
            logic = logic_in(text)
            if logic is not None:
                raise CannotTakeError(f"{logic} is Nunjucks, which is not run")
        return fill(value, fields)


def comma_separated(text: str) -> list[str]:
    """`a, "b, c"` as its parts."""
    try:
        rows = list(csv.reader([text.replace("\n", " ")], skipinitialspace=True))
    except csv.Error:
        rows = [text.split(",")]
    return [part.strip() for row in rows for part in row if part.strip()]


def expected_text(text: str) -> dict[str, Any]:
    """The assert of an `__expected` cell: `contains:x`, `levenshtein(3):x`, or the text itself."""
    stripped = text.strip()
    if stripped.startswith("file://") and is_code(stripped):
        return {"type": "javascript", "value": stripped}
    found = _EXPECTED.match(stripped)
    if found is None:
        return {"type": "equals", "value": text}
    negated, name, threshold, value = found.groups()
    kind = _SHORT.get(name, name)
    known = kind in known_types() or kind in (RUBRIC, *_RUBRICS) or kind in _KNOWN_ELSEWHERE
    alone = value is None and threshold is None and kind not in _WITHOUT_VALUE
    if not known or alone:
        return {"type": "equals", "value": text}
    read: dict[str, Any] = {"type": f"{negated or ''}{kind}"}
    if value is not None and value.strip():
        read["value"] = value.strip()
    if threshold is not None:
        read["threshold"] = float(threshold)
    return read


def _schema(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    with contextlib.suppress(ValueError, RecursionError):
        return json.loads(value)
    try:
        return parse_yaml(value)
    except BrokenYamlError as error:
        raise CannotTakeError(f"its schema cannot be read: {error.message}") from error


def _require_usable(read: Mapping[str, Any]) -> None:
    for check in read_asserts([read]).checks:
        if isinstance(check, Check) and check.type != RUBRIC:
            check_output(check, AgentOutput(text=""), "")


def _why_unknown(base: str) -> str:
    if base == "similar":
        return "it needs embeddings; levenshtein or llm-rubric can stand for it"
    if base in _MEASURED_ELSEWHERE:
        return _MEASURED_ELSEWHERE[base]
    return "there is no such check here"
