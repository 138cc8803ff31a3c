"""What each block of a text is worth, by pairs of a child and its parent on the items that both ran."""

import random

from burnish.domain import AgentOutput, Candidate, Configuration, ItemResult
from burnish.optimizers.gepa.block_effects import block_effects
from burnish.optimizers.gepa.evidence import Evidence, Known

WORTH = {"- Name the city.": 0.4, "- Be brief.": 0.0, "- Shout.": -0.3}
BASE = "Answer the question."
ITEMS = [f"v{number}" for number in range(60)]


def known(number, lines, parent=None, items=ITEMS):
    """Each item passes by its own threshold, the same for everybody."""
    chance = 0.4 + sum(WORTH[line] for line in lines)
    results = {
        item: ItemResult(
            item_id=item,
            item_hash=item,
            repeat=0,
            score=float(passed := random.Random(item).random() < chance),
            passed=passed,
            output=AgentOutput(text="x"),
        )
        for item in items
    }
    candidate = Candidate(
        id=f"c-{number}",
        optimization_id="o",
        number=number,
        step_index=number,
        configuration=Configuration.of({"sections": {"system": "\n".join([BASE, *lines])}}),
        parent_candidate_ids=() if parent is None else (f"c-{parent}",),
    )
    return Known(candidate=candidate, results=results, repeats={}, trial_score=None)


def effects(*candidates, winner=-1):
    found = block_effects(Evidence(candidates, "c-0", ITEMS), candidates[winner])
    return {one["text"]: one for one in found}


def test_what_helps_what_does_nothing_and_what_hurts_are_told_apart():
    city, brief, shout = WORTH
    found = effects(
        known(0, []),
        known(1, [city], 0),
        known(2, [city, brief], 1),
        known(3, [city, brief, shout], 2),
        known(4, [city, shout], 3),
        known(5, [city], 4),
    )

    assert list(found) == [city, brief, shout]
    assert found[city]["low"] > 0.1 and found[shout]["high"] < -0.05
    assert found[brief]["low"] < 0 < found[brief]["high"]
    assert [one["in_winner"] for one in found.values()] == [True, False, False]
    assert all(one["items"] == 60 and one["section"] == "system" for one in found.values())


def test_few_items_leave_a_wide_interval():
    many = effects(known(0, []), known(1, ["- Name the city."], 0))
    few = effects(known(0, []), known(1, ["- Name the city."], 0, ITEMS[:4]))

    [sure], [unsure] = many.values(), few.values()
    assert sure["high"] - sure["low"] < unsure["high"] - unsure["low"]
    assert unsure["items"] == 4


def test_items_that_were_chosen_because_the_parent_failed_them_do_not_flatter():
    parent = known(0, [])
    failed = [item for item in ITEMS if parent.weak(item)][:6]
    [found] = effects(parent, known(1, ["- Name the city."], 0, failed)).values()

    assert found["worth"] < 0.5


def test_nothing_was_compared_so_nothing_is_known():
    assert effects(known(0, [])) == {}
    assert effects(known(0, []), known(1, ["- Shout."], 0, items=[])) == {}
