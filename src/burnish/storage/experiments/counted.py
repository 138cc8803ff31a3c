"""Experiments whose saved results somebody counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from burnish.domain import CacheScope, ItemResult, Lease, Round
from burnish.storage.engine.database import Database
from burnish.storage.experiments.repository import SqlExperimentRepository


class CountedExperimentRepository(SqlExperimentRepository):
    """As its parent; `saved` is called with results once they are stored."""

    def __init__(self, database: Database, saved: Callable[[Sequence[ItemResult]], None]) -> None:
        super().__init__(database)
        self._saved = saved

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
        """Upsert by (experiment, item, repeat), and tell."""
        await super().save_results(
            experiment_id,
            results,
            cache=cache,
            scorers_fingerprint=scorers_fingerprint,
            rounds=rounds,
            lease=lease,
        )
        self._saved(results)
