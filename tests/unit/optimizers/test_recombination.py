"""Lines of tried candidates put together anew: the best set by what trials say, and a new one."""

from __future__ import annotations

import pytest
from known import evidence_of, known

from burnish.optimizers.gepa.explore import Recombination, Recombined
from burnish.optimizers.shared.line_edits import split_units
from burnish.optimizers.gepa.moves import Kind

ROOT = "Route the ticket."
GOOD = ["Parcels go to shipping.", "Invoices go to billing.", "Berths go to the harbour."]
BAD = ["Write a poem.", "Sing a song."]
WORTH = {**dict.fromkeys(GOOD, 0.2), **dict.fromkeys(BAD, -0.2)}


def text(*lines: str) -> str:
    return "\n".join([ROOT, *lines])


def tried(number: int, *lines: str, scale: float = 1.0, offset: float = 0.3):
    score = scale * (offset + sum(WORTH.get(line, 0.0) for line in lines))
    return known(
        number,
        {f"v{n}": score for n in range(20)},
        parents=(0,),
        text=text(*lines),
        trial=score,
        kind=Kind.MERGE,
    )


def baseline(scale: float = 1.0):
    return known(0, {f"v{n}": 0.3 * scale for n in range(20)}, text=ROOT, trial=0.3 * scale)


def sets(*candidates, count=1, generation=0, allowed=lambda _: True, **more) -> list[Recombined]:
    evidence = evidence_of(*candidates)
    given = {
        "seed": 1,
        "tried": [one.candidate.configuration.hash for one in evidence.trialed],
        **more,
    }
    return Recombination(evidence).sets(count, generation=generation, allowed=allowed, **given)


def lines_of(one: Recombined) -> set[str]:
    units = split_units(one.configuration.sections["system"])
    return {unit.text for unit in units} - {ROOT}


def test_what_helped_is_joined_and_what_harmed_is_left_out():
    halves = [tried(1, GOOD[0], BAD[0]), tried(2, GOOD[1], GOOD[2]), tried(3, BAD[0], BAD[1])]

    [best] = sets(baseline(), *halves, tried(4, GOOD[0], BAD[1]))

    assert lines_of(best) == set(GOOD)


@pytest.mark.parametrize("scale", [100.0, 0.01])
def test_the_scale_of_the_scores_does_not_matter(scale):
    found = [
        tried(number, *lines, scale=scale)
        for number, lines in enumerate(
            [(GOOD[0], BAD[0]), (GOOD[1], GOOD[2]), (BAD[0], BAD[1]), (GOOD[0], BAD[1])], start=1
        )
    ]

    [best] = sets(baseline(scale), *found)

    assert {GOOD[1], GOOD[2]} <= lines_of(best)


def test_the_parents_are_the_nearest_of_those_that_were_tried():
    [best] = sets(
        baseline(), tried(1, BAD[1]), tried(2, GOOD[0], GOOD[1]), tried(3, GOOD[2], BAD[0])
    )

    assert best.parents[0] == "c-2"


def test_the_same_seed_and_generation_draw_alike_and_others_do_not():
    world = [baseline(), *(tried(n, GOOD[n % 3], BAD[n % 2]) for n in range(1, 6))]
    drawn = {
        generation: [one.configuration.hash for one in sets(*world, generation=generation, count=3)]
        for generation in range(6)
    }

    assert drawn[2] == [one.configuration.hash for one in sets(*world, generation=2, count=3)]
    assert len({tuple(one) for one in drawn.values()}) > 1


def test_nothing_that_was_tried_or_is_not_allowed_comes_back():
    world = [baseline(), tried(1, GOOD[0]), tried(2, GOOD[1]), tried(3, GOOD[0], GOOD[1])]
    hashes = {one.candidate.configuration.hash for one in world}

    made = [one for n in range(8) for one in sets(*world, generation=n, count=3)]
    short = sets(*world, count=3, allowed=lambda one: False)

    assert not hashes & {one.configuration.hash for one in made}
    assert short == []


def test_without_any_line_there_is_nothing_to_put_together():
    assert sets(baseline()) == []


def test_a_line_that_was_only_gated_takes_part_if_it_mended_something():
    root = known(0, {**{f"v{n}": 0.3 for n in range(20)}, "t1": 0, "t2": 0}, text=ROOT, trial=0.3)
    mended = known(1, {"t1": 1}, parents=(0,), text=text(GOOD[0]), kind=Kind.LINE)
    useless = known(2, {"t2": 0}, parents=(0,), text=text(BAD[0]), kind=Kind.LINE)

    assert set(Recombination(evidence_of(root, mended, useless)).lines.values()) == {
        edit
        for edit in Recombination(evidence_of(root, mended)).lines.values()
        if edit.new == GOOD[0]
    }


def test_two_wordings_of_one_rule_are_one_line():
    topics = ["parcel", "invoice", "ferry", "boiler", "passport", "voucher", "antenna"]
    ways = ["Tickets on the {0} get desk-{0}.", "The right one for any {0} is desk-{0}."]
    wordings = [way.format(topic) for way in ways for topic in topics]
    candidates = [tried(number, line) for number, line in enumerate(wordings, start=1)]

    lines = Recombination(evidence_of(baseline(), *candidates)).lines

    assert [edit.new for edit in lines.values()] == wordings[: len(topics)]
