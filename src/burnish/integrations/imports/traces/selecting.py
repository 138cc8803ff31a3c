"""Rows of traces: picked by conditions, without duplicates, redacted, and as many as are wanted."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import Json, UsageError, exact_hash
from burnish.domain.labels import COMMENT
from burnish.integrations.imports.traces.clusters import CLUSTERING, choose
from burnish.integrations.imports.traces.trace import Trace

PATTERNS: Mapping[str, str] = {
    "key": r"\b(?:sk|pk|rk|ghp|gho|github_pat|glpat|xox[abprs]|AKIA|AIza|hf)[-_A-Za-z0-9]{12,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|(?i:bearer\s+)[\w.~+/-]{12,}=*",
    "email": r"[\w.+%-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+",
    "card": r"\b\d(?:[ -]?\d){12,18}\b",
    "phone": r"(?<![\w.-])(?!\d{4}-\d\d-\d\d\b)(?:\+\d{1,3}[ .-]?)?(?:\(\d{1,4}\)[ .-]?)?\d{2,4}"
    r"(?:[ .-]\d{2,4}){2,4}(?![\w.])",
    "ip": r"\b(?:\d{1,3}\.){3}\d{1,3}\b",
}
DEFAULT_PATTERNS = ("key", "email", "card", "phone")
_CONDITION = re.compile(r"\s*([\w.\- ]+?)\s*(<=|>=|!=|=|<|>|~)\s*(.*?)\s*")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_SAMPLING = ("first", "random", "cluster", "failure")
# Names and versions of tools are no secrets, and an id ties rows together.
_KEPT = ("id", "source")


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What is wanted of traces. Conditions such as `feedback.helpful < 0.5` must all hold.

    `redact` are names of patterns or patterns of one's own, `redact_fields` dotted paths. `label` is
    the feedback that becomes the column `label`. `exclude` are `known_words` that no row may have as
    its input, redacted or not, or as its trace: those of test items. `cluster_by` is `words` or
    `embeddings`; without it, embeddings where their extra and model are here.
    """

    where: Sequence[str] = ()
    redact: Sequence[str] = DEFAULT_PATTERNS
    redact_fields: Sequence[str] = ()
    label: str | None = None
    sample: int | None = None
    sample_by: str = "first"
    cluster_by: str | None = None
    seed: int = 0
    exclude: Collection[str] = ()

    def __post_init__(self) -> None:
        if self.sample_by not in _SAMPLING:
            raise _unusable("sample_by", f"it is none of {', '.join(_SAMPLING)}", "use one of them")
        if self.cluster_by not in (None, *CLUSTERING):
            raise _unusable(
                "cluster_by", f"it is none of {', '.join(CLUSTERING)}", "use one of them"
            )
        if self.cluster_by and self.sample_by != "cluster":
            raise _unusable(
                "cluster_by", "rows are not sampled by cluster", "set sample_by to cluster"
            )
        if self.sample is not None and self.sample < 1:
            raise _unusable("sample", f"{self.sample} is below 1", "give a number from 1 up")
        for condition in self.where:
            if not (_CONDITION.fullmatch(condition) or condition.strip() == "error"):
                raise _unusable(
                    "where",
                    f"{condition!r} is no condition",
                    "write one such as feedback.helpful<0.5, name=answer, tags~beta or error",
                )
        for pattern in self.redact:
            _compiled(pattern)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceRows:
    """The rows, and how many traces became none of them, by reason.

    `clustered_by` says by what, where rows were sampled by cluster.
    """

    rows: list[dict[str, Json]]
    left_out: Mapping[str, int] = field(default_factory=dict)
    redacted: Mapping[str, int] = field(default_factory=dict)
    clustered_by: str | None = None


