"""What came out, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.app.report.html.markup import safe
from burnish.app.report.html.material import Material
from burnish.app.report.html.wording import count, plain, probability, score, signed
from burnish.app.report.run_evidence import overruled_words
from burnish.app.report.trades import counted_measures, is_proven, is_refuted, trade_words
from burnish.domain import OptimizationStatus

# Both must hold before a difference is called an improvement.
_CERTAIN_P = 0.05


@dataclass(frozen=True, slots=True)
class Verdict:
    """Ready HTML: a headline and the sentences below it. `tone` is good, bad, warn or plain."""

    tone: str
    headline: str
    sentences: tuple[str, ...]


def verdict_of(material: Material) -> Verdict:
    """The verdict of an optimization in whatever state it is."""
    status = material.record.status
    if status is OptimizationStatus.FAILED:
        return _failed(material)
    if material.record.result is None:
        return _unfinished(material)
    found = _improved(material) if material.beaten else _not_improved(material)
    if status is OptimizationStatus.CANCELLED:
        told = "It was cancelled: this is what it had found by then."
        return Verdict(found.tone, found.headline, (told, *found.sentences))
    return found


def _improved(material: Material) -> Verdict:
    result = material.result
    searched = (
        f"On the items of the search the score went from {_score(result, 'baseline')} to "
        f"{_score(result, 'best')}.{_overruled(material)}"
    )
    improvement = result.get("improvement")
    if improvement is None:
        why = safe(str(result.get("confirmation") or "not confirmed"))
        return Verdict("warn", "Better in the search, not confirmed", (searched, f"{why}."))
    evidence = _evidence(improvement)
    delta = signed(improvement["delta"])
    if not improvement["held_out"]:
        caution = "No items were held out, so the difference is likely to look better than it is."
        headline = f"{delta} on the items of the search, without held-out proof"
        return Verdict("warn", headline, (evidence, caution))
    items = (result.get("test") or {}).get("items")
    where = "held-out items" if items is None else count(items, "held-out item")
    if counted_measures(result):
        return _by_objective(material, where, (evidence, searched))
    if improvement["ci_low"] > 0 and improvement["p_value"] < _CERTAIN_P:
        return Verdict("good", f"Improved: {delta} on {where}", (evidence, searched))
    if improvement["delta"] > 0:
        doubt = "On held-out items the gain may be chance: more items would tell."
        return Verdict("warn", f"Not confirmed: {delta} on {where}", (doubt, evidence, searched))
    doubt = "The gain in the search did not show on items that it had not seen."
    return Verdict("bad", f"Not improved: {delta} on {where}", (doubt, evidence, searched))


def _overruled(material: Material) -> str:
    words = overruled_words(material.result, material.record.optimizer_name)
    return "" if words is None else f" {safe(words[:1].upper() + words[1:])}."


def _by_objective(material: Material, where: str, sentences: tuple[str, ...]) -> Verdict:
    """What counts is the score with what it takes."""
    result = material.result
    delta, traded = signed(result["improvement"]["delta"]), safe(trade_words(result))
    change = f"score {delta} with {traded} on {where}"
    asked = f"It was chosen for {safe(material.ranking.objective.in_words())}."
    if is_refuted(result):
        doubt = "The gain in the search did not show on items that it had not seen."
        return Verdict("bad", f"Not better by the objective: {change}", (doubt, asked, *sentences))
    if not is_proven(result):
        doubt = "The score may have lost more than was saved: more items would tell."
        headline = f"Probably better by the objective: {change}"
        return Verdict("warn", headline, (doubt, asked, *sentences))
    return Verdict("good", f"Better by the objective: {change}", (asked, *sentences))


def _not_improved(material: Material) -> Verdict:
    told = str(material.result.get("why_not_improved") or "nothing beat the baseline")
    why = safe(told[:1].upper() + told[1:])
    kept = f"The result is the baseline, at {score(material.score_of(material.baseline))}."
    sentences = [f"{why}.", kept]
    if material.subject is not None:
        best = score(material.score_of(material.subject))
        sentences.append(
            f"The strongest challenger was candidate {material.subject.number}, at {best}; "
            "it is what this page compares the baseline with."
        )
    test = material.result.get("test")
    if test is not None:
        items = count(test.get("items", 0), "held-out item")
        sentences.append(f"On {items} the baseline scores {score(test['baseline_score'])}.")
    return Verdict("plain", "No improvement: nothing beat the baseline", tuple(sentences))


def _failed(material: Material) -> Verdict:
    error = material.record.framework_error or {}
    told = str(error.get("message") or "no reason was stored")
    message = safe(told[:1].upper() + told[1:])
    fix = safe(str(error.get("fix") or ""))
    sentences = [f"{message}.", *([f"To fix it: {fix}."] if fix else []), *_standing(material)]
    return Verdict("bad", "The optimization failed", tuple(sentences))


def _unfinished(material: Material) -> Verdict:
    record = material.record
    if record.status is OptimizationStatus.CANCELLED:
        headline = "Cancelled before it had a result"
    elif record.status is OptimizationStatus.INITIALIZED:
        headline = "Not started yet"
    else:
        headline = "Not finished: this is where it stands"
    sentences = list(_standing(material))
    if not record.status.final and record.lease_owner is None:
        command = f"<code>burnish resume {safe(record.id)}</code>"
        sentences.append(f"Nobody is working on it; {command} goes on with it.")
    return Verdict("warn", headline, tuple(sentences))


def _standing(material: Material) -> tuple[str, ...]:
    """How far a run without a result has come."""
    if not material.trials:
        return ("No trial has ended yet.",)
    phase = (material.record.checkpoint or {}).get("phase")
    where = f"; it is in the phase “{safe(plain(str(phase)))}”" if phase else ""
    done = sum(1 for one in material.trials.values() if one.status.final)
    reached = f"{count(done, 'trial')} ended, the baseline's among them{where}."
    baseline, best = material.score_of(material.baseline), material.score_of(material.best)
    if best is None:
        return (reached,)
    standing = (
        f"The best so far is candidate {material.best.number} at {score(best)}, against "
        f"{score(baseline)} of the baseline; not confirmed on held-out items."
        if material.best is not None and material.beaten
        else f"Nothing has beaten the baseline's {score(baseline)} so far."
    )
    return reached, standing


def _evidence(improvement: Mapping[str, Any]) -> str:
    low, high = signed(improvement["ci_low"]), signed(improvement["ci_high"])
    fixed, broken = count(improvement["fixed"], "item"), improvement["broken"]
    return (
        f"The difference is {signed(improvement['delta'])} (95% interval {low} to {high}, "
        f"{probability(improvement['p_value'])}): {fixed} fixed, {broken:,} broken."
    )


def _score(result: Mapping[str, Any], which: str) -> str:
    return score((result.get(which) or {}).get("score"))
