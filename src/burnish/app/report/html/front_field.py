"""Which points a chart of the front shows, and against what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from burnish.app.report.html.markup import details, row, table
from burnish.app.report.html.material import Material
from burnish.app.report.html.wording import measure, score
from burnish.optimization.objectives.front import MEASURES, Measures, Point

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
    for one in members:
        mark = " ★" if material.best is not None and material.best.number == one.number else ""
        cells = [f'<a href="#c{one.number}">{one.number}</a>{mark}']
        cells += [measure(name, one.measures.of_name(name)) for name in names]
        cells += [score(one.score), *([score(material.ranking.merit(one))] if weighed else [])]
        rows.append(row(cells))
    columns = [field.column if name == field.measure else _COLUMNS[name] for name in names]
    titles = ["Trial", *columns, "Score", *(["Utility"] if weighed else [])]
    return details("The front as a table", table("Candidates on the front", titles, rows))


def _is_known(name: str, points: Sequence[Point]) -> bool:
    return any(one.measures.of_name(name) is not None for one in points)
