"""Experiment results as JSON, JSON Lines, CSV and JUnit XML, streamed."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import AsyncIterator, Sequence
from enum import StrEnum
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from burnish.app.evaluate.records import Record, complaint
from burnish.app.evaluate.result import EvaluationResult
from burnish.domain import ItemResult

# A spreadsheet takes a cell that starts so for a formula, and formulas can send data away.
_FORMULA = ("=", "+", "-", "@")
_FIXED = (
    "item_id",
    "repeat",
    "split",
    "passed",
    "score",
    "output",
    "error_kind",
    "error",
    "latency_ms",
    "cached",
    "calls",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "cached_tokens",
    "cached_share",
    "rounds",
    "first_score",
    "outcome",
    "ended",
)
# What XML 1.0 cannot hold, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Format(StrEnum):
    """What can be written: an experiment in the first six, a winner in the last three or JSON."""

    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    JUNIT = "junit"
    HTML = "html"
    MARKDOWN = "markdown"
    PYTHON = "python"
    PATCH = "patch"

    @property
    def of_winner(self) -> bool:
        """Whether only a candidate can be written so."""
        return self in {Format.PYTHON, Format.PATCH}


async def json_lines(records: AsyncIterator[Record]) -> AsyncIterator[str]:
    """One object a line."""
    async for record in records:
        yield _dumps(record.to_json()) + "\n"


async def json_document(
    result: EvaluationResult, records: AsyncIterator[Record]
) -> AsyncIterator[str]:
    """One document, written while it is read: `experiment`, `summary` and `results`."""
    experiment = result.experiment
    head = {
        "id": experiment.id,
        "name": experiment.name,
        "type": experiment.type.value,
        "status": experiment.status.value,
        "agent": experiment.agent_name,
        "suite": experiment.suite_name,
        "planned_items": experiment.planned_items,
        "created_at": experiment.created_at,
        "configuration": experiment.configuration.to_json(),
        "configuration_hash": experiment.configuration.hash,
        "metadata": dict(experiment.metadata),
    }
    yield f'{{"experiment": {_dumps(head)},\n"summary": {_dumps(result.to_json())},\n"results": ['
    separator = "\n"
    async for record in records:
        yield separator + _dumps(record.to_json())
        separator = ",\n"
    yield "\n]}\n"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def safe_cell(value: Any) -> Any:
    """A cell that no spreadsheet runs: text that looks like a formula gets a quote before it."""
    if value is None or isinstance(value, (int, float)):
        return value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    looks_like_formula = text.lstrip().startswith(_FORMULA) or text.startswith(("\t", "\r"))
    return f"'{text}" if looks_like_formula else text


async def csv_lines(
    records: AsyncIterator[Record], *, scorers: Sequence[str], fields: Sequence[str]
) -> AsyncIterator[str]:
    """The header, then one line a run."""
    by_scorer = [f"{part}.{name}" for name in scorers for part in ("score", "reason")]
    yield _line([*_FIXED, *by_scorer, *(f"input.{name}" for name in fields)])
    async for record in records:
        scores = {score.name: score for score in record.result.scores}
        cells = _fixed_cells(record)
        for name in scorers:
            score = scores.get(name)
            cells += [score.value, score.reason] if score else [None, None]
        cells += [record.fields.get(name) for name in fields]
        yield _line(cells)


def _fixed_cells(record: Record) -> list[Any]:
    result = record.result
    usage = result.spending.total
    return [
        result.item_id,
        result.repeat,
        record.split,
        str(result.passed).lower(),
        result.score,
        None if result.output is None else result.output.text,
        None if result.error is None else result.error.kind.value,
        None if result.error is None else result.error.message,
        round(result.latency_ms, 3),
        str(result.cached).lower(),
        usage.calls,
        usage.input_tokens,
        usage.output_tokens,
        usage.cost_usd,
        usage.cached_tokens,
        usage.cached_share,
        *_refinement_cells(result),
    ]


def _refinement_cells(result: ItemResult) -> list[Any]:
    refined = result.refinement
    if refined is None:
        return [None] * 4
    return [refined.rounds, refined.first_score, refined.outcome.value, refined.ended.value]


def _line(cells: Sequence[Any]) -> str:
    # One buffer a line: the writer has no other way to hand out text.
    buffer = io.StringIO(newline="")
    csv.writer(buffer, lineterminator="\n").writerow([safe_cell(cell) for cell in cells])
    return buffer.getvalue()


async def junit_lines(
    result: EvaluationResult, records: AsyncIterator[Record]
) -> AsyncIterator[str]:
    """The report. What failed is a failure, what ended in an error an error."""
    experiment = result.experiment
    failures = max(result.failed - result.errors, 0)
    seconds = (result.summary.avg_latency_ms or 0.0) * result.items / 1000
    counts = (
        f'tests="{result.items}" failures="{failures}" '
        f'errors="{result.errors}" time="{seconds:.3f}"'
    )
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites name={_attribute(experiment.name)} {counts}>\n"
    yield (
        f"<testsuite name={_attribute(experiment.suite_name)} {counts} "
        f"timestamp={_attribute(experiment.created_at)}>\n<properties>\n"
    )
    for name, value in (
        ("experiment_id", experiment.id),
        ("score", "" if result.score is None else f"{result.score:.6g}"),
        ("pass_rate", "" if result.pass_rate is None else f"{result.pass_rate:.6g}"),
        ("configuration_hash", experiment.configuration.hash),
    ):
        yield f"<property name={_attribute(name)} value={_attribute(value)}/>\n"
    yield "</properties>\n"
    classname = f"{experiment.suite_name}.{experiment.agent_name}"
    async for record in records:
        yield _case(record, classname)
    yield "</testsuite>\n</testsuites>\n"


def _case(record: Record, classname: str) -> str:
    run = record.result
    name = run.item_id if run.repeat == 0 else f"{run.item_id} (repeat {run.repeat})"
    lines = [
        f"<testcase classname={_attribute(classname)} name={_attribute(name)} "
        f'time="{run.latency_ms / 1000:.3f}">\n'
    ]
    if run.error is not None:
        lines.append(_problem("error", run.error.kind.value, run.error.message))
    elif not run.passed:
        reason = complaint(run) or f"the score is {run.score:g}"
        lines.append(_problem("failure", "score", reason))
    if run.output is not None:
        lines.append(f"<system-out>{_text(run.output.text)}</system-out>\n")
    return "".join([*lines, "</testcase>\n"])


def _problem(tag: str, kind: str, message: str) -> str:
    first = message.splitlines()[0] if message else ""
    head = f"{tag} type={_attribute(kind)} message={_attribute(first[:300])}"
    return f"<{head}>{_text(message)}</{tag}>\n"


def _text(value: str) -> str:
    return escape(_ILLEGAL.sub("�", value))


def _attribute(value: str) -> str:
    return quoteattr(_ILLEGAL.sub("�", value))
