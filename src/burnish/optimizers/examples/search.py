"""Which examples to try next, how many and in what order."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burnish.optimizers.examples.pool import ExamplePool
from burnish.optimizers.shared.gradient import Gradient
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.trial_reading import ReadTrial

_PARENTS = 2
_MOVES_OF_EACH = 24
_FRESH = 16
_SPREADS = (0.0, 0.5, 1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Examples in order, and the candidate they were made from."""

    places: tuple[int, ...]
    parent: str
    says: str


def features_of(pool: ExamplePool, places: Sequence[int]) -> tuple[str, ...]:
    """What the gradient learns from: which examples, how many, and the labels at both ends."""
    if not places:
        return ("count:0",)
    ends = (f"first:{pool.shown[places[0]].kind}", f"last:{pool.shown[places[-1]].kind}")
    return (*(f"shows:{place}" for place in sorted(places)), f"count:{len(places)}", *ends)


class ExampleSearch:
    """One generation's choice: first rows of several lengths, then changes of the best rows."""

    def __init__(
        self,
        pool: ExamplePool,
        trials: Sequence[ReadTrial],
        rows: dict[str, tuple[int, ...]],
        *,
        generation: int,
        turn: int,
        most: int,
        tried: frozenset[str],
    ) -> None:
        self._pool = pool
        self._trials = trials
        self._rows = rows
        self._generation = generation
        self._turn = turn
        self._most = min(most, len(pool.shown))
        self._taken = set(tried)

    def picks(self, count: int, *, gradient: Gradient) -> list[Row]:
        """Up to `count` rows that were never tried."""
        found: list[Row] = []
        for place in range(count if self._most else 0):
            chance = generator(self._pool.facts.seed, "examples", self._generation, place)
            options = [*self._first(place, chance), *self._near(gradient, chance)]
            if self._trials:
                spread = _SPREADS[(self._turn + place) % len(_SPREADS)]
                drawn = gradient.draw(
                    self._pool.facts.seed, "worth", self._generation, place, spread=spread
                )
                options.sort(key=lambda row: -drawn(features_of(self._pool, row.places)))
            pick = next((row for row in options if self._is_fresh(row)), None)
            if pick is None:
                break
            self._taken.add(self._pool.configuration(pick.places).hash)
            found.append(pick)
        return found

    def _is_fresh(self, row: Row) -> bool:
        return self._pool.configuration(row.places).hash not in self._taken

    def _first(self, place: int, chance: random.Random) -> Iterator[Row]:
        """Rows from scratch; in the first generation each place has a length of its own."""
        root = self._pool.facts.baseline_candidate_id
        kinds = max(len(self._pool.kinds), 1)
        lengths = sorted({min(kinds * times, self._most) for times in (1, 2, 4)} | {self._most})
        for attempt in range(_FRESH):
            if not self._trials and attempt == 0:
                length = lengths[(self._turn + place) % len(lengths)]
            else:
                length = chance.randint(1, self._most)
            row = self.balanced(length, chance)
            yield Row(places=row, parent=root, says=f"show {length} new examples")
        if self._pool.facts.baseline.examples:
            yield Row(places=(), parent=root, says="show no examples")

    def balanced(self, length: int, chance: random.Random) -> tuple[int, ...]:
        """As many of each label as can be, labels taking turns; a random one comes last."""
        by_kind = {
            kind: chance.sample(places, len(places)) for kind, places in self._pool.kinds.items()
        }
        turns = list(by_kind)
        chance.shuffle(turns)
        found: list[int] = []
        while len(found) < length and any(by_kind.values()):
            for kind in turns:
                if by_kind[kind] and len(found) < length:
                    found.append(by_kind[kind].pop())
        return tuple(found)

    def _near(self, gradient: Gradient, chance: random.Random) -> Iterator[Row]:
        """Small changes of the rows with the best prospects."""
        ranked = sorted(
            (trial for trial in self._trials if self._rows.get(trial.candidate_id)),
            key=lambda trial: (-gradient.mean(trial.features), trial.number),
        )
        for trial in ranked[:_PARENTS]:
            row = self._rows[trial.candidate_id]
            for _ in range(_MOVES_OF_EACH):
                places, says = self._changed(row, chance)
                yield Row(places=places, parent=trial.candidate_id, says=says)

    def _changed(self, row: tuple[int, ...], chance: random.Random) -> tuple[tuple[int, ...], str]:
        move = chance.choice(("swap", "swap", "add", "drop", "reverse", "shuffle", "rotate"))
        others = [place for place in range(len(self._pool.shown)) if place not in row]
        at = chance.randrange(len(row))
        if move == "swap" and others:
            kind = self._pool.shown[row[at]].kind
            same = [place for place in others if self._pool.shown[place].kind == kind] or others
            return (*row[:at], chance.choice(same), *row[at + 1 :]), "swap one example"
        if move == "add" and others and len(row) < self._most:
            rarest = min(
                self._pool.kinds,
                key=lambda kind: sum(self._pool.shown[place].kind == kind for place in row),
            )
            wanted = [place for place in others if self._pool.shown[place].kind == rarest] or others
            return (*row[:at], chance.choice(wanted), *row[at:]), "add one example"
        if move == "drop" and len(row) > 1:
            return (*row[:at], *row[at + 1 :]), "drop one example"
        if move == "reverse":
            return row[::-1], "turn the order of the examples round"
        if move == "rotate":
            return (*row[at:], *row[:at]), "start with another example"
        return tuple(chance.sample(row, len(row))), "show the examples in another order"
