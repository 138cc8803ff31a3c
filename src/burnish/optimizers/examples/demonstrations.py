"""Training items that an agent got right, with its own outputs: what `bootstrap` shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.domain import Item, ItemResult, Json, TrialHistory
from burnish.optimizers.examples.pool import ExamplePool, Shown
from burnish.optimizers.shared.copied_answers import is_answer_field
from burnish.optimizers.shared.facts import RunFacts

# An output that fills the prompt by itself teaches little and costs much.
_MOST_OUTPUT = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Demonstrations:
    """What was seen on training items so far. `ran` has the items that each candidate ran."""

    pool: ExamplePool
    ran: dict[str, frozenset[str]]

    @classmethod
    def read(cls, facts: RunFacts, history: TrialHistory, train: Sequence[str]) -> Demonstrations:
        """From all mini-batches. Of several candidates that passed an item the first is shown, so
        that an example stays what it was."""
        items = {item.id: item for item in history.items(list(train))}
        looked = sorted(
            {one.candidate_id for one in history.mini_batches},
            key=lambda one: history.candidate(one).number,
        )
        shown: dict[str, Shown] = {}
        ran: dict[str, frozenset[str]] = {}
        for candidate_id in looked:
            results = [r for r in history.item_results(candidate_id) if r.item_id in items]
            ran[candidate_id] = frozenset(result.item_id for result in results)
            known = ExamplePool(facts=facts, shown=tuple(shown.values()))
            own = shown_items(known, history, candidate_id)
            for result in results:
                if result.item_id in shown or result.item_id in own:
                    continue
                made = _shown(facts, items[result.item_id], result)
                if made is not None:
                    shown[result.item_id] = made
        ordered = tuple(shown[item] for item in sorted(shown))
        return cls(pool=ExamplePool(facts=facts, shown=ordered), ran=ran)

    def wanted(self, history: TrialHistory, candidate_id: str, train: Sequence[str]) -> list[str]:
        """Training items of which there is no example yet, and that this candidate did not run.

        Its own examples are not among them: it knows their answers.
        """
        seen = self.ran.get(candidate_id, frozenset()) | {one.item_id for one in self.pool.shown}
        own = shown_items(self.pool, history, candidate_id)
        return [item for item in train if item not in seen and item not in own]


def shown_items(pool: ExamplePool, history: TrialHistory, candidate_id: str) -> frozenset[str]:
    """The items among a candidate's examples."""
    places = pool.places_in(history.candidate(candidate_id).configuration) or ()
    return frozenset(pool.shown[place].item_id for place in places)


def _shown(facts: RunFacts, item: Item, result: ItemResult) -> Shown | None:
    """A passing result as an example."""
    if not result.passed or result.error is not None or result.output is None:
        return None
    text = result.output.text.strip()
    by_fold = {label.casefold(): label for label in facts.labels}
    text = by_fold.get(text.casefold(), text)
    fields = _fields(facts, item)
    if not text or len(text) > _MOST_OUTPUT or not fields:
        return None
    return Shown(
        item_id=item.id,
        example={"input": fields, "output": text},
        kind=text if text in facts.labels else "",
    )


def _fields(facts: RunFacts, item: Item) -> dict[str, Json] | None:
    """What the prompt shows of an item; without placeholders, all of it but the answer."""
    names = facts.baseline.placeholders
    if not names:
        return {name: value for name, value in item.data.items() if not is_answer_field(name)}
    tops = {name if name in item.data else name.split(".", 1)[0] for name in names}
    if not tops <= item.data.keys():
        return None
    return {name: item.data[name] for name in sorted(tops)}
