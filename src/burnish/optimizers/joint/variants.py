"""Variants of a baseline: edits of its texts and settings together with a row of examples."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from burnish.domain import Candidate, Configuration, Json
from burnish.domain.wording import counted
from burnish.optimizers.edits.edit_catalog import EditCatalog
from burnish.optimizers.edits.optimizer import screening_queue
from burnish.optimizers.examples.search import ExamplePool, ExampleSearch, features_of

# Rows of so many examples a label are begun with.
_LENGTHS = (1, 2, 4)
_MOST_EDITS = 6
_MOVES = 24


@dataclass(frozen=True, slots=True)
class Variant:
    """Names of edits, and examples by their places in the pool; None keeps the baseline's own."""

    edits: tuple[str, ...] = ()
    row: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Child:
    """A variant and the candidates that it was made from."""

    variant: Variant
    parents: tuple[str, ...]


class Variants:
    """All variants of one baseline: what they are as configurations, and how they are varied."""

    def __init__(self, catalog: EditCatalog, pool: ExamplePool, *, most_examples: int) -> None:
        self.catalog = catalog
        self.pool = pool
        self.most = min(most_examples, catalog.facts.space.max_examples, len(pool.shown))
        self._names = [name for name, one in catalog.edits.items() if one.group != "examples"]
        self._rows = ExampleSearch(
            pool, (), {}, generation=0, turn=0, most=self.most, tried=frozenset()
        )

    def configuration(self, variant: Variant) -> Configuration | None:
        """What would be proposed; None where that is the baseline, or cannot be."""
        facts = self.catalog.facts
        made = self.catalog.build(variant.edits) if variant.edits else None
        if variant.edits and made is None:
            return None
        configuration = facts.baseline if made is None else made.configuration
        if variant.row is not None:
            examples = [dict(self.pool.shown[place].example) for place in variant.row]
            configuration = Configuration.of({**configuration.to_json(), "examples": examples})
        return None if configuration.hash == facts.baseline.hash else configuration

    def features(self, variant: Variant) -> tuple[str, ...]:
        """What the gradient learns from."""
        shown = () if variant.row is None else features_of(self.pool, variant.row)
        return (*variant.edits, *shown)

    def metadata(self, variant: Variant) -> dict[str, Json]:
        """What `read` reads of a candidate that is made of it."""
        row = variant.row
        shown = None if row is None else [self.pool.shown[place].item_id for place in row]
        return {
            "edits": list(variant.edits),
            "shown_items": shown,
            "baseline": self.catalog.facts.baseline.hash,
        }

    def read(self, candidate: Candidate) -> Variant | None:
        """The variant that a candidate is; None when it is none of these."""
        edits = self.catalog.names_of(candidate)
        # Another search, from another baseline, may have used the same names.
        is_ours = (candidate.metadata or {}).get("baseline") == self.catalog.facts.baseline.hash
        if edits is None or not is_ours:
            return None
        row = self.pool.places_in(candidate.configuration)
        is_own = candidate.configuration.examples == self.catalog.facts.baseline.examples
        return None if row is None and not is_own else Variant(edits, None if is_own else row)

    def describe(self, variant: Variant) -> str:
        """A rationale that people read."""
        parts = [self.catalog.edits[name].says for name in variant.edits]
        if variant.row is not None:
            parts.append(
                f"show {counted(len(variant.row), 'example')}"
                if variant.row
                else "show no examples"
            )
        said = "; ".join(parts) or "as it was"
        return f"{said[:1].upper()}{said[1:]}."

    def first(self, chance: random.Random) -> list[Variant]:
        """What is tried before anything is known: rows of several lengths, edits, and both."""
        queue = [names for names in screening_queue(self.catalog) if set(names) <= {*self._names}]
        kinds = max(len(self.pool.kinds), 1)
        lengths = sorted({min(kinds * times, self.most) for times in _LENGTHS} - {0})
        rows = [self._rows.balanced(length, chance) for length in lengths]
        alone: list[Variant] = [Variant((), row) for row in rows]
        edited = [Variant(names) for names in queue]
        both = [
            Variant(names, self._rows.balanced(lengths[place % len(lengths)], chance))
            for place, names in enumerate(queue if lengths else [])
        ]
        return _in_turn(alone, both, edited)

    def children(
        self, parents: Sequence[tuple[str, Variant]], chance: random.Random
    ) -> Iterator[Child]:
        """Changes of one part of a parent, the parts of two together, and rows from scratch."""
        for number, variant in parents:
            for _ in range(_MOVES):
                yield Child(variant=self._changed(variant, chance), parents=(number,))
        for first, one in parents:
            for second, other in parents:
                if first != second:
                    yield Child(variant=Variant(one.edits, other.row), parents=(first, second))
        for number, variant in parents if self.most else ():
            row = self._rows.balanced(chance.randint(1, self.most), chance)
            yield Child(variant=Variant(variant.edits, row), parents=(number,))

    def _changed(self, variant: Variant, chance: random.Random) -> Variant:
        """One edit more, less or for another, or one change of the row."""
        if self.most and (not self._names or chance.random() < 0.5):
            return Variant(variant.edits, self._changed_row(variant.row, chance))
        if not self._names:
            return variant
        name = chance.choice(self._names)
        edits = tuple(one for one in variant.edits if one != name)
        if len(edits) == len(variant.edits):
            edits = self.catalog.with_edit(edits, name)
        return Variant(edits if len(edits) <= _MOST_EDITS else variant.edits, variant.row)

    def _changed_row(
        self, row: tuple[int, ...] | None, chance: random.Random
    ) -> tuple[int, ...] | None:
        if not row:
            return self._rows.balanced(chance.randint(1, self.most), chance)
        return self._rows.changed(row, chance)[0]


def _in_turn(*many: Sequence[Variant]) -> list[Variant]:
    """One of each list after another, until all are used up."""
    longest = max(map(len, many), default=0)
    return [one[place] for place in range(longest) for one in many if place < len(one)]
