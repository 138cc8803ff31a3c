"""Lineage graph: who descends from whom, with the way to the best lit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from burnish.app.report.html.family import Family, family_of
from burnish.app.report.html.marks import picture
from burnish.app.report.html.markup import details, one_line, row, safe, score, table
from burnish.app.report.html.material import Material
from burnish.domain import Candidate
from burnish.domain.wording import counted

Place = tuple[int, int]
"""Column and row."""


@dataclass(slots=True)
class Layout:
    """Places by candidate id; `more` has those of the notes on a parent's other children.

    Edges are those to true parents. A jump leads over candidates that are not shown.
    """

    places: dict[str, Place] = field(default_factory=dict)
    more: dict[str, Place] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)
    jumps: list[tuple[str, str]] = field(default_factory=list)

    @property
    def columns(self) -> int:
        """How many columns are used."""
        return 1 + max(place[0] for place in (*self.places.values(), *self.more.values()))

    @property
    def rows(self) -> int:
        """How many rows are used."""
        return 1 + max(place[1] for place in (*self.places.values(), *self.more.values()))


@dataclass(frozen=True, slots=True, order=True)
class _Claim:
    """Something that wants a row of a column: a candidate, a note, or a jump that passes."""

    row: int
    later: bool
    number: int
    kind: str
    identity: str


def lay_out(family: Family, by_id: Mapping[str, Candidate]) -> Layout:
    """Column by column; a child stands beside its parent or below, the lit one first."""
    layout = Layout()
    shown = {one.id: one for one in family.shown}
    near = {one.id: _nearest(one, shown, by_id, layout) for one in family.shown}
    columns: dict[int, list[Candidate]] = {}
    for one in family.shown:
        columns.setdefault(one.step_index, []).append(one)
    for column, step in enumerate(sorted(columns)):
        claims = [
            _Claim(_row_of(near[one.id], layout), one.id not in family.lit, one.number, "", one.id)
            for one in columns[step]
        ]
        claims += _passing(layout, shown, step)
        _grant(layout, column, claims + _notes(layout, family, column))
    _grant(layout, len(columns), _notes(layout, family, len(columns)))
    return layout


def _grant(layout: Layout, column: int, claims: list[_Claim]) -> None:
    """Rows from above, each at least as low as it wants."""
    free = 0
    for claim in sorted(claims):
        place = (column, max(claim.row, free))
        free = place[1] + 1
        if claim.kind == "note":
            layout.more[claim.identity] = place
        elif not claim.kind:
            layout.places[claim.identity] = place


def _passing(layout: Layout, shown: Mapping[str, Candidate], step: int) -> list[_Claim]:
    return [
        _Claim(layout.places[start][1], False, 0, "jump", end)
        for start, end in layout.jumps
        if shown[start].step_index < step < shown[end].step_index
    ]


def _notes(layout: Layout, family: Family, column: int) -> list[_Claim]:
    return [
        _Claim(place[1], True, family.total, "note", identity)
        for identity, place in layout.places.items()
        if place[0] == column - 1 and identity in family.hidden_children
    ]


def _row_of(parent: str | None, layout: Layout) -> int:
    """Beside its parent; what has none comes below everything that has."""
    if parent in layout.places:
        return layout.places[parent][1]
    return layout.rows if layout.places else 0


def _nearest(
    one: Candidate, shown: Mapping[str, Candidate], by_id: Mapping[str, Candidate], layout: Layout
) -> str | None:
    """The shown parent with the latest step, else the closest ancestor that is shown."""
    parents = [shown[parent] for parent in one.parent_candidate_ids if parent in shown]
    layout.edges += [(parent.id, one.id) for parent in parents]
    if parents:
        return max(parents, key=lambda parent: parent.step_index).id
    seen: set[str] = set()
    waiting = list(one.parent_candidate_ids)
    for identity in waiting:  # It grows while it is walked: nearer ancestors come first.
        if identity in shown:
            layout.jumps.append((identity, one.id))
            return identity
        if identity in by_id and identity not in seen:
            seen.add(identity)
            waiting.extend(by_id[identity].parent_candidate_ids)
    return None


_COLUMN, _ROW = 138, 30
_BOX_WIDTH, _BOX_HEIGHT = 92, 22
_LEFT, _TOP = 8, 34


def lineage_graph(material: Material) -> str:
    """The graph with a sentence on what it leaves out."""
    if not material.candidates:
        return "<p>No candidate has been accepted yet.</p>\n"
    family = family_of(material)
    layout = lay_out(family, material.by_id)
    size = (
        max(2 * _LEFT + layout.columns * _COLUMN - (_COLUMN - _BOX_WIDTH), 320),
        _TOP + layout.rows * _ROW,
    )
    body = "".join((*_heads(family), *_edges(family, layout), *_nodes(material, family, layout)))
    goal = material.subject or material.best or material.baseline
    assert goal is not None
    description = (
        f"{counted(family.total, 'candidate')}. Candidate {goal.number} descends from the baseline "
        f"through {counted(len(family.lit) - 1, 'other candidate')}."
    )
    note = "" if family.whole else _note(family, goal)
    drawing = picture("lineage-graph", "Lineage of candidates", description, size, body)
    return note + drawing + _path_table(material, family)


def _note(family: Family, goal: Candidate) -> str:
    return (
        f'<p class="soft">Of {counted(family.total, "candidate")} the graph shows '
        f"{len(family.shown):,}: the "
        f"way to candidate {goal.number} and the best children along it. All of them, with their "
        'parents, are in the <a href="#trials">table of trials</a>.</p>\n'
    )


def _heads(family: Family) -> Iterator[str]:
    for place, step in enumerate(sorted({one.step_index for one in family.shown})):
        x = _LEFT + place * _COLUMN + _BOX_WIDTH / 2
        words = "baseline" if step == 0 else f"step {step}"
        yield f'<text class="tick" x="{x:g}" y="16" text-anchor="middle">{words}</text>'


def _edges(family: Family, layout: Layout) -> Iterator[str]:
    """The lit ones last, so that they lie on top."""
    drawn = [(parent, child, "edge") for parent, child in layout.edges]
    drawn += [(parent, child, "edge jump") for parent, child in layout.jumps]
    drawn.sort(key=lambda one: one[0] in family.lit and one[1] in family.lit)
    for parent, child, classes in drawn:
        lit = " lit" if parent in family.lit and child in family.lit else ""
        path = _curve(layout.places[parent], layout.places[child])
        yield f'<path class="{classes}{lit}" d="{path}"/>\n'
    for parent, place in layout.more.items():
        yield f'<path class="edge jump" d="{_curve(layout.places[parent], place)}"/>\n'


def _curve(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1 = _LEFT + start[0] * _COLUMN + _BOX_WIDTH
    x2 = _LEFT + end[0] * _COLUMN
    y1, y2 = (_TOP + place[1] * _ROW + _BOX_HEIGHT / 2 for place in (start, end))
    if y1 == y2 and x2 - x1 < _COLUMN:
        return f"M{x1:g} {y1:g}H{x2:g}"
    middle = x1 + (_COLUMN - _BOX_WIDTH) / 2
    return f"M{x1:g} {y1:g}C{middle:g} {y1:g} {middle:g} {y2:g} {x2:g} {y2:g}"


def _nodes(material: Material, family: Family, layout: Layout) -> Iterator[str]:
    for one in family.shown:
        x, y = _pixel(layout.places[one.id])
        standing = material.standing_of(one)
        lit = " lit" if one.id in family.lit else ""
        best = " best" if material.best is not None and one.id == material.best.id else ""
        reason = f": {safe(one_line(one.rationale, 200))}" if one.rationale else ""
        yield (
            f'<a href="#c{one.number}"><g class="node {standing}{lit}{best}"><title>Candidate '
            f"{one.number}, {standing}{reason}</title>"
            f'<rect x="{x:g}" y="{y:g}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="11"/>'
            f'<text x="{x + _BOX_WIDTH / 2:g}" y="{y + 15:g}" text-anchor="middle">{one.number} · '
            f"{score(material.score_of(one))}</text></g></a>\n"
        )
    for parent, place in layout.more.items():
        x, y = _pixel(place)
        number = family.hidden_children[parent]
        yield f'<text class="tick" x="{x + 6:g}" y="{y + 15:g}">{number:,} more</text>\n'


def _pixel(place: tuple[int, int]) -> tuple[float, float]:
    return _LEFT + place[0] * _COLUMN, _TOP + place[1] * _ROW


def _path_table(material: Material, family: Family) -> str:
    rows = [
        row(
            [
                f'<a href="#c{one.number}">{one.number}</a>',
                str(one.step_index),
                parents_of(material, one),
                score(material.score_of(one)),
                safe(one_line(one.rationale or "", 200)),
            ]
        )
        for one in family.shown
        if one.id in family.lit
    ]
    columns = ["Candidate", "Step", "Parents", "Score", "Rationale"]
    return details("The lit way as a table", table("The lit way", columns, rows))


def parents_of(material: Material, candidate: Candidate) -> str:
    """Links to the parents by number."""
    numbers = [
        material.by_id[parent].number
        for parent in candidate.parent_candidate_ids
        if parent in material.by_id
    ]
    return " ".join(f'<a href="#c{number}">{number}</a>' for number in numbers) or "–"
