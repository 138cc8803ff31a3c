"""One HTML page with everything in it: it asks no server for anything."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from html import escape
from importlib import resources

from burnish.app.evaluate.records import Record, complaint
from burnish.app.evaluate.result import EvaluationResult
from burnish.cli.display.evaluation import refinement_rows
from burnish.cli.wording import harmless, money, percent
from burnish.domain import Json, Round
from burnish.domain.wording import counted
from burnish.evaluation.refine.statistics import RefinementStatistics
from burnish.evaluation.statistics import Interval

# The page may run what is written in it and nothing else, whatever a model's answer holds.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"


async def html_lines(
    result: EvaluationResult, records: AsyncIterator[Record]
) -> AsyncIterator[str]:
    """The page: numbers, configuration, then every run in a table that can be filtered."""
    yield _head(result)
    yield cards(result)
    for warning in result.warnings:
        yield f'<p class="warning">{safe(warning)}</p>\n'
    yield refinement_summary(result.refinement)
    yield configuration(result)
    yield _filters(result)
    yield (
        '<div class="table"><table><thead><tr><th></th><th>Item</th><th>Score</th>'
        "<th>Input</th><th>Output</th><th>Why</th></tr></thead><tbody>\n"
    )
    async for record in records:
        yield _row(record)
    yield f"</tbody></table></div>\n<script>{_asset('page.js')}</script>\n</body></html>\n"


def _head(result: EvaluationResult) -> str:
    experiment = result.experiment
    title = safe(experiment.name)
    model = experiment.metadata.get("model")
    facts = [
        f"agent {safe(experiment.agent_name)}",
        *([f"model {safe(str(model))}"] if model else []),
        f"suite {safe(experiment.suite_name)}",
        safe(experiment.status.value),
        safe(experiment.created_at),
    ]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title} · Burnish</title>\n<style>{_asset('page.css')}</style></head>\n"
        f'<body data-show="all"><h1>{title}</h1>\n<div class="soft">{" · ".join(facts)}<br>'
        f"experiment <code>{safe(experiment.id)}</code></div>\n"
    )


def _filters(result: EvaluationResult) -> str:
    states = [
        ("all", f"All {result.items:,}"),
        ("failed", f"Failed {result.failed:,}"),
        ("passed", f"Passed {result.items - result.failed:,}"),
    ]
    if result.errors:
        states.append(("errored", f"Errors {result.errors:,}"))
    buttons = "".join(_button(name, label) for name, label in states)
    search = '<input type="search" placeholder="Search" aria-label="Search the runs">'
    return f'<h2>Runs</h2><div class="filters">{buttons}{search}</div>\n'


def _button(name: str, label: str) -> str:
    pressed = str(name == "all").lower()
    return f'<button type="button" data-show="{name}" aria-pressed="{pressed}">{label}</button>'


def _row(record: Record) -> str:
    run = record.result
    state = "passed" if run.passed else "errored" if run.error is not None else "failed"
    name = safe(run.item_id if run.repeat == 0 else f"{run.item_id} #{run.repeat}")
    output = "" if run.output is None else run.output.text
    fields = "".join(
        f"<dt>{safe(field)}</dt><dd>{safe(as_text(value))}</dd>"
        for field, value in record.fields.items()
    )
    return (
        f'<tr class="{state}"><td class="verdict">{"✓" if run.passed else "✗"}</td>'
        f'<td class="id" title="{name}">{name}</td><td class="number">{run.score:.3f}</td>'
        f'<td><div class="text"><dl>{fields}</dl></div></td>'
        f'<td><div class="text">{safe(output)}</div>{rounds_of(record)}</td>'
        f'<td><div class="text">{safe(complaint(run))}</div></td></tr>\n'
    )


def _asset(name: str) -> str:
    return (resources.files("burnish.cli") / "templates" / "page" / name).read_text("utf-8")


def safe(text: str) -> str:
    """Foreign text as HTML that shows it and does nothing else."""
    return escape(harmless(text), quote=True)


def as_text(value: Json) -> str:
    """A value for people: text as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)


