"""Item results as rows and back."""

from __future__ import annotations

import hashlib
from binascii import b2a_base64
from collections.abc import Iterable, Mapping, Sequence

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
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.database import AnyRow
from burnish.storage.experiments.answer_usage import read_amounts, stored_amounts


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
        )
        for result in results
        for position, score in enumerate(result.scores)
    ]


def read_results(items: Sequence[AnyRow], scores: Iterable[AnyRow]) -> list[ItemResult]:
    """Results in the order of `items`. The scores of each come by position."""
    by_key: dict[tuple[str, str, int], list[Score]] = {}
    for experiment_id, item_id, repeat, _, name, value, passed, reason, error in scores:
        score = Score(value, reason, passed, name, error)
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
