"""What speaks for the winner of a run, and in a sentence why a run is not what was hoped for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.app.report.trades import is_proven, is_refuted, is_shown_worse
from burnish.domain import OptimizationRecord, OptimizationStatus

COMPRESS = "compress"
# They choose by a fit of what each line does; others that choose do it in ways of their own.
_BY_LINES = ("gepa", "auto")
_LUCK = (
    "takes that for luck: by the results of all candidates that share its lines the winner is "
    "better"
)
_ITS_OWN = "chose the winner by more than that score"
_COMPARED = ("held_out", "delta", "ci_low", "ci_high", "p_value", "fixed", "broken")


def evidence_of(record: OptimizationRecord) -> dict[str, Any] | None:
    """The comparison of winner and baseline; None while there is none."""
    result = record.result or {}
    improvement = result.get("improvement")
    if improvement is None:
        return None
    test = result.get("test") or {}
    refutes = is_shown_worse if record.optimizer_name == COMPRESS else is_refuted
    return {
        **{name: improvement[name] for name in _COMPARED},
        "items": test.get("items"),
        "baseline_score": test.get("baseline_score", record.baseline_score),
        "best_score": test.get("best_score", record.best_score),
        "proven": is_proven(result),
        "refuted": refutes(result),
        "overruled": overruled_of(result, record.optimizer_name),
    }


def overruled_of(result: Mapping[str, Any], optimizer: str) -> dict[str, Any] | None:
    """Who scored higher than the winner, and why it is not the winner; None where nobody did.

    A compression is chosen by its length, so that is no news.
    """
    other = result.get("overruled")
    if not other or optimizer == COMPRESS:
        return None
    return {**other, "why": f"{optimizer} {_LUCK if optimizer in _BY_LINES else _ITS_OWN}"}


def overruled_words(result: Mapping[str, Any], optimizer: str) -> str | None:
    """The same as a sentence without its end."""
    other = overruled_of(result, optimizer)
    if other is None:
        return None
    return (
        f"candidate {other['number']} scored higher on the items of the search "
        f"({other['score']:.3f}); {other['why']}"
    )


def explanation_of(record: OptimizationRecord, *, owned: bool) -> str | None:
    """Why it is empty, failed, was stopped or found nothing; None when all is well."""
    result = record.result or {}
    if record.status is OptimizationStatus.FAILED:
        return _failure(record.framework_error or {})
    if record.status is OptimizationStatus.INITIALIZED:
        return "it has not begun: nobody has started it, or it waits for its turn"
    if record.status is OptimizationStatus.RUNNING:
        if not owned:
            return "nobody works on it at the moment: resume it, or wait for a server to take it up"
        return None if record.baseline_score is not None else "the baseline is evaluated first"
    if record.status is OptimizationStatus.CANCELLED:
        return result.get("stop_message") or "it was cancelled"
    return None if result.get("improved") else result.get("why_not_improved")


def _failure(error: Mapping[str, Any]) -> str:
    message = str(error.get("message") or "it failed")
    return f"{message}; {error['fix']}" if error.get("fix") else message
