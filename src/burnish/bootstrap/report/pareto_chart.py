"""Score against the prompt's tokens, with the candidates that nothing else beats on both."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.bootstrap.report.marks import Point, legend, mark_size, marks, picture, ring
from burnish.bootstrap.report.markup import details, row, table
from burnish.bootstrap.report.material import Material
from burnish.bootstrap.report.scales import Frame, frame
from burnish.bootstrap.report.score_chart import Chart
from burnish.bootstrap.report.wording import count, score

Measured = tuple[int, int, float]
"""A candidate's number, its tokens and its score."""


def pareto_front(measured: Sequence[Measured]) -> list[Measured]:
    """Those with a better score than everything as short, from short to long."""
    front: list[Measured] = []
    for one in sorted(measured, key=lambda m: (m[1], -m[2], m[0])):
        if not front or one[2] > front[-1][2]:
            front.append(one)
    return front


def pareto_chart(material: Material) -> Chart:
    """One mark a completed trial."""
    measured = [
        (one.number, material.tokens.get(one.id, 0), trial.objective_score)
        for one in material.candidates
        if (trial := material.trials.get(one.id)) is not None
        and trial.counts
        and trial.objective_score is not None
    ]
    if not measured:
        return Chart("<p>No trial has been completed yet.</p>\n")
    front = pareto_front(measured)
    area = frame([tokens for _, tokens, _ in measured], [value for *_, value in measured])
    at = {number: _place(area, (number, tokens, value)) for number, tokens, value in measured}
    numbers = {
        kind: one.number
        for kind, one in (("baseline", material.baseline), ("best", material.best))
        if one is not None and one.number in at
    }
    body = area.drawn("Tokens of the prompt", "Score")
    body += _front_line(area, front)
    body += marks("completed", at.values(), mark_size(len(at)))
    body += marks("completed", [at[one[0]] for one in front], 4, lit=True)
    body += "".join(ring(kind, at[number]) for kind, number in numbers.items())
    description = (
        f"{count(len(at), 'completed trial')}; {len(front):,} of them are on the front: "
        "no candidate as short scores better."
    )
    words = {"completed": "completed trial", "front-line": "front: none as short scores better"}
    rings = {f"ring {kind}": "baseline" if kind == "baseline" else "best" for kind in numbers}
    drawing = picture(
        "pareto-chart",
        "Score against prompt tokens",
        description,
        (area.width, area.height),
        body,
    )
    return Chart(drawing + legend({**words, **rings}) + _table(front), tuple(at.values()))


def _place(area: Frame, one: Measured) -> Point:
    number, tokens, value = one
    return round(area.x.at(tokens), 1), round(area.y.at(value), 1), number


def _front_line(area: Frame, front: Sequence[Measured]) -> str:
    x, y, _ = _place(area, front[0])
    path = f"M{x:g} {y:g}"
    for one in front[1:]:
        x, y, _ = _place(area, one)
        path += f"H{x:g}V{y:g}"
    return f'<path class="front-line" d="{path}H{area.x.end:g}"/>\n'


def _table(front: Sequence[Measured]) -> str:
    rows = [
        row([f'<a href="#c{number}">{number}</a>', f"{tokens:,}", score(value)])
        for number, tokens, value in front
    ]
    listed = table("Candidates on the front", ["Trial", "Prompt tokens", "Score"], rows)
    return details("The front as a table", listed)