def cards(result: EvaluationResult) -> str:
    """The numbers, each in a box of its own."""
    summary = result.summary
    usage = summary.spending.total
    score, passed = result.score_interval, result.pass_interval
    score_words = f"{score.low:.3f} to {score.high:.3f}"
    rate_words = f"{percent(passed.low)} to {percent(passed.high)}"
    mean, rate = result.score, result.pass_rate
    counts = (
        f"{result.failed:,} failed · {counted(result.errors, 'error')} · {summary.cached:,} cached"
    )
    tokens = usage.token_words
    latency = summary.avg_latency_ms
    boxes = [
        _card("score", "–" if mean is None else f"{mean:.3f}", _range(mean, score, score_words)),
        _card("passed", "–" if rate is None else percent(rate), _range(rate, passed, rate_words)),
        _card("runs", f"{result.items:,}", counts),
        _card("cost", money(summary.cost_usd), f"{counted(usage.calls, 'call')} · {tokens}"),
        _card("latency", "–" if latency is None else f"{latency:,.1f} ms", "a run, on average"),
    ]
    return f'<div class="cards">\n{"".join(boxes)}</div>\n'


def configuration(result: EvaluationResult) -> str:
    """What the agent ran under."""
    settings = result.experiment.configuration
    parts = dict(settings.sections)
    if settings.parameters:
        parts["parameters"] = as_text(dict(settings.parameters))
    if settings.examples:
        parts["examples"] = as_text(list(settings.examples))
    shown = "".join(f"<b>{safe(name)}</b><pre>{safe(text)}</pre>" for name, text in parts.items())
    return (
        f'<details class="configuration" open><summary>Configuration</summary>{shown}'
        f'<span class="soft">hash {safe(settings.hash)}</span></details>\n'
    )


def _card(label: str, value: str, below: str) -> str:
    return (
        f'<div class="card"><span class="soft">{label}</span><b>{value}</b>'
        f'<div class="soft">{below}</div></div>\n'
    )


def _range(value: float | None, interval: Interval, words: str) -> str:
    """The interval as a bar, for scores from 0 to 1."""
    if value is None:
        return "nothing was measured"
    if not (0 <= interval.low <= interval.high <= 1):
        return f"95% {words}"
    left, width = interval.low * 100, (interval.high - interval.low) * 100
    bar = f'<i style="left:{left:.1f}%;width:{width:.1f}%"></i>'
    mark = f'<u style="left:{value * 100:.1f}%"></u>'
    return f'<div class="range">{bar}{mark}</div>95% {words}'


def refinement_summary(found: RefinementStatistics | None) -> str:
    """The same lines as on a terminal; nothing where refinement was never asked for."""
    rows = refinement_rows(found)
    if not rows:
        return ""
    cells = "".join(
        f"<tr><th>{safe(label)}</th><td>{safe(text.plain)}</td></tr>" for label, text in rows
    )
    return f'<h2>Refinement</h2><table class="refinement"><tbody>{cells}</tbody></table>\n'


def rounds_of(record: Record) -> str:
    """All rounds of an output in order, folded away."""
    refined = record.result.refinement
    if refined is None:
        return ""
    title = f"{refined.outcome.value.replace('_', ' ')} · {counted(len(record.rounds), 'round')}"
    why = f'<div class="soft">ended: {safe(refined.ended.value)} ({safe(refined.ended_why)})</div>'
    rounds = "".join(map(_round, record.rounds))
    return f'<details class="rounds"><summary>{safe(title)}</summary>{rounds}{why}</details>'


def _round(one: Round) -> str:
    score = "no verdict" if one.error else f"{one.score:.3f}"
    head = f"round {one.number} · {score} · {one.model}"
    said = one.error or one.reason
    return (
        f'<div class="soft">{safe(head)}</div><div class="text">{safe(one.output.text)}</div>'
        f'<div class="soft">{safe(said)}</div>'
    )
