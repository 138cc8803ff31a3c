"""Results in notebooks: fragments of the report under its own style, which touches nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnish.app.report.html.marks import Point, frame, legend, mark_size, marks, picture
from burnish.app.report.html.markup import (
    as_text,
    asset,
    excerpt,
    money,
    row,
    safe,
    score,
    section,
    table,
)
from burnish.app.report.html.material import Material, prompt_tokens
from burnish.app.report.html.overview import boxes, header
from burnish.app.report.html.prompt_changes import prompt_changes
from burnish.app.report.html.score_chart import score_chart
from burnish.app.report.html.trial_table import trial_table
from burnish.domain import Spending, UsageError
from burnish.domain.wording import counted

if TYPE_CHECKING:
    from burnish.app.evaluate.result import EvaluationResult
    from burnish.app.optimize.result import OptimizationResult

_LOOKED_AT, _SHOWN, _LONGEST = 500, 20, 300
_NAMES = {"completed": "passed", "pruned": "not passed", "failed": "ended in an error"}


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart: notebooks show it, `save` writes it as a file of its own."""

    svg: str

    def save(self, path: str | Path) -> Path:
        """Write it as an SVG file."""
        if not self.svg.startswith("<svg"):
            raise UsageError(
                what="there is no chart to save",
                why="no trial has a score yet",
                fix="go on with the search",
                code="no_result",
            )
        target = Path(path).expanduser()
        style = asset("report.css")
        head = '<svg xmlns="http://www.w3.org/2000/svg"'
        drawn = self.svg.replace("<svg", head, 1).replace(
            "<title", f"<style>{style}</style><title", 1
        )
        target.write_text(drawn, encoding="utf-8")
        return target

    def __repr__(self) -> str:
        return "Plot(score by trial; .save('scores.svg') writes it)"

    def _repr_html_(self) -> str:
        return _styled(self.svg)


def optimization_html(result: OptimizationResult) -> str:
    """The verdict, the chart, what changed in the prompt, and the trials."""
    material = _material(result)
    return _styled(
        header(material)
        + section("scores", "Score by trial", score_chart(material).html)
        + section("prompt", "Prompt changes", prompt_changes(material))
        + section("trials", "Trials", trial_table(material))
    )


def score_plot(result: OptimizationResult) -> Plot:
    """The chart alone."""
    html = score_chart(_material(result)).html
    begin, end = html.find("<svg"), html.find("</svg>")
    return Plot(html[begin : end + len("</svg>")] if begin >= 0 else html)


def _material(result: OptimizationResult) -> Material:
    """As far as the result has it: its trials, and who took part in them."""
    trials = {one.candidate_id: one for one in result.trials}
    candidates = [one for one in result.candidates.values() if one.id in trials]
    return Material(
        record=result.record,
        candidates=candidates,
        trials=trials,
        spending=Spending.of(result.usage.get("by_purpose") or {}),
        tokens=prompt_tokens(candidates),
    )


def evaluation_html(result: EvaluationResult) -> str:
    """The numbers, a mark for each run, and the runs, those that did not pass first."""
    rows = result.read(_LOOKED_AT)
    warnings = "".join(f'<p class="warning">{safe(one)}</p>\n' for one in result.warnings)
    first = "" if len(rows) == result.items else f", of the first {counted(len(rows), 'run')}"
    shown = sorted(rows, key=lambda one: one["passed"])[:_SHOWN]
    columns = ["Item", "Input", "Output", "Score", "Passed", "Reason", "Cost", "Latency"]
    listed = table("Runs", columns, map(_run, shown), tall=True)
    note = f'<p class="soft">{len(shown)} of {counted(result.items, "run")}{first}.</p>\n'
    return _styled(
        f"<header><h1>{safe(result.experiment.name)}</h1></header>\n"
        + boxes(_facts(result))
        + warnings
        + section("scores", "Score by run", _run_chart(rows))
        + section("runs", "Runs", listed + note)
    )


def _facts(result: EvaluationResult) -> list[tuple[str, str, str]]:
    experiment, summary = result.experiment, result.summary
    low, high = result.score_interval.low, result.score_interval.high
    known = result.score is not None
    latency = summary.avg_latency_ms
    identity = f"<code>{safe(experiment.id)}</code>"
    return [
        ("Score", score(result.score), f"95% interval {low:.2f} to {high:.2f}" if known else ""),
        ("Passed", f"{summary.passed:,} of {summary.runs:,}", f"{counted(result.errors, 'error')}"),
        ("Cost", money(summary.cost_usd), f"{counted(summary.cached, 'run')} reused"),
        ("Latency", "–" if latency is None else f"{latency:,.0f} ms", "mean of a run"),
        ("Status", safe(experiment.status.value), identity),
    ]


def _run(one: Mapping[str, Any]) -> str:
    fields = one["input"]
    given = next(iter(fields.values())) if len(fields) == 1 else fields
    return row(
        [
            safe(one["id"]),
            excerpt(as_text(given), _LONGEST),
            "–" if one["output"] is None else excerpt(one["output"], _LONGEST),
            _unbroken(score(one["score"])),
            "yes" if one["passed"] else "no",
            excerpt(one["reason"] or "", _LONGEST),
            _unbroken(money(one["cost_usd"])),
            _unbroken(f"{one['latency_ms']:,.0f} ms"),
        ]
    )


def _unbroken(text: str) -> str:
    return f'<span class="number">{text}</span>'


def _run_chart(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return "<p>No run has ended yet.</p>\n"
    area = frame(range(1, len(rows) + 1), [one["score"] for one in rows])
    by_kind: dict[str, list[Point]] = {"failed": [], "pruned": [], "completed": []}
    for number, one in enumerate(rows, start=1):
        kind = "failed" if one["error"] else "completed" if one["passed"] else "pruned"
        place = (round(area.x.at(number), 1), round(area.y.at(one["score"]), 1), number)
        by_kind[kind].append(place)
    body = area.drawn("Run", "Score")
    body += "".join(marks(kind, points, mark_size(len(rows))) for kind, points in by_kind.items())
    told = ", ".join(f"{len(by_kind[kind]):,} {words}" for kind, words in _NAMES.items())
    drawn = picture("score-chart", "Score by run", f"{told}.", (area.width, area.height), body)
    return drawn + legend({kind: words for kind, words in _NAMES.items() if by_kind[kind]})


def _styled(html: str) -> str:
    """The report's style, for what stands in this box only."""
    style = asset("report.css").replace(":root {", "& {").replace("\nbody {", "\n& {")
    return f'<style>.burnish-result {{ {style} }}</style>\n<div class="burnish-result">{html}</div>'