def select_rows(traces: Iterable[Trace], selection: Selection) -> TraceRows:
    """Rows of the traces that are wanted."""
    rows: list[dict[str, Json]] = []
    left = dict.fromkeys(("not picked", "without an input", "in the test split", "duplicates"), 0)
    seen: set[str] = set()
    barred = {_plain(text) for text in selection.exclude}
    patterns = _patterns(selection)
    for trace in traces:
        row = trace.to_row()
        words = _plain(known_words(row.get("input")))
        # What is in a dataset already was redacted on its way there.
        text = _plain(known_words(_without_patterns(row.get("input"), patterns, {})))
        if not all(_holds(condition, row) for condition in selection.where):
            left["not picked"] += 1
        elif not text:
            left["without an input"] += 1
        elif not barred.isdisjoint({text, words, _plain(trace.id)}):
            left["in the test split"] += 1
        elif text in seen:
            left["duplicates"] += 1
        else:
            seen.add(text)
            rows.append(row)
    chosen, clustered_by = _sampled(rows, selection)
    left["not drawn"] = len(rows) - len(chosen)
    redacted: dict[str, int] = {}
    ready = [_labelled(_redacted(row, selection, redacted), selection.label) for row in chosen]
    return TraceRows(
        rows=ready,
        left_out={why: n for why, n in left.items() if n},
        redacted=redacted,
        clustered_by=clustered_by,
    )


def _labelled(row: dict[str, Json], label: str | None) -> dict[str, Json]:
    feedback = row.get("feedback")
    if label is None or not isinstance(feedback, Mapping) or label not in feedback:
        return row
    said = {COMMENT: row["comment"]} if row.get("comment") else {}
    return {**row, "label": feedback[label], **said}


