"""Item results: as rows and back, saved, and found by experiment, by item or as cached answers."""

from __future__ import annotations

import hashlib
from binascii import b2a_base64
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence, Set
from typing import Any

from sqlalchemy import Integer, Select, Tuple, bindparam, delete, func, select, tuple_, update

from burnish.domain import (
    AgentOutput,
    CacheScope,
    ErrorKind,
    ItemError,
    ItemResult,
    Refinement,
    Round,
    Score,
)
from burnish.storage.engine.bulk import BulkInsert, chunks
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.codec import PlainText, SafeText, encode_text
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database
from burnish.storage.experiments.summaries import read_amounts, stored_amounts
from burnish.storage.experiments.tables import (
    cache_scopes,
    experiment_items,
    experiments,
    feedback_scores,
)

_insert_new = BulkInsert(experiment_items, existing="skip")
_replace = BulkInsert(experiment_items, existing="replace")
_insert_scores = BulkInsert(feedback_scores)
_forget_scores = delete(feedback_scores).where(
    feedback_scores.c.experiment_id == bindparam("of_experiment"),
    tuple_(feedback_scores.c.item_id, feedback_scores.c.repeat).in_(
        bindparam("of_keys", expanding=True)
    ),
)
_note_agent = (
    update(experiments)
    .where(experiments.c.id == bindparam("of_experiment"))
    .where(experiments.c.agent_fingerprint.is_(None))
    .values(agent_fingerprint=bindparam("fingerprint"))
)

PAGE = 500

Found = tuple[Sequence[AnyRow], list[ItemResult]]

_items, _scores = experiment_items.c, feedback_scores.c
_of_experiment = bindparam("experiment", type_=SafeText)
_of_items = bindparam("items", type_=SafeText, expanding=True)
_items_key = tuple_(_items.item_id, _items.repeat)
_scores_key = tuple_(_scores.item_id, _scores.repeat)


def _bound_key(name: str) -> Tuple:
    return tuple_(
        bindparam(f"{name}_item", type_=SafeText), bindparam(f"{name}_repeat", type_=Integer)
    )


_all_items = (
    select(experiment_items)
    .where(_items.experiment_id == _of_experiment)
    .order_by(_items.item_id, _items.repeat)
)
_all_scores = (
    select(feedback_scores)
    .where(_scores.experiment_id == _of_experiment)
    .order_by(_scores.item_id, _scores.repeat, _scores.position)
)
_first_page = _all_items.limit(PAGE)
_next_page = _first_page.where(_items_key > _bound_key("last"))
_scores_between = _all_scores.where(
    _scores_key >= _bound_key("first"), _scores_key <= _bound_key("last")
)
_items_of = _all_items.where(_items.item_id.in_(_of_items))
_scores_of = _all_scores.where(_scores.item_id.in_(_of_items))

# The newest moment of each key, from the index alone; then the rows of those moments.
_newest = (
    select(_items.cache_key, func.max(_items.created_at).label("created_at"))
    .where(_items.cache_key.in_(bindparam("keys", type_=PlainText, expanding=True)))
    .group_by(_items.cache_key)
    .subquery()
)
_is_newest = (_items.cache_key == _newest.c.cache_key) & (_items.created_at == _newest.c.created_at)
_cached_items = select(experiment_items).join(_newest, _is_newest).order_by(_items.experiment_id)
_cached_scores = (
    select(feedback_scores)
    .join(
        experiment_items,
        (_scores.experiment_id == _items.experiment_id)
        & (_scores.item_id == _items.item_id)
        & (_scores.repeat == _items.repeat),
    )
    .join(_newest, _is_newest)
    .order_by(_scores.position)
)

_cached_scopes = cache_scopes.c
_add_scopes = BulkInsert(cache_scopes, existing="skip")
_find_scope = select(_cached_scopes.agent_fingerprint).where(
    _cached_scopes.agent_fingerprint == bindparam("of_agent", type_=SafeText),
    _cached_scopes.configuration_hash == bindparam("of_configuration", type_=SafeText),
)


