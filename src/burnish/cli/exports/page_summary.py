"""The upper part of the HTML page: the numbers and the configuration."""

from __future__ import annotations

import json
from html import escape

from burnish.app.evaluate.result import EvaluationResult
from burnish.cli.wording import count, harmless, money, percent
from burnish.domain import Json
from burnish.evaluation.statistics import Interval


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
    score_range = _range(result.score, score, f"{score.low:.3f} to {score.high:.3f}")
    rate_words = f"{percent(passed.low)} to {percent(passed.high)}"
    counts = (
        f"{result.failed:,} failed · {count(result.errors, 'error')} · {summary.cached:,} cached"
    )
    tokens = f"{usage.input_tokens:,} tokens in · {usage.output_tokens:,} out"
    latency = summary.avg_latency_ms
    boxes = [
        _card("score", f"{result.score:.3f}", score_range),
        _card("passed", percent(result.pass_rate), _range(result.pass_rate, passed, rate_words)),
        _card("runs", f"{result.items:,}", counts),
        _card("cost", money(usage.cost_usd), f"{count(usage.calls, 'call')} · {tokens}"),
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


def _range(value: float, interval: Interval, words: str) -> str:
    """The interval as a bar, for scores from 0 to 1."""
    if not (0 <= interval.low <= interval.high <= 1):
        return f"95% {words}"
    left, width = interval.low * 100, (interval.high - interval.low) * 100
    bar = f'<i style="left:{left:.1f}%;width:{width:.1f}%"></i>'
    mark = f'<u style="left:{value * 100:.1f}%"></u>'
    return f'<div class="range">{bar}{mark}</div>95% {words}'
