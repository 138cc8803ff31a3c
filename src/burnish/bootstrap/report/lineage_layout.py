"""Where candidates stand in the lineage graph: a column for each step, a row for each branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from burnish.bootstrap.report.family import Family
from burnish.domain import Candidate


@dataclass(slots=True)
class Layout:
    """Column and row by candidate id; `more` has the rows that tell of children left out."""

    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    more: dict[str, tuple[int, int]] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)
    jumps: list[tuple[str, str]] = field(default_factory=list)
    columns: int = 0
    rows: int = 0


def lay_out(family: Family, by_id: Mapping[str, Candidate]) -> Layout:
    """A first child stands beside its parent and later ones below, so the lit path is straight.

    Edges are those to true parents. A jump leads over candidates that are not shown.
    """
    layout = Layout()
    shown = {one.id: one for one in family.shown}
    steps = sorted({one.step_index for one in family.shown})
    column = {step: place for place, step in enumerate(steps)}
    children: dict[str, list[Candidate]] = {}
    roots: list[Candidate] = []
    for one in family.shown:
        parents = [shown[parent] for parent in one.parent_candidate_ids if parent in shown]
        layout.edges += [(parent.id, one.id) for parent in parents]
        near = max(parents, key=lambda parent: parent.step_index, default=None)
        if near is None and (near := _nearest_shown(one, shown, by_id)) is not None:
            layout.jumps.append((near.id, one.id))
        (roots if near is None else children.setdefault(near.id, [])).append(one)
    _place_rows(layout, family, roots, children, column)
    layout.columns = len(steps) + bool(layout.more)
    return layout


def _place_rows(
    layout: Layout,
    family: Family,
    roots: Sequence[Candidate],
    children: Mapping[str, list[Candidate]],
    column: Mapping[int, int],
) -> None:
    """Depth first with a stack of its own: a lineage may be thousands of steps deep."""

    def lit_first(ones: Sequence[Candidate]) -> list[Candidate]:
        return sorted(ones, key=lambda one: (one.id not in family.lit, one.number))

    row = -1
    waiting = [(one, True) for one in reversed(lit_first(roots))]
    tails: list[tuple[str, int]] = []
    while waiting:
        one, below = waiting.pop()
        while tails and tails[-1][1] > len(waiting):
            row = _place_more(layout, tails.pop()[0], row)
        row += below
        layout.places[one.id] = (column[one.step_index], row)
        if one.id in family.hidden_children:
            tails.append((one.id, len(waiting)))
        ordered = lit_first(children.get(one.id, ()))
        waiting += [(child, place > 0) for place, child in reversed(list(enumerate(ordered)))]
    while tails:
        row = _place_more(layout, tails.pop()[0], row)
    layout.rows = row + 1


def _place_more(layout: Layout, parent: str, row: int) -> int:
    """A line below the last shown child."""
    layout.more[parent] = (layout.places[parent][0] + 1, row + 1)
    return row + 1


def _nearest_shown(
    one: Candidate, shown: Mapping[str, Candidate], by_id: Mapping[str, Candidate]
) -> Candidate | None:
    """The closest ancestor that is shown, over those that are not."""
    seen: set[str] = set()
    waiting = list(one.parent_candidate_ids)
    while waiting:
        identity = waiting.pop(0)
        if identity in shown:
            return shown[identity]
        if identity in by_id and identity not in seen:
            seen.add(identity)
            waiting.extend(by_id[identity].parent_candidate_ids)
    return None
