"""Score by trial, with the best so far and the baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.app.report.html.marks import (
    WORDS,
    Frame,
    Point,
    frame,
    legend,
    mark_size,
    marks,
    picture,
    ring,
)
from burnish.app.report.html.markup import details, row, score, table
from burnish.app.report.html.material import Material
from burnish.domain.wording import counted
from burnish.optimization.objective import TOLERANCE


@dataclass(frozen=True, slots=True)
class Chart:
    """Ready HTML, and where its points are, for the script that names them."""

    html: str
    points: tuple[Point, ...] = ()


def score_chart(material: Material) -> Chart:
    """One mark a trial; those without a score stand on the bottom line."""
    scored = {
        one.number: (material.standing_of(one), material.score_of(one))
        for one in material.candidates
        if one.id in material.trials and material.trials[one.id].status.final
    }
    scores = [value for _, value in scored.values() if value is not None]
    if not scores:
        return Chart("<p>No trial has a score yet.</p>\n")
    area = frame([0, *scored], scores)
    by_kind: dict[str, list[Point]] = {"failed": [], "pruned": [], "completed": []}
    for number, (kind, value) in scored.items():
        height = area.y.start if value is None else area.y.at(value)
        by_kind[kind].append((round(area.x.at(number), 1), round(height, 1), number))
    firsts = new_bests(material)
    drawing = _drawing(material, area, by_kind, firsts)
    shown = {kind: WORDS[kind] for kind in WORDS if by_kind[kind]}
    lines = {"best-line": "best so far", "baseline-line": "baseline"}
    points = tuple(sorted((p for kind in by_kind.values() for p in kind), key=lambda p: p[2]))
    return Chart(drawing + legend({**shown, **lines}) + _table(firsts), points)


def new_bests(material: Material) -> list[tuple[int, float]]:
    """The trials that were best when they came, by number, with their scores."""
    found: list[tuple[int, float]] = []
    for one in material.candidates:
        trial = material.trials.get(one.id)
        if trial is None or not trial.counts or trial.objective_score is None:
            continue
        if not found or trial.objective_score > found[-1][1] + TOLERANCE:
            found.append((one.number, trial.objective_score))
    return found


def _drawing(
    material: Material,
    area: Frame,
    by_kind: dict[str, list[Point]],
    firsts: Sequence[tuple[int, float]],
) -> str:
    total = sum(map(len, by_kind.values()))
    size = mark_size(total)
    body = area.drawn("Trial number", "Score")
    baseline = material.score_of(material.baseline)
    if baseline is not None:
        line = f"M{area.x.start:g} {area.y.at(baseline):.1f}H{area.x.end:g}"
        body += f'<path class="baseline-line" d="{line}"/>\n'
    body += "".join(marks(kind, points, size) for kind, points in by_kind.items())
    told = ""
    if firsts:
        body += _best_line(area, firsts)
        number, best = _chosen(material, firsts)
        body += ring("best", (round(area.x.at(number), 1), round(area.y.at(best), 1), number))
        told = f" The best is trial {number} at {score(best)}."
    description = (
        f"{counted(total, 'trial')}: {len(by_kind['completed']):,} completed, "
        f"{len(by_kind['pruned']):,} ended early, {len(by_kind['failed']):,} failed. "
        f"The baseline scores {score(baseline)}.{told}"
    )
    size_ = (area.width, area.height)
    return picture("score-chart", "Score by trial", description, size_, body)


def _chosen(material: Material, firsts: Sequence[tuple[int, float]]) -> tuple[int, float]:
    """The winner; without a score of its own, the last of those that were best."""
    value = material.score_of(material.best)
    return firsts[-1] if value is None or material.best is None else (material.best.number, value)


def _best_line(area: Frame, firsts: Sequence[tuple[int, float]]) -> str:
    number, value = firsts[0]
    path = f"M{area.x.at(number):.1f} {area.y.at(value):.1f}"
    for number, value in firsts[1:]:
        path += f"H{area.x.at(number):.1f}V{area.y.at(value):.1f}"
    return f'<path class="best-line" d="{path}H{area.x.end:g}"/>\n'


def _table(firsts: Sequence[tuple[int, float]]) -> str:
    rows = [row([f'<a href="#c{number}">{number}</a>', score(value)]) for number, value in firsts]
    listed = table("Trials that were best when they came", ["Trial", "Score"], rows)
    note = '<p class="soft">All scores are in the <a href="#trials">table of trials</a>.</p>'
    return details("The best-so-far line as a table", note + listed)
