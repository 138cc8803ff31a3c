"""Every candidate in a row."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.app.report.html.family import ancestors
from burnish.app.report.html.lineage_graph import parents_of
from burnish.app.report.html.markup import filters, one_line, row, safe, table
from burnish.app.report.html.material import Material
from burnish.app.report.html.wording import measure, score
from burnish.domain import Candidate, TrialResult
from burnish.optimization.objectives.front import Measures

MAX_ROWS = 6_000
_RATIONALE = 140
_COLUMNS = ("Trial", "Status", "Score", "Items", "Prompt tokens")
_LAST_COLUMNS = ("Step", "Parents", "Rationale")


def trial_table(material: Material) -> str:
    """The table with its filters; of very many rows the best ones."""
    if not material.candidates:
        return "<p>No candidate has been accepted yet.</p>\n"
    shown = _chosen(material)
    note = ""
    if len(shown) < len(material.candidates):
        note = (
            f'<p class="soft">Of {len(material.candidates):,} candidates these are the way to the '
            f"best and the {MAX_ROWS:,} highest scores.</p>\n"
        )
    counts: dict[str, int] = {}
    for one in shown:
        standing = material.standing_of(one)
        counts[standing] = counts.get(standing, 0) + 1
    states = {"": f"All {len(shown):,}"} | {
        standing: f"{standing.capitalize()} {number:,}" for standing, number in counts.items()
    }
    rows = (_row(material, one) for one in shown)
    measures = [name.capitalize() for name in material.ranking.objective.measures]
    return (
        note
        + filters("trials-table", states, "trials")
        + table(
            "Trials",
            (*_COLUMNS, *measures, *_LAST_COLUMNS),
            rows,
            name="trials-table",
            tall=True,
        )
    )


def _chosen(material: Material) -> Sequence[Candidate]:
    if len(material.candidates) <= MAX_ROWS:
        return material.candidates
    path = ancestors(material.subject or material.baseline, material.by_id)

    def rank(one: Candidate) -> tuple[bool, float, int]:
        value = material.score_of(one)
        return one.id not in path, float("inf") if value is None else -value, one.number

    best = sorted(material.candidates, key=rank)[:MAX_ROWS]
    return sorted(best, key=lambda one: one.number)


def _row(material: Material, one: Candidate) -> str:
    standing = material.standing_of(one)
    trial = material.trials.get(one.id)
    tried = trial or next(iter(material.mini_batches.get(one.id, ())), None)
    best = material.best is not None and material.best.id == one.id
    words = trial.status.value if trial is not None else standing
    mark = " ★" if best else ""
    told = one_line(one.rationale or "", _RATIONALE)
    if tried is not None and tried.error:
        error = one_line(tried.error, _RATIONALE)
        told = f"{told} — {error}" if told else error
    cells = [
        f"{one.number}{mark}",
        words,
        score(None if tried is None else tried.objective_score),
        "–" if tried is None else f"{tried.summary.total_items:,}",
        f"{material.tokens.get(one.id, 0):,}",
        *_measures(material, trial),
        str(one.step_index),
        parents_of(material, one),
        safe(told),
    ]
    return row(cells, identity=f"c{one.number}", classes=f"{standing} best" if best else standing)


def _measures(material: Material, trial: TrialResult | None) -> list[str]:
    """What counts besides the score."""
    found = Measures() if trial is None else Measures.of(trial.summary)
    names = material.ranking.objective.measures
    return [measure(name, found.of_name(name)) for name in names]
