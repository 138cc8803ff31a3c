"""An experiment repository in memory: for unit tests and as the simplest reading of the contract."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from burnish.domain import (
    CacheScope,
    ConflictError,
    ErrorKind,
    Experiment,
    ExperimentStatus,
    ExperimentSummary,
    ItemResult,
    Lease,
    Round,
    RoundScore,
    Spending,
    UsageError,
)
from burnish.testing.samples.experiments import mean_footprint

_CacheKey = tuple[str, str, str, int]
_OUTSIDE = (ErrorKind.INFRASTRUCTURE, ErrorKind.TIMEOUT)


class MemoryExperimentRepository:
    """Keeps everything in dicts. `fail_saves` makes the next writes of results raise."""

    def __init__(self) -> None:
        self.experiments: dict[str, Experiment] = {}
        self.results: dict[str, dict[tuple[str, int], ItemResult]] = {}
        self.rounds: dict[str, dict[tuple[str, int], dict[int, Round]]] = {}
        self.batches: list[int] = []
        self.fail_saves: list[Exception] = []
        self._cache: dict[_CacheKey, tuple[ItemResult, str | None]] = {}

    async def create_experiment(
        self, experiment: Experiment, *, lease: Lease | None = None
    ) -> None:
        """Refuses an id that is taken."""
        if experiment.id in self.experiments:
            raise ConflictError(
                what=f"experiment {experiment.id} is there already",
                why="its id is taken",
                fix="use another id",
            )
        self.experiments[experiment.id] = experiment
        self.results[experiment.id] = {}

    async def update_experiment(
        self,
        experiment_id: str,
        *,
        status: ExperimentStatus | None = None,
        planned_items: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        lease: Lease | None = None,
    ) -> None:
        """Changes what is given."""
        old = await self.get_experiment(experiment_id)
        self.experiments[experiment_id] = replace(
            old,
            status=status or old.status,
            planned_items=old.planned_items if planned_items is None else planned_items,
            metadata={**old.metadata, **(metadata or {})},
        )

    async def get_experiment(self, experiment_id: str) -> Experiment:
        """One experiment."""
        if experiment_id not in self.experiments:
            raise UsageError(
                what=f"there is no experiment {experiment_id}",
                why="no such id was stored",
                fix="list the experiments",
                code="not_found",
            )
        return self.experiments[experiment_id]

    async def list_experiments(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        optimization_id: str | None = None,
        name: str | None = None,
        standalone: bool = False,
    ) -> list[Experiment]:
        """Newest first."""
        newest = list(reversed(self.experiments.values()))
        if before is not None:
            ids = [one.id for one in newest]
            newest = newest[ids.index(before) + 1 :] if before in ids else []
        chosen = [
            one
            for one in newest
            if optimization_id in (None, one.optimization_id)
            and name in (None, one.name)
            and not (standalone and one.optimization_id is not None)
        ]
        return chosen[:limit]

    async def save_results(
        self,
        experiment_id: str,
        results: Sequence[ItemResult],
        *,
        cache: CacheScope | None = None,
        scorers_fingerprint: str | None = None,
        rounds: Sequence[Round] = (),
        lease: Lease | None = None,
    ) -> None:
        """Upserts, and remembers error-free results for the cache."""
        if self.fail_saves:
            raise self.fail_saves.pop(0)
        await self.get_experiment(experiment_id)
        self.batches.append(len(results))
        self._save_rounds(experiment_id, rounds, cache, scorers_fingerprint)
        for result in results:
            self.results[experiment_id][result.item_id, result.repeat] = result
            if cache is not None and result.error is None and result.refinement is None:
                key = _key(cache, result.item_hash, result.repeat)
                self._cache[key] = (result, scorers_fingerprint)

    def _save_rounds(
        self,
        experiment_id: str,
        rounds: Sequence[Round],
        cache: CacheScope | None,
        scorers_fingerprint: str | None,
    ) -> None:
        kept = self.rounds.setdefault(experiment_id, {})
        for one in sorted(rounds, key=lambda each: each.number):
            if one.number == 0:
                kept.pop((one.item_id, one.repeat), None)
            kept.setdefault((one.item_id, one.repeat), {})[one.number] = replace(
                one, created_at="2026-01-01T00:00:00.000000Z"
            )
            if cache is not None and one.number == 0 and one.judged:
                key = _key(cache, one.item_hash, one.repeat)
                self._cache[key] = (_as_result(one), scorers_fingerprint)

    async def cached_results(
        self, scope: CacheScope, keys: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], tuple[ItemResult, str | None]]:
        """What the cache has of these."""
        found = {key: self._cache.get(_key(scope, *key)) for key in keys}
        return {key: value for key, value in found.items() if value is not None}

    async def has_results(self, scope: CacheScope) -> bool:
        """Whether the cache has anything of these."""
        return any(key[:2] == _key(scope, "", 0)[:2] for key in self._cache)

    async def stream_results(self, experiment_id: str) -> AsyncIterator[ItemResult]:
        """By item id and repeat."""
        for result in await self.get_results(experiment_id):
            yield result

    async def get_results(
        self, experiment_id: str, *, item_ids: Sequence[str] | None = None
    ) -> list[ItemResult]:
        """By item id and repeat."""
        await self.get_experiment(experiment_id)
        results = self.results[experiment_id]
        return [results[key] for key in sorted(results) if item_ids is None or key[0] in item_ids]

    async def get_rounds(
        self, experiment_id: str, *, item_ids: Sequence[str]
    ) -> dict[tuple[str, int], tuple[Round, ...]]:
        """By run, in order."""
        return {
            key: tuple(found[number] for number in sorted(found))
            for key, found in sorted(self.rounds.get(experiment_id, {}).items())
            if key[0] in item_ids
        }

    async def open_rounds(self, experiment_id: str) -> dict[tuple[str, int], tuple[Round, ...]]:
        """Of runs without a result."""
        items = [item for item, _ in self.rounds.get(experiment_id, {})]
        found = await self.get_rounds(experiment_id, item_ids=items)
        return {key: one for key, one in found.items() if key not in self.results[experiment_id]}

    async def stream_round_scores(self, experiment_id: str) -> AsyncIterator[RoundScore]:
        """In order."""
        items = [item for item, _ in self.rounds.get(experiment_id, {})]
        for rounds in (await self.get_rounds(experiment_id, item_ids=items)).values():
            for one in rounds:
                yield RoundScore(**{name: getattr(one, name) for name in RoundScore.__slots__})

    async def item_scores(self, experiment_id: str) -> dict[str, float]:
        """Mean score by item."""
        scores: dict[str, list[float]] = {}
        for result in await self.get_results(experiment_id):
            if result.error is None or result.error.kind.scored:
                scores.setdefault(result.item_id, []).append(result.score)
        return {item: sum(values) / len(values) for item, values in scores.items()}

    async def summarise(self, experiment_id: str) -> ExperimentSummary:
        """Recomputed from all results."""
        results = await self.get_results(experiment_id)
        runs = len(results)
        passed = sum(result.passed for result in results)
        errors = [result.error for result in results if result.error is not None]
        answered = [one.score for one in results if one.error is None or one.error.kind.scored]
        avg_tokens, avg_cost_usd = mean_footprint(results)
        return ExperimentSummary(
            runs=runs,
            passed=passed,
            failed=runs - passed,
            errors=len(errors),
            infrastructure_errors=sum(error.kind in _OUTSIDE for error in errors),
            score=sum(answered) / len(answered) if answered else None,
            pass_rate=passed / runs if runs else None,
            spending=Spending.sum(result.spending for result in results),
            avg_latency_ms=sum(r.latency_ms for r in results) / runs if runs else None,
            cached=sum(result.cached for result in results),
            avg_tokens=avg_tokens,
            avg_cost_usd=avg_cost_usd,
        )

    async def evaluated(self, optimization_id: str) -> set[tuple[str, str, int]]:
        """From all results of its experiments."""
        return {
            (experiment.configuration.hash, item_id, repeat)
            for experiment in self._of(optimization_id)
            for item_id, repeat in self.results[experiment.id]
        }

    async def spending_of(self, optimization_id: str) -> Spending:
        """Over all results of its experiments."""
        return Spending.sum(
            result.spending
            for experiment in self._of(optimization_id)
            for result in self.results[experiment.id].values()
        )

    def _of(self, optimization_id: str) -> list[Experiment]:
        mine = self.experiments.values()
        return [one for one in mine if one.optimization_id == optimization_id]


def _as_result(first: Round) -> ItemResult:
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


def _key(scope: CacheScope, item_hash: str, repeat: int) -> _CacheKey:
    return scope.agent_fingerprint, scope.configuration_hash, item_hash, repeat
