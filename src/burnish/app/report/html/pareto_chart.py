"""Pareto chart: score against what an evaluation takes, with those that nothing beats on both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from burnish.app.report.html.marks import Frame, frame, legend, mark_size, marks, picture, ring
from burnish.app.report.html.marks import Point as Mark
from burnish.app.report.html.markup import details, measure, row, safe, score, table
from burnish.app.report.html.material import Material
from burnish.app.report.html.score_chart import Chart
from burnish.domain.wording import counted
from burnish.optimization.objective import MEASURES, Measures, Point, front

_AXES = {
    "tokens": "Tokens of an evaluation",
    "cost": "US dollars of a thousand evaluations",
    "latency": "Milliseconds of an evaluation",
}
_COLUMNS = {"tokens": "Tokens", "cost": "Cost of 1,000", "latency": "Latency"}
_CLAIMS = {
    "tokens": "no candidate with as few tokens scores better",
    "cost": "no candidate at as low a cost scores better",
    "latency": "no candidate as quick scores better",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """Points whose measure is known, what that measure is called, and what a front of it claims."""

    points: tuple[Point, ...]
    measure: str
    axis: str
    column: str
    claim: str

    def along(self, point: Point) -> float:
        """Where a point stands on the axis."""
        value = point.measures.of_name(self.measure) or 0.0
        return value * 1000 if self.measure == "cost" else value


def field_of(material: Material) -> Field:
    """Score against what leads the objective; tokens that nobody reported are the prompt's own."""
    objective = material.ranking.objective
    lead = objective.front_measures[0]
    known = tuple(one for one in material.points if one.measures.of_name(lead) is not None)
    if known or objective.measures:
        return Field(
            points=known,
            measure=lead,
            axis=_AXES[lead],
            column=_COLUMNS[lead],
            claim=_CLAIMS[lead],
        )
    sizes = tuple(
        replace(one, measures=Measures(tokens=float(material.tokens.get(one.candidate_id, 0))))
        for one in material.points
    )
    return Field(
        points=sizes,
        measure="tokens",
        axis="Tokens of the prompt",
        column="Prompt tokens",
        claim="no candidate as short scores better",
    )


def front_table(material: Material, field: Field, members: Sequence[Point]) -> str:
    """The front in numbers, the chosen point with a star."""
    objective = material.ranking.objective
    names = [name for name in MEASURES if name == field.measure or _is_known(name, members)]
    if not objective.measures:
        names = [field.measure]
    weighed = bool(objective.weights)
    rows = []
    models = any(one.model for one in members)
    for one in members:
        mark = " ★" if material.best is not None and material.best.number == one.number else ""
        cells = [f'<a href="#c{one.number}">{one.number}</a>{mark}']
        cells += [measure(name, one.measures.of_name(name)) for name in names]
        cells += [score(one.score), *([score(material.ranking.merit(one))] if weighed else [])]
        cells += [safe(one.model or "–")] if models else []
        rows.append(row(cells))
    columns = [field.column if name == field.measure else _COLUMNS[name] for name in names]
    titles = ["Trial", *columns, "Score", *(["Utility"] if weighed else [])]
    titles += ["Model"] if models else []
    return details("The front as a table", table("Candidates on the front", titles, rows))


def _is_known(name: str, points: Sequence[Point]) -> bool:
    return any(one.measures.of_name(name) is not None for one in points)


def pareto_chart(material: Material) -> Chart:
    """One mark a completed trial."""
    field = field_of(material)
    if not field.points:
        return Chart("<p>No trial has been completed yet.</p>\n")
    edge = front(field.points, [field.measure])
    # Of several measures the chart shows the first; the front is that of all of them.
    several = len(material.ranking.objective.measures) > 1
    members = material.ranking.front(material.points) if several else edge
    area = frame(
        [field.along(one) for one in field.points],
        [one.score for one in field.points],
        whole=field.measure == "tokens",
    )
    at = {one.number: _place(area, field, one) for one in field.points}
    drawing = _drawing(material, field, area, at, edge, members)
    words = {"completed": "completed trial", "front-line": f"front: {field.claim}"}
    rings = {f"ring {kind}": _called(material, kind) for kind in _ringed(material, at)}
    listed = front_table(material, field, members)
    return Chart(drawing + legend({**words, **rings}) + listed, tuple(at.values()))


def _drawing(
    material: Material,
    field: Field,
    area: Frame,
    at: dict[int, Mark],
    edge: Sequence[Point],
    members: Sequence[Point],
) -> str:
    body = area.drawn(field.axis, "Score")
    body += _front_line(area, field, edge)
    body += marks("completed", at.values(), mark_size(len(at)))
    body += marks("completed", [at[one.number] for one in members if one.number in at], 4, lit=True)
    body += "".join(ring(kind, at[number]) for kind, number in _ringed(material, at).items())
    description = (
        f"{counted(len(at), 'completed trial')}; {len(members):,} of them are on the front: "
        f"{field.claim}.{_chosen(material, members)}"
    )
    title = f"Score against {field.column.lower()}"
    return picture("pareto-chart", title, description, (area.width, area.height), body)


def _place(area: Frame, field: Field, one: Point) -> Mark:
    return round(area.x.at(field.along(one)), 1), round(area.y.at(one.score), 1), one.number


def _front_line(area: Frame, field: Field, edge: Sequence[Point]) -> str:
    x, y, _ = _place(area, field, edge[0])
    path = f"M{x:g} {y:g}"
    for one in edge[1:]:
        x, y, _ = _place(area, field, one)
        path += f"H{x:g}V{y:g}"
    return f'<path class="front-line" d="{path}H{area.x.end:g}"/>\n'


def _ringed(material: Material, at: dict[int, Mark]) -> dict[str, int]:
    """The numbers of the baseline and the best."""
    kinds = (("baseline", material.baseline), ("best", material.best))
    return {kind: one.number for kind, one in kinds if one is not None and one.number in at}


def _called(material: Material, kind: str) -> str:
    chosen = kind == "best" and bool(material.ranking.objective.measures)
    return "chosen by the objective" if chosen else kind


def _chosen(material: Material, members: Sequence[Point]) -> str:
    """What was chosen of the front, and for what."""
    best, objective = material.best, material.ranking.objective
    if best is None or not objective.measures:
        return ""
    there = "on" if any(one.number == best.number for one in members) else "off"
    return f" Chosen is candidate {best.number}, {there} the front, for {objective.in_words()}."