class CacheKeys:
    """Names a result by all that it depends on: agent, configuration, item, repeat.

    The names of one scope start alike and so stand together in the index: saving an experiment
    touches a few of its pages and not all of them.
    """

    def __init__(self, scope: CacheScope) -> None:
        hasher = hashlib.blake2b(digest_size=64)
        for part in (scope.agent_fingerprint, scope.configuration_hash):
            data = part.encode("utf-8", "surrogatepass")
            # The length first: no two scopes run together into the same bytes.
            hasher.update(b"%d:" % len(data) + data)
        digest = hasher.digest()
        self._start = digest[:9]
        self._hasher = hashlib.blake2b(digest, digest_size=12)

    def key(self, item_hash: str, repeat: int) -> str:
        """21 bytes as text."""
        hasher = self._hasher.copy()
        hasher.update(f"{repeat}:{item_hash}".encode("utf-8", "surrogatepass"))
        return b2a_base64(self._start + hasher.digest(), newline=False).decode()


class Origin:
    """What the rows of one write have in common: under which cache scope, scorers and moment."""

    def __init__(
        self, cache: CacheScope | None, scorers_fingerprint: str | None, created_at: int
    ) -> None:
        self._keys = CacheKeys(cache) if cache else None
        self.scorers_fingerprint = scorers_fingerprint
        self.created_at = created_at

    def key(self, one: ItemResult | Round) -> str | None:
        """Under which name it can be found again; None without a scope."""
        return self._keys.key(one.item_hash, one.repeat) if self._keys else None


def item_row(experiment_id: str, result: ItemResult, origin: Origin) -> BulkRow:
    """A result in the order of the table's columns."""
    output, error, refined = result.output, result.error, result.refinement
    # Of a refined output it is the first round that can be used again.
    cacheable = error is None and refined is None
    return (
        experiment_id,
        result.item_id,
        result.repeat,
        result.item_hash,
        float(result.score),
        bool(result.passed),
        bool(result.cached),
        None if error is None else error.kind.value,
        float(result.latency_ms),
        None if output is None else output.ttft_ms,
        stored_amounts(result),
        origin.key(result) if cacheable else None,
        origin.scorers_fingerprint,
        origin.created_at,
        None if error is None else error.message,
        None if output is None else output.to_json(),
        None if refined is None else refined.outcome.value,
        None if refined is None else refined.ended.value,
        None if refined is None else refined.to_json(),
    )


def score_rows(experiment_id: str, results: Iterable[ItemResult]) -> list[BulkRow]:
    """The scores of all results, in the order of the table's columns."""
    return [
        (
            experiment_id,
            result.item_id,
            result.repeat,
            position,
            score.name,
            float(score.value),
            score.passed,
            score.reason,
            score.error,
            score.step,
        )
        for result in results
        for position, score in enumerate(result.scores)
    ]


def read_results(items: Sequence[AnyRow], scores: Iterable[AnyRow]) -> list[ItemResult]:
    """Results in the order of `items`. The scores of each come by position."""
    by_key: dict[tuple[str, str, int], list[Score]] = {}
    for experiment_id, item_id, repeat, _, name, value, passed, reason, error, step in scores:
        score = Score(value, reason, passed, name, error, step=step)
        by_key.setdefault((experiment_id, item_id, repeat), []).append(score)
    return [_result(row, by_key) for row in items]


def _result(row: AnyRow, scores: Mapping[tuple[str, str, int], list[Score]]) -> ItemResult:
    # By position, in the order of `item_row`: by name it would take twice as long.
    experiment_id, item_id, repeat, item_hash, score, passed, cached, error_kind = row[:8]
    latency_ms, _, spending, _, _, _, error_message, output, _, _, refinement = row[8:]
    spent, reused = read_amounts(spending)
    error = None
    if error_kind is not None:
        error = ItemError(kind=ErrorKind(error_kind), message=error_message or "")
    return ItemResult(
        item_id=item_id,
        item_hash=item_hash,
        repeat=repeat,
        score=score,
        passed=passed,
        output=None if output is None else AgentOutput.of(output),
        scores=tuple(scores.get((experiment_id, item_id, repeat), ())),
        error=error,
        spending=spent,
        latency_ms=latency_ms,
        cached=cached,
        reused=reused,
        refinement=None if refinement is None else Refinement.of(refinement),
    )


