"""Example search: the pool of training items that can be shown, and which rows of them to try next."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from burnish.domain import (
    CandidateProposal,
    Configuration,
    Item,
    Json,
    OptimizerState,
    TrialHistory,
    UsageError,
    canonical_hash,
)
from burnish.domain.wording import counted
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.gradient import Gradient, Prior
from burnish.optimizers.shared.search_status import tried_hashes
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.trial_reading import (
    ReadTrial,
    baseline_luck,
    read_trials,
    score_scale,
)
from burnish.support.hints import did_you_mean

_COLLAPSE_PENALTY = 0.05
# Columns that usually hold the right answer, most telling first.
_USUAL_FIELDS = ("label", "expected", "answer", "output", "target", "completion", "response")
_PARENTS = 2
_MOST_WORDS = 40
_MOVES_OF_EACH = 24
_FRESH = 16
_SPREADS = (0.0, 0.5, 1.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Shown:
    """One training item as an example. `kind` is its label, or empty when answers are free text."""

    item_id: str
    example: Mapping[str, Json]
    kind: str


@dataclass(frozen=True, kw_only=True)
class ExamplePool:
    """All examples that may be shown, in a fixed order. Sets of them are tuples of positions."""

    facts: RunFacts
    shown: tuple[Shown, ...]

    @classmethod
    def of(cls, facts: RunFacts, items: Sequence[Item], answer_field: str | None) -> ExamplePool:
        """Examples of the items that have an answer and all fields that the prompt shows."""
        ordered = sorted(items, key=lambda item: item.id)
        field = answer_field or find_answer_field(facts, ordered)
        if answer_field and not any(answer_field in item.data for item in ordered):
            raise _no_such_field(answer_field, ordered)
        found = [one for item in ordered if field and (one := _shown(facts, item, field))]
        return cls(facts=facts, shown=tuple(found))

    @cached_property
    def kinds(self) -> dict[str, tuple[int, ...]]:
        """Positions by label."""
        by_kind: dict[str, list[int]] = {}
        for place, one in enumerate(self.shown):
            by_kind.setdefault(one.kind, []).append(place)
        return {kind: tuple(by_kind[kind]) for kind in sorted(by_kind)}

    def configuration(self, places: Sequence[int]) -> Configuration:
        """The baseline with these examples in this order."""
        examples = [dict(self.shown[place].example) for place in places]
        return Configuration.of({**self.facts.baseline.to_json(), "examples": examples})

    def places_in(self, configuration: Configuration) -> tuple[int, ...] | None:
        """Which examples a candidate shows; None when one of them is not ours."""
        found = [self._by_hash.get(canonical_hash(one)) for one in configuration.examples]
        known = [place for place in found if place is not None]
        return tuple(known) if len(known) == len(found) else None

    @cached_property
    def _by_hash(self) -> dict[str, int]:
        return {canonical_hash(one.example): place for place, one in enumerate(self.shown)}


def find_answer_field(facts: RunFacts, items: Sequence[Item]) -> str | None:
    """The field whose values are the labels, else the first of the usual names that all items have."""
    shown = facts.baseline.placeholders
    columns = sorted({name for item in items for name in item.data} - shown)
    labels = {label.casefold() for label in facts.labels}
    for name in sorted(columns, key=lambda one: (_usual_rank(one), one)):
        values = [item.data.get(name) for item in items]
        if labels and all(isinstance(one, str) and one.casefold() in labels for one in values):
            return name
    for name in _USUAL_FIELDS:
        if name in columns and all(item.data.get(name) is not None for item in items):
            return name
    return None


def _usual_rank(name: str) -> int:
    return _USUAL_FIELDS.index(name) if name in _USUAL_FIELDS else len(_USUAL_FIELDS)


def _shown(facts: RunFacts, item: Item, field: str) -> Shown | None:
    answer = item.data.get(field)
    if answer is None:
        return None
    by_fold = {label.casefold(): label for label in facts.labels}
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    text = by_fold.get(text.casefold(), text)
    if facts.labels and text not in facts.labels:
        return None
    fields = shown_fields(facts, item, lambda name: name == field)
    if fields is None or field in fields or not text.strip():
        return None
    return Shown(
        item_id=item.id,
        example={"input": fields, "output": text},
        kind=text if facts.labels else "",
    )


def shown_fields(
    facts: RunFacts, item: Item, is_answer: Callable[[str], bool]
) -> dict[str, Json] | None:
    """What the prompt shows of an item; without placeholders, all of it but the answer."""
    names = facts.baseline.placeholders
    if not names:
        return {name: value for name, value in item.data.items() if not is_answer(name)}
    tops = {name if name in item.row else name.split(".", 1)[0] for name in names}
    if not tops <= item.row.keys():
        return None
    return {name: item.row[name] for name in sorted(tops)}


def _no_such_field(field: str, items: Sequence[Item]) -> UsageError:
    columns = sorted({name for item in items for name in item.data})
    return UsageError(
        what=f"the answers of examples cannot be found in {field!r}",
        why="no training item has that field",
        fix=did_you_mean(field, columns, f"use one of {', '.join(columns)}"),
        code="unknown_field",
    )


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
            yield Row(places=row, parent=root, says=f"show {counted(length, 'new example')}")
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
                places, says = self.changed(row, chance)
                yield Row(places=places, parent=trial.candidate_id, says=says)

    def changed(self, row: tuple[int, ...], chance: random.Random) -> tuple[tuple[int, ...], str]:
        """A small change of a row, and what it is in words."""
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


def pick_rows(
    pool: ExamplePool, state: OptimizerState, history: TrialHistory, count: int, *, most: int
) -> list[Row]:
    """Up to `count` rows of at most `most` examples that were never tried."""
    rows: dict[str, tuple[int, ...]] = {}
    for trial in history.tried:
        shown = pool.places_in(history.candidate(trial.candidate_id).configuration)
        if shown is not None:
            rows[trial.candidate_id] = shown

    def features(candidate_id: str) -> tuple[str, ...] | None:
        row = rows.get(candidate_id)
        return None if row is None else features_of(pool, row)

    trials = read_trials(history, pool.facts, features)
    scale = score_scale(pool.facts, trials)
    gradient = Gradient(
        [trial.observation(penalty=_COLLAPSE_PENALTY * scale) for trial in trials],
        Prior(
            name=0.04,
            prefix=0.05,
            pair=0.0,
            luck=baseline_luck(history, pool.facts) / scale,
            scale=scale,
        ),
    )
    search = ExampleSearch(
        pool,
        trials,
        rows,
        generation=state.generation,
        turn=state.algorithm_data["results"] + pool.facts.in_flight(count),
        most=most,
        tried=tried_hashes(history) | {pool.facts.baseline.hash},
    )
    return search.picks(count, gradient=gradient)


def row_proposal(pool: ExamplePool, row: Row) -> CandidateProposal:
    """The candidate that shows a row of examples."""
    return CandidateProposal(
        configuration=pool.configuration(row.places),
        parent_candidate_ids=(row.parent,),
        rationale=describe_row(pool, row),
    )


def describe_row(pool: ExamplePool, row: Row) -> str:
    """A rationale that people read."""
    if not row.places:
        return f"{row.says.capitalize()}."
    shown = ", ".join(f"“{_words(pool.shown[place])}”" for place in row.places)
    return f"{row.says.capitalize()}: {shown}."


def _words(shown: Shown) -> str:
    """How an example begins: its first text, cut."""
    texts = [value for value in shown.example.values() if isinstance(value, str) and value.strip()]
    line = " ".join((texts[0] if texts else shown.item_id).split())
    return line if len(line) <= _MOST_WORDS else f"{line[: _MOST_WORDS - 1].rstrip()}…"
