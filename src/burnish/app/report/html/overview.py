"""The top of the page: the verdict, the facts, and the numbers in boxes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from burnish.app.report.html.markup import definitions, safe
from burnish.app.report.html.material import Material
from burnish.app.report.html.scales import Axis
from burnish.app.report.html.verdict import verdict_of
from burnish.app.report.html.wording import (
    count,
    measure,
    moment,
    money,
    plain,
    score,
    signed,
)
from burnish.domain import Candidate, ExperimentStatus


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
        "Status": safe(record.status.value),
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
    boxes = "".join(
        f'<div class="card"><span class="soft">{label}</span><b>{value}</b>'
        f'<div class="soft">{below}</div></div>\n'
        for label, value, below in _cards(material)
    )
    return f'<div class="cards">\n{boxes}</div>\n'


def _cards(material: Material) -> Iterator[tuple[str, str, str]]:
    alone = material.subject is None
    sides = "baseline" if alone else f"baseline → {'best' if material.beaten else 'challenger'}"
    before = score(material.score_of(material.baseline))
    after = None if alone else score(material.score_of(material.subject))
    yield "Score in the search", _arrow(before, after), sides
    test = material.result.get("test")
    if test is not None:
        confirmed = score(test["best_score"]) if material.beaten else None
        below = f"{count(test.get('items', 0), 'item')} that the search never saw"
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
    extra = f" · {count(batches, 'mini-batch')}".replace("batchs", "batches") if batches else ""
    below = f"{completed:,} completed · {pruned:,} ended early · {failed:,} failed{extra}"
    yield "Trials", f"{len(statuses):,}", below
    evaluations = material.result.get("evaluations", material.events.evaluations)
    refused = count(len(material.rejections), "proposal")
    yield "Evaluations", "–" if evaluations is None else f"{evaluations:,}", f"{refused} refused"


def _spent(material: Material) -> Iterator[tuple[str, str, str]]:
    total = material.spending.total
    tokens = total.input_tokens + total.output_tokens
    below = (
        f"{total.input_tokens:,} in · {total.output_tokens:,} out · {count(total.calls, 'call')}"
    )
    yield "Tokens used", f"{tokens:,}", below
    purposes = sorted(material.spending.by_purpose.items())
    by_purpose = " · ".join(f"{safe(name)} {money(one.cost_usd)}" for name, one in purposes)
    yield "Cost", money(total.cost_usd), by_purpose or "no model call was counted"


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
