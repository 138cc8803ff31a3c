"""What a chosen candidate trades, and whether it stays the better one on held-out items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.optimization.objectives.front import MEASURES

_SIGNIFICANT = 0.05
_NOTHING = 1e-9
_LESS = {"tokens": "fewer tokens", "cost": "lower cost", "latency": "lower latency"}
_MORE = {"tokens": "more tokens", "cost": "higher cost", "latency": "higher latency"}


def counted_measures(document: Mapping[str, Any]) -> tuple[str, ...]:
    """What counted besides the score in a result."""
    objective = document.get("objective") or {}
    return tuple(objective.get("pareto") or ()) or tuple(
        name for name in MEASURES if name in (objective.get("weights") or {})
    )


def is_shown_worse(document: Mapping[str, Any]) -> bool:
    """Whether the compared items show more than chance that the winner is worse.

    This is what speaks against a compression: it is to be shorter and as good, not better.
    """
    improvement = document.get("improvement")
    return improvement is not None and (improvement["ci_high"] or 0.0) < 0


def is_refuted(document: Mapping[str, Any]) -> bool:
    """Whether the compared items speak against the winner: by score, or by what it saves too."""
    improvement = document.get("improvement")
    if improvement is None:
        return False
    allowance = _allowance(document)
    gain: float = improvement["delta"] + allowance
    return gain < -_NOTHING if allowance > 0 else gain <= 0


def is_proven(document: Mapping[str, Any]) -> bool:
    """Whether the compared items leave no reasonable doubt that the winner is better."""
    improvement = document["improvement"]
    allowance, low = _allowance(document), improvement["ci_low"]
    if allowance > 0:
        return bool(low + allowance >= -_NOTHING)
    return bool(low + allowance > 0 and improvement["p_value"] < _SIGNIFICANT)


def trade_words(document: Mapping[str, Any]) -> str:
    """What the winner takes against the baseline, such as `49% fewer tokens`; may be empty."""
    objective = document.get("objective") or {}
    sides = objective.get("held_out") or objective
    return change_words(counted_measures(document), sides.get("baseline"), sides.get("chosen"))


def change_words(
    measures: Sequence[str],
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> str:
    """How measures changed from one candidate to another."""
    words = []
    for name in measures:
        old, new = (None if side is None else side.get(MEASURES[name]) for side in (before, after))
        if not old or new is None:
            continue
        share = new / old - 1
        if abs(share) < 0.005:
            words.append(f"the same {name}")
        else:
            words.append(f"{abs(share):.0%} {(_LESS if share < 0 else _MORE)[name]}")
    return " and ".join(words)


def top_of_front(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The front's member that scores best."""
    front = (document.get("objective") or {}).get("front") or ()
    return max(front, key=lambda one: one["score"], default=None)


def _allowance(document: Mapping[str, Any]) -> float:
    return float((document.get("objective") or {}).get("allowance") or 0.0)
