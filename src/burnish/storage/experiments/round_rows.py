"""Rounds as rows and back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from burnish.domain import (
    AgentOutput,
    ItemResult,
    Round,
    RoundEnd,
    RoundScore,
    Score,
)
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.database import AnyRow, format_time
from burnish.storage.experiments.answer_usage import read_amounts, stored_amounts
from burnish.storage.experiments.result_rows import Origin

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

RoundsByRun = dict[tuple[str, int], tuple[Round, ...]]


def round_row(experiment_id: str, one: Round, origin: Origin) -> BulkRow:
    """A round in the order of the table's columns. What the agent wrote can be used again."""
    cacheable = one.number == 0 and one.judged
    return (
        experiment_id,
        one.item_id,
        one.repeat,
        one.number,
        one.item_hash,
        float(one.score),
        bool(one.passed),
        one.judged,
        bool(one.cached),
        None if one.ended is None else one.ended.value,
        float(one.latency_ms),
        stored_amounts(one),
        origin.key(one) if cacheable else None,
        origin.scorers_fingerprint,
        origin.created_at,
        one.model,
        one.ended_why,
        [score.to_json() for score in one.scores],
        one.output.to_json(),
    )


def read_rounds(rows: Iterable[AnyRow]) -> RoundsByRun:
    """Rounds by run; the rows of each come in order."""
    found: dict[tuple[str, int], list[Round]] = {}
    for row in rows:
        found.setdefault((row.item_id, row.repeat), []).append(_round(row))
    return {key: tuple(rounds) for key, rounds in found.items()}


def _round(row: AnyRow) -> Round:
    spent, reused = read_amounts(row.spending)
    return Round(
        item_id=row.item_id,
        item_hash=row.item_hash,
        repeat=row.repeat,
        number=row.number,
        output=AgentOutput.of(row.output),
        score=row.score,
        passed=row.passed,
        scores=tuple(Score.of(one) for one in row.scores),
        model=row.model,
        spending=spent,
        reused=reused,
        latency_ms=row.latency_ms,
        cached=row.cached,
        ended=None if row.ended is None else RoundEnd(row.ended),
        ended_why=row.ended_why,
        created_at=format_time(_EPOCH + timedelta(microseconds=row.created_at)),
    )


def first_as_result(row: AnyRow) -> ItemResult:
    """The first round as the result that it would have been without refinement."""
    first = _round(row)
    return ItemResult(
        item_id=first.item_id,
        item_hash=first.item_hash,
        repeat=first.repeat,
        score=first.score,
        passed=first.passed,
        output=first.output,
        scores=first.scores,
        spending=first.spending,
        latency_ms=first.latency_ms,
        cached=first.cached,
        reused=first.reused,
    )


def round_score(row: AnyRow) -> RoundScore:
    """As much as statistics read."""
    item_id, repeat, number, score, judged, ended, spending = row
    return RoundScore(
        item_id=item_id,
        repeat=repeat,
        number=number,
        score=score,
        judged=judged,
        ended=None if ended is None else RoundEnd(ended),
        spending=read_amounts(spending)[0],
    )
