"""Where candidates stand in the lineage graph: a column for each step, a row for each branch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from burnish.app.report.html.family import Family
from burnish.domain import Candidate

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
