"""One HTML page with everything in it: it asks no server for anything."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib import resources

from burnish.app.evaluate.result import EvaluationResult
from burnish.cli.display.failing_items import complaint
from burnish.cli.exports.page_rounds import refinement_summary, rounds_of
from burnish.cli.exports.page_summary import as_text, cards, configuration, safe
from burnish.cli.exports.records import Record

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
