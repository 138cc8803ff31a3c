"""Which candidates the lineage graph shows: all of a few, of many those around the best path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from burnish.app.report.html.material import Material
from burnish.domain import Candidate

MAX_WHOLE = 60
_PATH_START, _PATH_END = 4, 20
_CHILDREN_IN_ALL, _MOST_CHILDREN = 40, 12


@dataclass(frozen=True, slots=True)
class Family:
    """The shown candidates by number, those on the path, and how many children are left out."""

    shown: tuple[Candidate, ...]
    lit: frozenset[str]
    hidden_children: Mapping[str, int]
    total: int

    @property
    def whole(self) -> bool:
        """Whether every candidate is shown."""
        return len(self.shown) == self.total


def family_of(material: Material) -> Family:
    """The family around the winner, or around the strongest challenger."""
    candidates = material.candidates
    centre = material.subject or material.best or material.baseline
    lit = ancestors(centre, material.by_id)
    if len(candidates) <= MAX_WHOLE:
        return Family(tuple(candidates), frozenset(lit), {}, len(candidates))
    path = _shortened([one for one in candidates if one.id in lit])
    kept = {one.id for one in path}
    hidden: dict[str, int] = {}
    each = max(1, min(_MOST_CHILDREN, _CHILDREN_IN_ALL // max(1, len(path))))
    children = _children(candidates, kept)
    for one in path:
        others = [child for child in children.get(one.id, []) if child.id not in lit]
        others.sort(key=lambda child: (-_rank(material, child), child.number))
        kept.update(child.id for child in others[:each])
        if len(others) > each:
            hidden[one.id] = len(others) - each
    shown = tuple(one for one in candidates if one.id in kept)
    return Family(shown, frozenset(lit), hidden, len(candidates))


def ancestors(candidate: Candidate | None, by_id: Mapping[str, Candidate]) -> set[str]:
    """The candidate itself and everything it descends from, by true parents."""
    found: set[str] = set()
    waiting = [] if candidate is None else [candidate]
    while waiting:
        one = waiting.pop()
        if one.id not in found:
            found.add(one.id)
            waiting.extend(by_id[parent] for parent in one.parent_candidate_ids if parent in by_id)
    return found


def _shortened(path: list[Candidate]) -> list[Candidate]:
    """A long path without its middle."""
    path.sort(key=lambda one: (one.step_index, one.number))
    if len(path) <= _PATH_START + _PATH_END:
        return path
    return [*path[:_PATH_START], *path[-_PATH_END:]]


def _children(candidates: Sequence[Candidate], parents: set[str]) -> dict[str, list[Candidate]]:
    found: dict[str, list[Candidate]] = {}
    for one in candidates:
        for parent in one.parent_candidate_ids:
            if parent in parents:
                found.setdefault(parent, []).append(one)
    return found


def _rank(material: Material, candidate: Candidate) -> float:
    trial = material.trials.get(candidate.id)
    if trial is None or not trial.counts or trial.objective_score is None:
        return float("-inf")
    return trial.objective_score
