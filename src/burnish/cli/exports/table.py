"""CSV for spreadsheets."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncIterator, Sequence
from typing import Any

from burnish.cli.exports.records import Record
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
    "rounds",
    "first_score",
    "outcome",
    "ended",
)


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
