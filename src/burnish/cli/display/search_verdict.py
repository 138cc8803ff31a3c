"""What an optimization proves, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from burnish.app.report.trades import counted_measures, is_proven, is_refuted, trade_words
from burnish.cli.display.comparisons import p_words
from burnish.cli.wording import count

_SIGNIFICANT = 0.05


def search_verdict(document: Mapping[str, Any]) -> Text:
    """One or two sentences: whether it is better, how sure that is, and else why not."""
    if not document["improved"] and document.get("status") == "cancelled":
        return _said("cancelled", "before anything beat the baseline.", "yellow")
    if not document["improved"]:
        why = document.get("why_not_improved") or "no candidate was better"
        return _said("nothing beat the baseline", f"{why}. The baseline stays.", "yellow")
    improvement = document["improvement"]
    if improvement is None:
        why = str(document.get("confirmation") or "not confirmed")
        return _said("better in the search only", f"{why}.", "yellow")
    if not improvement["held_out"]:
        return _said(
            "better on the items of the search",
            "nothing was held out, so the gain likely looks larger than it is. Add a test split.",
            "yellow",
        )
    items = count(document["test"]["items"], "held-out item")
    if counted_measures(document):
        return _by_objective(document, items)
    p_value = _equals(improvement["p_value"])
    if improvement["delta"] <= 0:
        return _said(
            "not better",
            f"the gain in the search did not show on {items}. Keep the baseline.",
            "red",
        )
    if improvement["ci_low"] <= 0 or improvement["p_value"] >= _SIGNIFICANT:
        return _said(
            "probably better, not proven",
            f"the gain on {items} may be chance (p {p_value}). More test items would tell.",
            "yellow",
        )
    return _said("better", f"proven on {items} that the search never saw (p {p_value}).", "green")


def _by_objective(document: Mapping[str, Any], items: str) -> Text:
    """What counts is the score with what it takes."""
    improvement = document["improvement"]
    change = f"score {improvement['delta']:+.3f} with {trade_words(document)} on {items}"
    if is_refuted(document):
        words = f"{change}, so the gain in the search did not show. Keep the baseline."
        return _said("not better by the objective", words, "red")
    if not is_proven(document):
        low, high = improvement["ci_low"], improvement["ci_high"]
        words = (
            f"{change}, but the score may lie at {low:+.3f} to {high:+.3f}. More items would tell."
        )
        return _said("probably better by the objective, not proven", words, "yellow")
    return _said("better by the objective", f"{change}.", "green")


def _said(headline: str, words: str, colour: str) -> Text:
    return Text.assemble((f"{headline}: ", f"bold {colour}"), words)


def _equals(p_value: float) -> str:
    words = p_words(p_value)
    return words if words.startswith("<") else f"= {words}"
