"""Looks at one set of held-out items: the runs of an agent that compared their winner on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.domain import OptimizationRepository, canonical_hash

# Of the newest runs, so many are looked through.
_LOOKED_THROUGH = 500


def fingerprint_of(item_ids: Sequence[str]) -> str | None:
    """Of the held-out items, in any order; None where there are none."""
    return canonical_hash(sorted(item_ids)) if item_ids else None


async def look_at(repository: OptimizationRepository, document: Mapping[str, Any]) -> int:
    """The number of a run's look, the first being 1, by its result.

    Another agent's runs count not: its comparison is another question. What was started later counts
    once it has ended, for it has looked before. A winner that was compared before with the same
    outcome, as a cache gives it, shows nothing new: that is the same look.
    """
    own = await repository.get_optimization(str(document["optimization_id"]))
    held_out, seen = document["held_out_items"], _seen(document)
    look = 1
    for one in await repository.list_optimizations(limit=_LOOKED_THROUGH):
        if one.id == own.id or one.agent_name != own.agent_name or not one.status.final:
            continue
        earlier = (await repository.get_optimization(one.id)).result or {}
        compared = earlier.get("improvement") or {}
        if not compared.get("held_out") or earlier.get("held_out_items") != held_out:
            continue
        if _seen(earlier) == seen:
            return int(compared["look"])
        look = max(look, int(compared["look"]) + 1)
    return look


def _seen(document: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """What was compared, and how it came out."""
    compared = document["improvement"]
    outcome = {name: value for name, value in compared.items() if name not in ("look", "level")}
    return (document.get("best") or {}).get("configuration"), outcome
