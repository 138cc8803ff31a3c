"""Rounds of refined outputs: as rows and back, saved and found."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Integer, bindparam, delete, exists, func, select, tuple_

from burnish.domain import (
    AgentOutput,
    CacheScope,
    ItemResult,
    Round,
    RoundEnd,
    RoundScore,
    Score,
)
from burnish.storage.engine.bulk import BulkInsert, chunks, value_of
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database, format_time
from burnish.storage.experiments.results import CacheKeys, Origin
from burnish.storage.experiments.summaries import read_amounts, stored_amounts
from burnish.storage.experiments.tables import experiment_items, item_rounds

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

RoundsByRun = dict[tuple[str, int], tuple[Round, ...]]

PAGE = 2000

_insert_new = BulkInsert(item_rounds, existing="skip")
_replace = BulkInsert(item_rounds, existing="replace")
_rounds = item_rounds.c
_of_experiment = _rounds.experiment_id == bindparam("experiment", type_=SafeText)
_in_order = (_rounds.item_id, _rounds.repeat, _rounds.number)
_all = select(item_rounds).where(_of_experiment).order_by(*_in_order)
_of_items = _all.where(_rounds.item_id.in_(bindparam("items", type_=SafeText, expanding=True)))
_open = _all.where(
    ~exists().where(
        experiment_items.c.experiment_id == _rounds.experiment_id,
        experiment_items.c.item_id == _rounds.item_id,
        experiment_items.c.repeat == _rounds.repeat,
    )
)
_forget_later = delete(item_rounds).where(
    _rounds.experiment_id == bindparam("of_experiment", type_=SafeText),
    tuple_(_rounds.item_id, _rounds.repeat).in_(bindparam("of_runs", expanding=True)),
    _rounds.number > 0,
)
_first_scores = (
    select(
        _rounds.item_id,
        _rounds.repeat,
        _rounds.number,
        _rounds.score,
        _rounds.judged,
        _rounds.ended,
        _rounds.spending,
    )
    .where(_of_experiment)
    .order_by(*_in_order)
    .limit(PAGE)
)
_next_scores = _first_scores.where(
    tuple_(*_in_order)
    > tuple_(
        bindparam("last_item", type_=SafeText),
        bindparam("last_repeat", type_=Integer),
        bindparam("last_number", type_=Integer),
    )
)
# The newest moment of each key, from the index alone; then the rows of those moments.
_newest = (
    select(_rounds.cache_key, func.max(_rounds.created_at).label("created_at"))
    .where(_rounds.cache_key.in_(bindparam("keys", type_=PlainText, expanding=True)))
    .group_by(_rounds.cache_key)
    .subquery()
)
_cached = (
    select(item_rounds)
    .join(
        _newest,
        (_rounds.cache_key == _newest.c.cache_key) & (_rounds.created_at == _newest.c.created_at),
    )
    .order_by(_rounds.experiment_id)
)


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
    return value_of(
        Round,
        row,
        output=AgentOutput.of(row.output),
        scores=tuple(Score.of(one) for one in row.scores),
        spending=spent,
        reused=reused,
        ended=None if row.ended is None else RoundEnd(row.ended),
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


async def save(
    connection: AsyncConnection,
    experiment_id: str,
    rounds: Sequence[Round],
    origin: Origin,
) -> None:
    """Write rounds in the caller's transaction, over those of the same run and number."""
    latest = {(one.item_id, one.repeat, one.number): one for one in rounds}
    # Everybody writes in the same order, so that no two wait for each other.
    rows = [round_row(experiment_id, latest[key], origin) for key in sorted(latest)]
    if await _insert_new(connection, rows) == len(rows):
        return
    firsts = sorted({key[:2] for key in latest if key[2] == 0})
    for runs in chunks(firsts):
        await connection.execute(_forget_later, {"of_experiment": experiment_id, "of_runs": runs})
    await _replace(connection, rows)


async def of_items(database: Database, experiment_id: str, item_ids: Sequence[str]) -> RoundsByRun:
    """The rounds of some items."""
    found: RoundsByRun = {}
    for chunk in chunks(sorted(set(item_ids))):
        bound = {"experiment": experiment_id, "items": chunk}
        found.update(read_rounds(await database.all_rows(_of_items, bound)))
    return found


async def on_page(
    connection: AsyncConnection, experiment_id: str, item_ids: Sequence[str]
) -> RoundsByRun:
    """The rounds of a page's items, in the caller's transaction."""
    bound = {"experiment": experiment_id, "items": list(item_ids)}
    return read_rounds(await connection.execute(_of_items, bound))


async def unfinished(database: Database, experiment_id: str) -> RoundsByRun:
    """Rounds of runs that have no result."""
    return read_rounds(await database.all_rows(_open, {"experiment": experiment_id}))


async def scores(database: Database, experiment_id: str) -> AsyncIterator[RoundScore]:
    """All of them in order, a transaction for each page."""
    bound: dict[str, Any] = {"experiment": experiment_id}
    statement = _first_scores
    while True:
        page = await database.all_rows(statement, bound)
        for row in page:
            yield round_score(row)
        if len(page) < PAGE:
            return
        last = page[-1]
        statement = _next_scores
        bound |= {
            "last_item": last.item_id,
            "last_repeat": last.repeat,
            "last_number": last.number,
        }


async def cached(
    database: Database, scope: CacheScope, keys: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], tuple[ItemResult, str | None]]:
    """The newest first rounds by (item hash, repeat), with their scorers' fingerprints."""
    names = CacheKeys(scope)
    found: dict[tuple[str, int], tuple[ItemResult, str | None]] = {}
    for chunk in chunks(list(dict.fromkeys(keys))):
        bound = {"keys": [names.key(item_hash, repeat) for item_hash, repeat in chunk]}
        for row in await database.all_rows(_cached, bound):
            result = first_as_result(row)
            found[result.item_hash, result.repeat] = (result, row.scorers_fingerprint)
    return found
