"""Results that turn by themselves: shown by items that no changed line is about, by nothing else."""

from __future__ import annotations

from dataclasses import replace

from known import evidence_of, known

from burnish.domain import Item
from burnish.optimizers.gepa.noise import Subjects, TurnsMemo, is_shown, turns

TOPICS = ("parcel", "invoice", "ferry", "boiler", "passport", "voucher")
ITEMS = [
    Item(id=f"t{number}", data={"ticket": f"Hello, it is about my {TOPICS[number % 6]}"})
    for number in range(24)
]
ROOT = "Route the ticket."


def children(line, turned, count=20):
    """Children with one line more each; `turned` says which items end otherwise than before."""
    before = {item.id: 0 for item in ITEMS}
    yield known(0, before, text=ROOT, trial=0.0)
    for number in range(1, count + 1):
        text = f"{ROOT}\n{line(number)}"
        yield known(
            number, {one: int(turned(one, number)) for one in before}, parents=(0,), text=text
        )


def about_parcels(number: int) -> str:
    return f"The parcel goes to desk {number}."


def is_parcel(item: str) -> bool:
    return int(item[1:]) % 6 == 0


def by_luck(item: str, number: int) -> bool:
    return int(item[1:]) % 5 == number % 5


def shown(line, turned, **more) -> bool:
    return is_shown(evidence_of(*children(line, turned, **more)), Subjects(ITEMS))


def test_items_that_no_changed_line_is_about_turn_by_luck():
    assert shown(about_parcels, by_luck)


def test_what_a_line_is_about_may_turn_because_of_it():
    assert not shown(about_parcels, lambda item, number: is_parcel(item))


def test_a_line_that_may_be_about_everything_proves_nothing():
    assert not shown(lambda number: f"Answer in style number {number}.", by_luck)


def test_a_line_about_most_items_proves_nothing():
    assert not shown(lambda number: f"{' '.join(TOPICS)} {number}", by_luck)


def test_few_children_prove_nothing():
    assert not shown(about_parcels, by_luck, count=19)


def test_a_few_that_turned_among_many_are_no_luck():
    assert not shown(about_parcels, lambda item, number: number <= 10 and by_luck(item, number))


def test_turns_are_counted_without_the_items_that_the_change_is_about():
    evidence = evidence_of(*children(about_parcels, lambda item, number: True, count=1))

    [seen] = turns(evidence, Subjects(ITEMS))

    assert (seen.turned, seen.items) == (20, 20)


def test_what_was_counted_is_counted_again_once_more_ran():
    family = list(children(about_parcels, lambda item, number: False, count=1))
    memo: TurnsMemo = {}

    [before] = turns(evidence_of(*family), Subjects(ITEMS), memo)
    [same] = turns(evidence_of(*family), Subjects(ITEMS), memo)
    family[1] = replace(family[1], results={**family[1].results, **known(9, {"t1": 1.0}).results})
    [after] = turns(evidence_of(*family), Subjects(ITEMS), memo)

    assert same is before
    assert (before.turned, after.turned) == (0, 1)
