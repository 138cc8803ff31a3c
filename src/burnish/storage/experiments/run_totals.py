"""What all experiments of an optimization did together, each in one query."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import Spending
from burnish.storage.engine.codec import SafeText
from burnish.storage.experiments.summaries import Totals
from burnish.storage.experiments.tables import experiment_items, experiments

_BATCH = 5000

_items = experiment_items.c
_of_optimization = experiments.c.optimization_id == bindparam("optimization", type_=SafeText)
_joined = experiments.join(experiment_items, _items.experiment_id == experiments.c.id)
# From two indices alone.
_evaluated = (
    select(experiments.c.configuration_hash, _items.item_id, _items.repeat)
    .select_from(_joined)
    .where(_of_optimization)
)
# Many items cost the same, so that each amount is decoded once. In a fixed order, see `summaries`.
_amounts = (
    select(_items.spending, func.count())
    .select_from(_joined)
    .where(_of_optimization)
    .group_by(_items.spending)
    .order_by(_items.spending)
)


async def evaluated(connection: AsyncConnection, optimization_id: str) -> set[tuple[str, str, int]]:
    """Every (configuration hash, item id, repeat) that has a result."""
    found: set[tuple[str, str, int]] = set()
    async with connection.stream(_evaluated, {"optimization": optimization_id}) as rows:
        async for batch in rows.partitions(_BATCH):
            found.update((digest, item_id, repeat) for digest, item_id, repeat in batch)
    return found


async def spending(connection: AsyncConnection, optimization_id: str) -> Spending:
    """What all results cost."""
    totals = Totals()
    async with connection.stream(_amounts, {"optimization": optimization_id}) as rows:
        async for batch in rows.partitions(_BATCH):
            for amount, times in batch:
                totals.add(amount, times)
    return totals.spending()
