"""An experiment repository whose writes carry the optimization's lease."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from burnish.domain import (
    CacheScope,
    Experiment,
    ExperimentRepository,
    ExperimentStatus,
    ExperimentSummary,
    ItemResult,
    Lease,
    Round,
    RoundScore,
    Spending,
)


class FencedExperiments:
    """Passes everything on; an owner that was replaced gets a conflict instead of a late write."""

    def __init__(self, inner: ExperimentRepository, lease: Lease) -> None:
        self._inner = inner
        self._lease = lease

    async def create_experiment(
        self, experiment: Experiment, *, lease: Lease | None = None
    ) -> None:
        """Under the lease."""
        await self._inner.create_experiment(experiment, lease=lease or self._lease)

    async def update_experiment(
        self,
        experiment_id: str,
        *,
        status: ExperimentStatus | None = None,
        planned_items: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        lease: Lease | None = None,
    ) -> None:
        """Under the lease."""
        await self._inner.update_experiment(
            experiment_id,
            status=status,
            planned_items=planned_items,
            metadata=metadata,
            lease=lease or self._lease,
        )

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
        """Under the lease."""
        await self._inner.save_results(
            experiment_id,
            results,
            cache=cache,
            scorers_fingerprint=scorers_fingerprint,
            rounds=rounds,
            lease=lease or self._lease,
        )

    async def get_experiment(self, experiment_id: str) -> Experiment:
        """As it is."""
        return await self._inner.get_experiment(experiment_id)

    async def list_experiments(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        optimization_id: str | None = None,
        name: str | None = None,
        standalone: bool = False,
    ) -> list[Experiment]:
        """As they are."""
        return await self._inner.list_experiments(
            limit=limit,
            before=before,
            optimization_id=optimization_id,
            name=name,
            standalone=standalone,
        )

    async def cached_results(
        self, scope: CacheScope, keys: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], tuple[ItemResult, str | None]]:
        """As they are."""
        return await self._inner.cached_results(scope, keys)

    async def has_results(self, scope: CacheScope) -> bool:
        """As it is."""
        return await self._inner.has_results(scope)

    async def evaluated(self, optimization_id: str) -> set[tuple[str, str, int]]:
        """As it is."""
        return await self._inner.evaluated(optimization_id)

    async def spending_of(self, optimization_id: str) -> Spending:
        """As it is."""
        return await self._inner.spending_of(optimization_id)

    def stream_results(self, experiment_id: str) -> AsyncIterator[ItemResult]:
        """As they are."""
        return self._inner.stream_results(experiment_id)

    async def get_results(
        self, experiment_id: str, *, item_ids: Sequence[str] | None = None
    ) -> list[ItemResult]:
        """As they are."""
        return await self._inner.get_results(experiment_id, item_ids=item_ids)

    async def get_rounds(
        self, experiment_id: str, *, item_ids: Sequence[str]
    ) -> dict[tuple[str, int], tuple[Round, ...]]:
        """As they are."""
        return await self._inner.get_rounds(experiment_id, item_ids=item_ids)

    async def open_rounds(self, experiment_id: str) -> dict[tuple[str, int], tuple[Round, ...]]:
        """As they are."""
        return await self._inner.open_rounds(experiment_id)

    def stream_round_scores(self, experiment_id: str) -> AsyncIterator[RoundScore]:
        """As they are."""
        return self._inner.stream_round_scores(experiment_id)

    async def item_scores(self, experiment_id: str) -> dict[str, float]:
        """As they are."""
        return await self._inner.item_scores(experiment_id)

    async def summarise(self, experiment_id: str) -> ExperimentSummary:
        """As it is."""
        return await self._inner.summarise(experiment_id)
