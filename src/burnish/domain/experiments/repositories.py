"""Repositories of datasets and experiments: the protocols that storage fulfils."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from burnish.domain.experiments.items import Item
from burnish.domain.experiments.records import (
    Experiment,
    ExperimentStatus,
    ExperimentSummary,
    ItemResult,
)
from burnish.domain.experiments.refinement import Round, RoundScore
from burnish.domain.jobs import Lease
from burnish.domain.usage import Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRecord:
    """One content of a dataset: the same name with other rows is another record."""

    id: str
    name: str
    fingerprint: str
    items: int
    created_at: str = ""


class DatasetRepository(Protocol):
    """Keeps the rows that experiments ran on, so that a result can be read without the file."""

    async def ensure_dataset(
        self, name: str, fingerprint: str, items: Iterable[Item]
    ) -> DatasetRecord:
        """The record of this content; rows are read and written only when it is new.

        All rows or none: a crash in between leaves no half dataset behind. `items` is consumed
        in batches, so it may be larger than memory.
        """
        ...

    async def get_dataset(self, dataset_id: str) -> DatasetRecord:
        """UsageError with code `not_found` when there is none."""
        ...

    def stream_items(self, dataset_id: str) -> AsyncIterator[Item]:
        """All rows in their file's order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheScope:
    """What a cached item result depends on besides the item and the repeat."""

    agent_fingerprint: str
    configuration_hash: str


class ExperimentRepository(Protocol):
    """Keeps experiments and their item results. Every write is all or nothing.

    A write with a lease is refused with ConflictError when the lease has moved to another owner, in
    the transaction that writes.
    """

    async def create_experiment(
        self, experiment: Experiment, *, lease: Lease | None = None
    ) -> None:
        """ConflictError when the id is taken."""
        ...

    async def update_experiment(
        self,
        experiment_id: str,
        *,
        status: ExperimentStatus | None = None,
        planned_items: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        lease: Lease | None = None,
    ) -> None:
        """Changes what is given; `metadata` is merged over what is there, key by key."""
        ...

    async def get_experiment(self, experiment_id: str) -> Experiment:
        """UsageError with code `not_found` when there is none."""
        ...

    async def list_experiments(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        optimization_id: str | None = None,
        name: str | None = None,
        standalone: bool = False,
    ) -> list[Experiment]:
        """Newest first; `before` is the id of the last one seen.

        With `standalone`, only those that were not run for an optimization.
        """
        ...

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
        """Upserts by (experiment, item, repeat), rounds also by their number.

        With a cache scope, what agents answered without an error can be found by `cached_results`
        afterwards, from any experiment: results, or the first round of outputs that were refined.
        A first round forgets later ones of an earlier attempt.
        """
        ...

    async def cached_results(
        self, scope: CacheScope, keys: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], tuple[ItemResult, str | None]]:
        """The newest error-free results by (item hash, repeat), with their scorers' fingerprints."""
        ...

    async def has_results(self, scope: CacheScope) -> bool:
        """Whether `cached_results` may find anything under the scope; a no is certain, and quick."""
        ...

    def stream_results(self, experiment_id: str) -> AsyncIterator[ItemResult]:
        """All results ordered by item id and repeat, in bounded memory."""
        ...

    async def get_results(
        self, experiment_id: str, *, item_ids: Sequence[str] | None = None
    ) -> list[ItemResult]:
        """Results as a list, of some items or of all."""
        ...

    async def get_rounds(
        self, experiment_id: str, *, item_ids: Sequence[str]
    ) -> dict[tuple[str, int], tuple[Round, ...]]:
        """The rounds of some items in order, by (item id, repeat)."""
        ...

    async def open_rounds(self, experiment_id: str) -> dict[tuple[str, int], tuple[Round, ...]]:
        """Rounds of runs that have no result yet: where a stopped experiment goes on."""
        ...

    def stream_round_scores(self, experiment_id: str) -> AsyncIterator[RoundScore]:
        """The scores of all rounds by item id, repeat and number, in bounded memory."""
        ...

    async def item_scores(self, experiment_id: str) -> dict[str, float]:
        """The mean score by item id, over repeats: what paired comparisons read."""
        ...

    async def summarise(self, experiment_id: str) -> ExperimentSummary:
        """Computed by the database, not by loading every result."""
        ...

    async def evaluated(self, optimization_id: str) -> set[tuple[str, str, int]]:
        """Every (configuration hash, item id, repeat) that an optimization has a result of."""
        ...

    async def spending_of(self, optimization_id: str) -> Spending:
        """What all results of an optimization's experiments cost together."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetRow:
    """One row. `origin` tells which run a regression case came from; others have none."""

    position: int
    item: Item
    origin: Mapping[str, Any] | None = None
