"""The parts of the HTML page that show refinement: its numbers, and each output's rounds."""

from __future__ import annotations

from burnish.cli.display.refinement import refinement_rows
from burnish.cli.exports.page_summary import safe
from burnish.cli.exports.records import Record
from burnish.domain import Round
from burnish.evaluation.refine import RefinementStatistics


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
    title = f"{refined.outcome.value.replace('_', ' ')} · {len(record.rounds)} rounds"
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