async def save(
    connection: AsyncConnection,
    experiment_id: str,
    results: Sequence[ItemResult],
    origin: Origin,
) -> None:
    """Write results in the caller's transaction, over those of the same item and repeat."""
    latest = {(result.item_id, result.repeat): result for result in results}
    # Everybody writes in the same order, so that no two wait for each other.
    ordered = [latest[key] for key in sorted(latest)]
    rows = [item_row(experiment_id, result, origin) for result in ordered]
    # Results are new as a rule; only when some are not, their old scores have to go.
    if await _insert_new(connection, rows) < len(rows):
        await _replace(connection, rows)
        for keys_now in chunks(sorted(latest)):
            bound = {"of_experiment": experiment_id, "of_keys": keys_now}
            await connection.execute(_forget_scores, bound)
    await _insert_scores(connection, score_rows(experiment_id, ordered))


async def note_agent(connection: AsyncConnection, experiment_id: str, fingerprint: str) -> None:
    """Keep with the experiment which agent it ran; the first one told stays."""
    await connection.execute(
        _note_agent, {"of_experiment": experiment_id, "fingerprint": fingerprint}
    )


async def pages(database: Database, experiment_id: str) -> AsyncIterator[list[ItemResult]]:
    """All results in order, a transaction for each page, so that a slow reader stops nobody."""
    bound: dict[str, Any] = {"experiment": experiment_id}
    statement = _first_page
    while True:
        page = await _page(database, statement, bound)
        if page:
            yield page
        if len(page) < PAGE:
            return
        statement = _next_page
        bound |= {"last_item": page[-1].item_id, "last_repeat": page[-1].repeat}


async def of_items(
    database: Database, experiment_id: str, item_ids: Sequence[str]
) -> list[ItemResult]:
    """The results of some items, in order."""
    found: list[ItemResult] = []
    for chunk in chunks(sorted(set(item_ids), key=lambda item_id: encode_text(item_id) or "")):
        bound = {"experiment": experiment_id, "items": chunk}
        _, results = await _find(database, _items_of, _scores_of, bound)
        found.extend(results)
    return found


async def cached(
    database: Database, scope: CacheScope, keys: Sequence[tuple[str, int]]
) -> dict[tuple[str, int], tuple[ItemResult, str | None]]:
    """The newest results that can be used again, with their scorers' fingerprints."""
    names = CacheKeys(scope)
    found: dict[tuple[str, int], tuple[ItemResult, str | None]] = {}
    for chunk in chunks(list(dict.fromkeys(keys))):
        bound = {"keys": [names.key(item_hash, repeat) for item_hash, repeat in chunk]}
        rows, results = await _find(database, _cached_items, _cached_scores, bound)
        for row, result in zip(rows, results, strict=True):
            found[result.item_hash, result.repeat] = (result, row.scorers_fingerprint)
    return found


async def _page(
    database: Database, statement: Select[Any], bound: Mapping[str, Any]
) -> list[ItemResult]:
    async def work(connection: AsyncConnection) -> list[ItemResult]:
        items = (await connection.execute(statement, bound)).all()
        if not items:
            return []
        ends = {
            "experiment": bound["experiment"],
            "first_item": items[0].item_id,
            "first_repeat": items[0].repeat,
            "last_item": items[-1].item_id,
            "last_repeat": items[-1].repeat,
        }
        return read_results(items, await connection.execute(_scores_between, ends))

    return await database.read(work)


async def _find(
    database: Database, items: Select[Any], scores: Select[Any], bound: Mapping[str, Any]
) -> Found:
    async def work(connection: AsyncConnection) -> Found:
        rows = (await connection.execute(items, bound)).all()
        if not rows:
            return rows, []
        return rows, read_results(rows, await connection.execute(scores, bound))

    return await database.read(work)


def new_scopes(
    scope: CacheScope | None,
    results: Sequence[ItemResult],
    rounds: Sequence[Round],
    noted: Set[CacheScope],
) -> list[CacheScope]:
    """The scope, if the results or rounds bring its first one that can be used again."""
    if scope is None or scope in noted:
        return []
    useful = any(result.error is None for result in results) or any(one.judged for one in rounds)
    return [scope] if useful else []


async def note_scopes(connection: AsyncConnection, scopes: Sequence[CacheScope]) -> None:
    """Remember that results were saved under the scopes."""
    await _add_scopes(
        connection, [(one.agent_fingerprint, one.configuration_hash) for one in scopes]
    )


async def has_scope(connection: AsyncConnection, scope: CacheScope) -> bool:
    """Whether one was."""
    bound = {"of_agent": scope.agent_fingerprint, "of_configuration": scope.configuration_hash}
    return await connection.scalar(_find_scope, bound) is not None
