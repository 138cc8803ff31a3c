"""Overview of a report: the verdict in plain words, the facts, and the numbers in boxes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from burnish.app.report.html.marks import Axis
from burnish.app.report.html.markup import (
    definitions,
    measure,
    moment,
    money,
    plain,
    probability,
    safe,
    score,
    signed,
)
from burnish.app.report.html.material import Material
from burnish.app.report.runs.evidence import (
    counted_measures,
    error_words,
    held_out_items,
    is_proven,
    is_refuted,
    overruled_words,
    trade_words,
)
from burnish.app.report.runs.lines import is_owned, python_call, state_of
from burnish.domain import Candidate, ExperimentStatus, OptimizationStatus
from burnish.domain.wording import counted
from burnish.optimization.outcome import unknown_usage

# Both must hold before a difference is called an improvement.


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
    where = "held-out items" if items is None else held_out_items(result["test"])
    if counted_measures(result):
        return _by_objective(material, where, (evidence, searched))
    told = tuple(f"{safe(words[:1].upper() + words[1:])}." for words in error_words(result))
    if is_proven(result):
        return Verdict("good", f"Improved: {delta} on {where}", (evidence, searched, *told))
    if told and improvement["delta"] > 0:
        return Verdict("warn", f"Not confirmed: {delta} on {where}", (*told, evidence, searched))
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
        items = held_out_items(test)
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
    if not record.status.final and not is_owned(record):
        command = f"<code>{safe(python_call(record) or f'burnish resume {record.id}')}</code>"
        sentences.append(f"Nobody is working on it; {command} goes on with it.")
    return Verdict("warn", headline, tuple(sentences))


def _standing(material: Material) -> tuple[str, ...]:
    """How far a run without a result has come."""
    if not material.trials:
        return ("No trial has ended yet.",)
    phase = (material.record.checkpoint or {}).get("phase")
    where = f"; it is in the phase “{safe(plain(str(phase)))}”" if phase else ""
    done = sum(1 for one in material.trials.values() if one.status.final)
    reached = f"{counted(done, 'trial')} ended, the baseline's among them{where}."
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
    fixed, broken = counted(improvement["fixed"], "item"), improvement["broken"]
    return (
        f"The difference is {signed(improvement['delta'])} (95% interval {low} to {high}, "
        f"{probability(improvement['p_value'])}): {fixed} fixed, {broken:,} broken."
    )


def _score(result: Mapping[str, Any], which: str) -> str:
    return score((result.get(which) or {}).get("score"))


def header(material: Material) -> str:
    """The verdict in words, with the interval drawn, and what was run."""
    verdict = verdict_of(material)
    sentences = "".join(f"<p>{sentence}</p>" for sentence in verdict.sentences)
    improvement = material.result.get("improvement") if material.beaten else None
    drawn = "" if improvement is None else _interval(improvement)
    return (
        f"<header><h1>{safe(material.record.name)}</h1>\n"
        f'<div class="verdict {verdict.tone}"><p class="headline">{verdict.headline}</p>'
        f"{sentences}{drawn}</div>\n{_facts(material)}</header>\n"
    )


def _facts(material: Material) -> str:
    record = material.record
    stop = "–" if record.stop_reason is None else safe(plain(record.stop_reason))
    message = material.result.get("stop_message")
    facts = {
        "Status": safe(state_of(record)),
        "Stopped by": f"{stop}{f' ({safe(str(message))})' if message else ''}",
        "Agent": safe(record.agent_name),
        "Suite": safe(record.suite_name),
        "Objective": safe(record.objective_name) + _besides(material),
        "Optimizer": safe(record.optimizer_name),
        "Seed": str(record.seed),
        "Started": safe(moment(record.created_at)),
        "Last change": safe(moment(record.updated_at)),
        "Id": f"<code>{safe(record.id)}</code>",
    }
    return f'<div class="facts">{definitions(facts)}</div>\n'


def _besides(material: Material) -> str:
    """What counts besides the score."""
    objective = material.ranking.objective
    return f": {safe(objective.in_words())}" if objective.measures else ""


def _interval(improvement: Mapping[str, Any]) -> str:
    """The difference with its interval, beside the line of no change."""
    low, high, delta = (improvement[name] for name in ("ci_low", "ci_high", "delta"))
    reach = max(abs(low), abs(high), abs(delta), 1e-6) * 1.1
    axis = Axis(-reach, reach, 10, 390, ())
    words = f"{signed(delta)}, 95% interval {signed(low)} to {signed(high)}"
    return (
        '<svg class="interval" role="img" viewBox="0 0 400 46" width="400" height="46" '
        f'aria-label="Difference {words}"><path class="grid" d="M10 16H390"/>'
        '<path class="zero" d="M200 4V28"/><text class="tick" x="200" y="42" text-anchor="middle">no '
        f'change</text><path class="range" d="M{axis.at(low):.1f} 16H{axis.at(high):.1f}"/>'
        f'<circle class="delta" cx="{axis.at(delta):.1f}" cy="16" r="6"/></svg>'
    )


def cards(material: Material) -> str:
    """The numbers, each in a box of its own."""
    return boxes(_cards(material))


def boxes(facts: Iterable[tuple[str, str, str]]) -> str:
    """Labels with ready values and what stands below them."""
    shown = "".join(
        f'<div class="card"><span class="soft">{label}</span><b>{value}</b>'
        f'<div class="soft">{below}</div></div>\n'
        for label, value, below in facts
    )
    return f'<div class="cards">\n{shown}</div>\n'


def _cards(material: Material) -> Iterator[tuple[str, str, str]]:
    alone = material.subject is None
    sides = "baseline" if alone else f"baseline → {'best' if material.beaten else 'challenger'}"
    before = score(material.score_of(material.baseline))
    after = None if alone else score(material.score_of(material.subject))
    yield "Score in the search", _arrow(before, after), sides
    test = material.result.get("test")
    if test is not None:
        confirmed = score(test["best_score"]) if material.beaten else None
        below = f"{held_out_items(test, 'item')} that the search never saw"
        yield "Score held out", _arrow(score(test["baseline_score"]), confirmed), below
    else:
        yield "Score held out", "–", "not confirmed on held-out items"
    yield from _measured(material, sides)
    yield from _work(material)
    yield from _spent(material)
    if material.baseline is not None:
        yield _prompt_card(material, material.baseline, sides)


def _measured(material: Material, sides: str) -> Iterator[tuple[str, str, str]]:
    """What counts besides the score."""
    by_id = {one.candidate_id: one.measures for one in material.points}
    pair = (material.baseline, material.subject)
    found = [None if one is None else by_id.get(one.id) for one in pair]
    before, after = found
    for name in material.ranking.objective.measures if before is not None else ():
        old = None if before is None else before.of_name(name)
        new = None if after is None else after.of_name(name)
        told = None if after is None else measure(name, new)
        share = _share(old, new) if old is not None and new is not None else ""
        yield _MEASURED[name], _arrow(measure(name, old), told), sides + share


def _prompt_card(material: Material, baseline: Candidate, sides: str) -> tuple[str, str, str]:
    before = material.tokens.get(baseline.id, 0)
    if material.subject is None:
        return "Tokens of the prompt", f"{before:,}", sides
    after = material.tokens.get(material.subject.id, 0)
    return "Tokens of the prompt", f"{before:,} → {after:,}", sides + _share(before, after)


def _work(material: Material) -> Iterator[tuple[str, str, str]]:
    statuses = [
        trial.status
        for identity, trial in material.trials.items()
        if material.by_id[identity].number != 0
    ]
    completed = statuses.count(ExperimentStatus.COMPLETED)
    pruned = statuses.count(ExperimentStatus.PRUNED)
    failed = sum(1 for one in statuses if one.final) - completed - pruned
    batches = sum(map(len, material.mini_batches.values()))
    extra = f" · {counted(batches, 'mini-batch')}".replace("batchs", "batches") if batches else ""
    below = f"{completed:,} completed · {pruned:,} ended early · {failed:,} failed{extra}"
    yield "Trials", f"{len(statuses):,}", below
    evaluations = material.result.get("evaluations", material.events.evaluations)
    refused = counted(len(material.rejections), "proposal")
    yield "Evaluations", "–" if evaluations is None else f"{evaluations:,}", f"{refused} refused"


def _spent(material: Material) -> Iterator[tuple[str, str, str]]:
    total = material.spending.total
    tokens = total.input_tokens + total.output_tokens
    below = f"{total.token_words} · {counted(total.calls, 'call')}"
    yield "Tokens used", f"{tokens:,}", below
    purposes = sorted(material.spending.by_purpose.items())
    by_purpose = " · ".join(f"{safe(name)} {money(one.cost_usd)}" for name, one in purposes)
    told = material.spending.to_json(answers=unknown_usage(material.trials.values()))
    yield "Cost", money(told["cost_usd"]), by_purpose or "no model call was counted"


def _arrow(before: str, after: str | None) -> str:
    return before if after is None else f"{before} → {after}"


_MEASURED = {
    "tokens": "Tokens of an evaluation",
    "cost": "Cost of 1,000 evaluations",
    "latency": "Latency of an evaluation",
}


def _share(before: float, after: float) -> str:
    if not before or before == after:
        return ""
    return f" ({(after - before) / before:+.0%})".replace("-", "−")