def _holds(condition: str, row: Mapping[str, Json]) -> bool:
    if condition.strip() == "error":
        return bool(row.get("error"))
    match = _CONDITION.fullmatch(condition)
    assert match is not None
    path, sign, wanted = match.groups()
    value: Any = row
    for part in path.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    if sign == "~":
        return value is not None and wanted.casefold() in _as_text(value).casefold()
    if sign in ("=", "!="):
        same = value is not None and (
            _as_text(value).casefold() == wanted.casefold() or _equal(value, wanted)
        )
        return same == (sign == "=")
    order = _order(value, wanted)
    if order is None:
        return False
    return {"<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[sign]


def _equal(value: Any, wanted: str) -> bool:
    return _order(value, wanted) == 0 and not isinstance(value, str)


def _order(value: Any, wanted: str) -> int | None:
    """How a value stands to what is wanted: as numbers where both are, as texts (times) otherwise."""
    if value is None or isinstance(value, (list, Mapping)):
        return None
    left: Any = value
    right: Any = wanted
    if isinstance(value, (int, float)):
        try:
            left, right = float(value), float(wanted)
        except ValueError:
            return None
    return int(left > right) - int(left < right)


def _sampled(
    rows: list[dict[str, Json]], selection: Selection
) -> tuple[list[dict[str, Json]], str | None]:
    """The rows that are drawn, and by what they were clustered, if so."""
    number = selection.sample
    if number is None or number >= len(rows):
        return rows, None
    if selection.sample_by == "random":
        return _draw(selection.seed).sample(rows, number), None
    if selection.sample_by == "failure":
        return sorted(rows, key=_failing)[:number], None
    if selection.sample_by == "cluster":
        texts = [_plain(_as_text(row.get("input")))[:2000] for row in rows]
        first = _draw(selection.seed).randrange(len(rows))
        places, by = choose(texts, number, first, selection.cluster_by)
        return [_with_source(rows[place], clustered_by=by) for place in places], by
    return rows[:number], None


def _with_source(row: Mapping[str, Json], **more: Json) -> dict[str, Json]:
    source = row.get("source")
    return {**row, "source": {**(source if isinstance(source, Mapping) else {}), **more}}


def _draw(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - rows are drawn, no secrets


def _failing(row: Mapping[str, Json]) -> tuple[bool, float]:
    """Errors first, then the worst feedback; traces without any come last."""
    feedback = row.get("feedback")
    values = feedback.values() if isinstance(feedback, Mapping) else ()
    numbers = [float(value) for value in values if isinstance(value, (int, float))]
    return not row.get("error"), min(numbers, default=float("inf"))


def _redacted(
    row: Mapping[str, Json], selection: Selection, counts: dict[str, int]
) -> dict[str, Json]:
    patterns = _patterns(selection)
    kept = _with_named(row, patterns, counts)
    rest: Any = {name: value for name, value in row.items() if name not in _KEPT}
    for path in selection.redact_fields:
        rest = _without_field(rest, path.split("."), counts, path)
    return {**kept, **_without_patterns(rest, patterns, counts)}


_Patterns = Sequence[tuple[str, re.Pattern[str]]]


def _patterns(selection: Selection) -> _Patterns:
    return [(name, _compiled(name)) for name in selection.redact]


def _with_named(
    row: Mapping[str, Json], patterns: _Patterns, counts: dict[str, int]
) -> dict[str, Json]:
    """The id and the source; an id that holds what is redacted is another one, the same each time."""
    kept = {name: row[name] for name in _KEPT if name in row}
    identity, source = str(row["id"]), kept.get("source")
    # A UUID of digits alone looks like a number of many things.
    if not _UUID.fullmatch(identity) and _without_patterns(identity, patterns, counts) != identity:
        kept["id"] = f"trace-{exact_hash(identity)[:16]}"
        if isinstance(source, Mapping):
            kept["source"] = {**source, "trace": kept["id"]}
    return kept


def _without_field(value: Any, path: Sequence[str], counts: dict[str, int], name: str) -> Any:
    if isinstance(value, list):
        return [_without_field(one, path, counts, name) for one in value]
    if not isinstance(value, Mapping) or path[0] not in value:
        return value
    if len(path) == 1:
        counts[name] = counts.get(name, 0) + 1
        return {**value, path[0]: "[redacted]"}
    return {**value, path[0]: _without_field(value[path[0]], path[1:], counts, name)}


def _without_patterns(value: Any, patterns: _Patterns, counts: dict[str, int]) -> Any:
    if type(value) is int:
        # A number as a whole; of those that could be cards, such as times, only those that add up.
        fits = [(name, one) for name, one in patterns if one.fullmatch(str(value))]
        if not [name for name, _ in fits if name != "card" or _adds_up(value)]:
            return value
        value, patterns = str(value), fits
    if isinstance(value, str):
        for name, pattern in patterns:
            shown = f"[{name}]" if name in PATTERNS else "[redacted]"
            value, found = pattern.subn(shown, value)
            if found:
                counts[name] = counts.get(name, 0) + found
        return value
    if isinstance(value, list):
        return [_without_patterns(one, patterns, counts) for one in value]
    if isinstance(value, Mapping):
        return {
            _without_patterns(key, patterns, counts): _without_patterns(one, patterns, counts)
            for key, one in value.items()
        }
    return value


def _adds_up(number: int) -> bool:
    """By the rule for the last digit of cards."""
    digits = [int(one) for one in reversed(str(number))]
    doubled = [divmod(2 * one, 10) for one in digits[1::2]]
    return not (sum(digits[::2]) + sum(map(sum, doubled))) % 10


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(PATTERNS.get(pattern, pattern))
    except re.error as error:
        raise _unusable(
            "redact",
            f"{pattern!r} is no pattern: {error}",
            f"use {', '.join(PATTERNS)} or a regular expression",
        ) from error


def known_words(value: Json) -> str:
    """A value as text, the same for equal lists and objects."""
    if isinstance(value, (list, Mapping)):
        return json.dumps(value, sort_keys=True, ensure_ascii=False)
    return _as_text(value)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _as_text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _unusable(name: str, why: str, fix: str) -> UsageError:
    return UsageError(what=f"{name} cannot be used", why=why, fix=fix, code="invalid_option")
