"""Looks at one set of held-out items: the runs of an agent that compared their winner on them."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.domain import OptimizationRepository, canonical_hash

# Of the newest runs, so many are looked through.
_LOOKED_THROUGH = 500


def fingerprint_of(item_ids: Sequence[str]) -> str | None:
    """Of the held-out items, in any order; None where there are none."""
    return canonical_hash(sorted(item_ids)) if item_ids else None


async def look_at(
    repository: OptimizationRepository, optimization_id: str, held_out: str | None
) -> int:
    """The number of this run's look, the first being 1.

    Another agent's runs count not: its comparison is another question. What was started later counts
    once it has ended, for it has looked before.
    """
    own = await repository.get_optimization(optimization_id)
    look = 1
    for one in await repository.list_optimizations(limit=_LOOKED_THROUGH):
        if one.id == own.id or one.agent_name != own.agent_name or not one.status.final:
            continue
        result = (await repository.get_optimization(one.id)).result or {}
        compared = (result.get("improvement") or {}).get("held_out")
        look += bool(compared) and held_out is not None and result.get("held_out_items") == held_out
    return look
