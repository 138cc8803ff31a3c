"""Lines of all lineages put together anew, by what trials say about each: a search over sets of lines.

Every trial of a candidate tells something about each of its lines. The gradient estimator fits it, and
a draw from what it believes (Thompson sampling) picks the set that is best in that possible world.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from burnish.domain import Configuration
from burnish.optimizers.gepa.line_edits import LineEdit
from burnish.optimizers.gepa.moves import edited, edits_between, kind_of
from burnish.optimizers.shared.evidence import Evidence, Known
from burnish.optimizers.shared.failure_matching import words_of
from burnish.optimizers.shared.gradient import Gradient, Observation, Prior

# A word of this share of all lines belongs to their way of speaking.
_COMMON = 0.2
_FEW_LINES = 6
_MOST_LINES = 60
_MOST_TRIALS = 64
_MENDED = 0.03
_LINE_COST = 0.001
_MOVES = 12
_SPREADS = (0.0, 0.5, 1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recombined:
    """A set of lines over the baseline, and the candidates that it comes nearest to."""

    configuration: Configuration
    parents: tuple[str, ...]
    edits: tuple[LineEdit, ...]


class Recombination:
    """What is believed about each line, and sets of them that were not tried."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._root = evidence.baseline.candidate.configuration
        pool = _pool(evidence, self._root)
        names = _names(pool)
        self._names = {edit.key: names[edit] for edit in pool}
        self.lines: dict[str, LineEdit] = {}
        for edit in pool:
            self.lines.setdefault(names[edit], edit)
        self._sets = {
            one.candidate.id: self._features(one)
            for one in evidence.trialed
            if one is not evidence.baseline
        }
        self._gradient = self._fit()

    def sets(
        self,
        count: int,
        *,
        seed: int,
        generation: int,
        tried: Iterable[str],
        allowed: Callable[[Configuration], bool],
    ) -> list[Recombined]:
        """Up to `count` configurations that were not tried, each the best of a drawn world."""
        taken = set(tried)
        found: list[Recombined] = []
        for place in range(count):
            spread = _SPREADS[(generation + place) % len(_SPREADS)]
            value = self._gradient.draw(seed, "recombine", generation, place, spread=spread)
            for names in self._ranked(value):
                made = self._made(names)
                if made is not None and made.hash not in taken and allowed(made):
                    taken.add(made.hash)
                    edits = tuple(self.lines[name] for name in names)
                    found.append(
                        Recombined(configuration=made, parents=self._nearest(names), edits=edits)
                    )
                    break
        return found

    def _ranked(self, value: Callable[[Iterable[str]], float]) -> list[tuple[str, ...]]:
        """Sets on the way up from the best trials, the most promising first."""

        def worth(names: Sequence[str]) -> float:
            return value(names) - _LINE_COST * len(names)

        starts = sorted(self._sets.values(), key=lambda names: -worth(names))[:3] or [()]
        seen = {names: worth(names) for start in starts for names in self._climb(start, worth)}
        return sorted(seen, key=lambda names: (-seen[names], names))

    def _climb(
        self, start: Sequence[str], worth: Callable[[Sequence[str]], float]
    ) -> Iterator[tuple[str, ...]]:
        here = tuple(sorted(start))
        for _ in range(_MOVES):
            near = sorted(self._neighbours(here), key=lambda names: (-worth(names), names))
            yield from near[:3]
            if not near or worth(near[0]) <= worth(here):
                return
            here = near[0]

    def _neighbours(self, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        inside = set(names)
        for name in self.lines:
            changed = inside - {name} if name in inside else inside | {name}
            yield tuple(sorted(changed))

    def _made(self, names: Sequence[str]) -> Configuration | None:
        chosen = set(names)
        edits = [edit for name, edit in self.lines.items() if name in chosen]
        return edited(self._root, edits) if edits else None

    def _nearest(self, names: Sequence[str]) -> tuple[str, ...]:
        """The tried candidates that share most of it."""
        wanted = set(names)
        numbers = {one.candidate.id: one.candidate.number for one in self._evidence.trialed}

        def distance(one: str) -> tuple[int, int]:
            return len(wanted.symmetric_difference(self._sets[one])), numbers[one]

        ranked = sorted(self._sets, key=distance)
        return tuple(ranked[:2]) or (self._evidence.baseline.candidate.id,)

    def _features(self, one: Known) -> tuple[str, ...]:
        edits = edits_between(self._root, one.candidate.configuration)
        return tuple(sorted({self._names[edit.key] for edit in edits if edit.key in self._names}))

    def _fit(self) -> Gradient:
        base = self._evidence.baseline.trial_score or 0.0
        observations = []
        for one in self._evidence.trialed[-_MOST_TRIALS:]:
            names = self._sets.get(one.candidate.id)
            if names and one.trial_score is not None:
                score = one.trial_score
                spread = max(0.5 * score * (1 - score), 0.02) if 0 <= score <= 1 else 0.25
                observations.append(
                    Observation(
                        features=names,
                        difference=score - base,
                        variance=spread / max(len(self._evidence.baseline.results), 1),
                    )
                )
        means = dict.fromkeys(self.lines, _MENDED)
        return Gradient(observations, Prior(name=0.06, prefix=0.02, pair=0.01, means=means))


def _pool(evidence: Evidence, root: Configuration) -> list[LineEdit]:
    """Edits of the baseline that mended something once, the oldest first."""
    found: dict[tuple[str, str, str], LineEdit] = {}
    for one in evidence.known.values():
        parents = one.candidate.parent_candidate_ids
        parent = evidence.known.get(parents[0]) if parents else None
        if parent is None or kind_of(one.candidate) is None:
            continue
        if one.trial_score is not None or evidence.gain(one, parent) > 0:
            for edit in edits_between(root, one.candidate.configuration):
                found.setdefault(edit.key, edit)
    return list(found.values())[-_MOST_LINES:]


def _names(edits: Sequence[LineEdit]) -> Mapping[LineEdit, str]:
    """Names by the telling words of a line, so that two wordings of one rule are one."""
    words = {edit: words_of(edit.new or edit.old) for edit in edits}
    common = Counter(word for one in words.values() for word in one)
    most = max(_COMMON * len(edits), 2)
    found = {}
    for edit in edits:
        telling = sorted(word for word in words[edit] if common[word] <= most)
        plain = len(edits) < _FEW_LINES or not telling or bool(edit.old)
        key = " > ".join(edit.key[1:]) if plain else " ".join(telling)
        found[edit] = f"{edit.section} {key}".replace(":", " ")
    return found
