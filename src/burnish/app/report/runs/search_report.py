"""Search report of an optimization: what the optimizer says its search learnt, for every surface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_BLOCK = ("section", "text", "in_winner", "worth", "low", "high", "items")


def search_of(result: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Sentences, and what blocks are worth; None where the optimizer told nothing."""
    search = (result or {}).get("search")
    if not search:
        return None
    blocks = [one for one in search.get("blocks") or () if all(name in one for name in _BLOCK)]
    return {"words": list(_words(search)), "blocks": blocks}


def _words(search: Mapping[str, Any]) -> Iterator[str]:
    for name, value in search.items():
        if name == "blocks" or not value:
            continue
        if name == "reflections":
            yield from _reflection_words(value)
        elif name == "chosen":
            turns = value.get("turns") or [{"optimizer": value["choice"], **value}]
            for place, one in enumerate(turns):
                yield f"auto {'then ' * bool(place)}chose {one['optimizer']}: {one['reason']}"
        elif name == "race":
            soft = ", by probabilities of labels too" if value["soft_scores"] else ""
            yield (
                f"{value['candidates']} candidates raced, {value['ran_all_items']} of them over all "
                f"items{soft}"
            )
        elif name == "sections_left_out":
            yield f"sections that were not rewritten: {', '.join(value)}"
        else:
            yield f"{name.replace('_', ' ')}: {value}"


def _reflection_words(counted: Mapping[str, Any]) -> Iterator[str]:
    unusable = counted.get("unusable") or 0
    kinds = ""
    if isinstance(unusable, Mapping):
        kinds = ", ".join(f"{number} {kind}" for kind, number in unusable.items() if number)
        unusable = sum(unusable.values())
    yield f"reflections asked: {counted['asked']}, of which unusable: {unusable}" + (
        f" ({kinds})" if kinds else ""
    )
    if unusable and counted.get("example"):
        yield f"an unusable answer: “{counted['example']}”"
