"""Lines judged by all results at once: what helped is joined, luck is seen through, and who wins."""

from __future__ import annotations

import random

import pytest
from known import evidence_of, known

from burnish.domain import Item
from burnish.optimizers.shared.line_edits import LineEdit, split_units
from burnish.optimizers.gepa.line_effects import LineEffects, Sight
from burnish.optimizers.gepa.noise import Subjects
from burnish.optimizers.gepa.noise_search import LineSets, names_of

TOPICS = ("parcel", "invoice", "ferry", "boiler", "passport", "voucher")
ROOT = "Route the ticket."
DESKS = dict(zip(TOPICS, ("attic", "bureau", "cellar", "dock", "exit", "foyer"), strict=True))
OTHERS = dict(zip(TOPICS, [*list(DESKS.values())[1:], "attic"], strict=True))
RIGHT = {topic: f"Tickets on the {topic} go to the {desk}." for topic, desk in DESKS.items()}
WRONG = {topic: f"Tickets on the {topic} go to the {desk}." for topic, desk in OTHERS.items()}
POEM = "Write a poem."
ITEMS = [
    Item(id=f"{split}{number}", data={"ticket": f"Hello, about my {TOPICS[number % 6]}"})
    for split in "tv"
    for number in range(24)
]
SUBJECTS = Subjects(ITEMS)


def chance_of(item: str, lines: tuple[str, ...]) -> float:
    topic = TOPICS[int(item[1:]) % 6]
    harm = 0.6 if POEM in lines else 1.0
    if RIGHT[topic] not in lines:
        return harm * (0.05 if WRONG[topic] in lines else 0.25)
    return harm * (0.5 if WRONG[topic] in lines else 0.85)


def tried(number: int, *lines: str, scale: float = 1.0):
    draw = random.Random(f"{number} {lines}")
    items = [item.id for item in ITEMS if item.id[0] == "v"]
    scores = {one: scale * (draw.random() < chance_of(one, lines)) for one in items}
    trial = sum(scores.values()) / len(scores)
    parents = (0,) if number else ()
    return known(number, scores, parents=parents, text="\n".join([ROOT, *lines]), trial=trial)


def some(number: int) -> list[str]:
    draw = random.Random(number)
    lines = [*draw.sample([*RIGHT.values()], 4), *draw.sample([*WRONG.values()], 2)]
    return [*lines, POEM] if number % 2 else lines


def line_sets(*more, scale: float = 1.0) -> LineSets:
    trials = [tried(number, *some(number), scale=scale) for number in range(1, 15)]
    return LineSets(evidence_of(tried(0, scale=scale), *trials, *more), SUBJECTS)


def best(sets: LineSets, allowed=lambda _: True, tried=()):
    return sets.best(sets.likely(), tried=tried, allowed=allowed)


def lines_of(one) -> set[str]:
    return {unit.text for unit in split_units(one.configuration.sections["system"])} - {ROOT}


@pytest.mark.parametrize("scale", [1.0, 50.0])
def test_what_helped_is_joined_and_what_harmed_is_left_out(scale):
    assert lines_of(best(line_sets(scale=scale))) == set(RIGHT.values())


def test_a_set_that_was_tried_is_not_tried_again():
    assert best(line_sets(tried(20, *RIGHT.values()))) is None


def test_a_set_that_may_not_be_tried_is_not_proposed():
    made = best(line_sets())

    assert best(line_sets(), allowed=lambda _: False) is None
    assert best(line_sets(), tried=[made.configuration.hash]) is None


def test_the_winner_is_the_one_with_the_better_lines_and_not_the_luckier_one():
    lucky = tried(20, *list(RIGHT.values())[:5], WRONG["parcel"])
    lucky = known(
        20,
        dict.fromkeys(lucky.results, 1.0),
        parents=(0,),
        text=lucky.candidate.configuration.sections["system"],
        trial=1.0,
    )
    good = tried(21, *RIGHT.values())

    sets = line_sets(lucky, good)

    assert good.trial_score < 1.0
    assert sets.winner() == "c-21"


def test_a_line_about_everything_takes_no_credit_for_failures_that_it_ran_alone():
    text = f"{ROOT}\nBe of good cheer."
    gates = [known(n, {f"t{n}": 1.0}, parents=(0,), text=text + "!" * n) for n in range(30, 40)]

    assert not any("cheer" in line for line in lines_of(best(line_sets(*gates))))


def test_an_odd_item_that_ran_often_does_not_speak_for_all():
    """It passes with the wrong line beside the right one, and only so; all others say otherwise."""
    both, right = (RIGHT["parcel"], WRONG["parcel"]), (RIGHT["parcel"],)

    def ran(number, lines, scores):
        return known(number, scores, parents=(0,), text="\n".join([ROOT, *lines]))

    odd = [ran(30 + n, (*both, f"Note {n}."), {"t0": 1.0}) for n in range(60)]
    odd += [ran(100 + n, (*right, f"Note {n}."), {"t0": 0.0}) for n in range(60)]
    others = {"t6": 1.0, "t12": 1.0, "t18": 1.0, "v0": 1.0, "v6": 1.0, "v12": 1.0}
    odd += [ran(200 + n, right, others) for n in range(2)]
    odd += [ran(210 + n, both, dict.fromkeys(others, 0.0)) for n in range(2)]

    made = lines_of(best(line_sets(*odd)))

    assert RIGHT["parcel"] in made
    assert WRONG["parcel"] not in made


def test_drawn_worlds_differ_and_come_again_with_their_seed():
    sets = line_sets()

    assert sets.drawn(1, 2) == sets.drawn(1, 2)
    assert sets.drawn(1, 2) != sets.drawn(1, 3)


def test_two_wordings_of_one_rule_have_one_name():
    actions = {topic: f"call-{topic[::-1]}" for topic in TOPICS}
    added = [f"Tickets on the {topic} get {action}." for topic, action in actions.items()]
    added += [f"If somebody mentions the {topic}, say {act}." for topic, act in actions.items()]
    added.append("If somebody mentions the ferry, say void-receipt.")
    edits = [LineEdit("system", "", line) for line in added]

    names = names_of(edits, SUBJECTS)

    assert len(set(names.values())) == len(TOPICS) + 1
    assert names[edits[0].key] == names[edits[len(TOPICS)].key]


def test_rules_that_differ_by_a_label_which_many_rules_give_are_two():
    labels = {topic: ("refund", "repair")[number % 2] for number, topic in enumerate(TOPICS)}
    added = [f"Tickets on the {topic} get {label}." for topic, label in labels.items()]
    added += [
        f"Tickets on the {topic} get refund." for topic in TOPICS if labels[topic] == "repair"
    ]
    added += [
        f"Tickets on the {topic} get repair." for topic in TOPICS if labels[topic] == "refund"
    ]
    edits = [LineEdit("system", "", line) for line in added]

    assert len(set(names_of(edits, SUBJECTS).values())) == len(TOPICS)
    told_apart = names_of(edits, SUBJECTS, frozenset({"refund", "repair"}))
    assert len(set(told_apart.values())) == 2 * len(TOPICS)


class TestEffects:
    def sights(self, score: float = 1.0) -> list[Sight]:
        without = [Sight(f"i{n}", (), 0.0) for n in range(12)]
        return [*without, *(Sight(f"i{n}", ("rule",), score) for n in range(6))]

    def fitted(self, *more: Sight) -> LineEffects:
        return LineEffects([*self.sights(), *more], ease=0.0, general=frozenset({"tone"}))

    def test_a_line_gets_the_effect_on_its_items(self):
        assert 0.7 < self.fitted().cautious(0.0).effect("rule") <= 1.0

    def test_doubt_is_greater_about_what_was_seen_less(self):
        fit = self.fitted(Sight("i7", ("new",), 1.0))
        likely, cautious = fit.cautious(0.0), fit.cautious(1.0)

        def doubt(line: str) -> float:
            return likely.effect(line) - cautious.effect(line)

        assert doubt("new") > 1.5 * doubt("rule") > 0

    def test_a_line_about_everything_has_to_show_more(self):
        fit = self.fitted(Sight("i8", ("tone",), 1.0), Sight("i9", ("new",), 1.0))
        world = fit.cautious(0.0)

        assert 0 < world.effect("tone") < 0.1 < world.effect("new")

    def test_nothing_is_known_of_other_lines_and_scores_stay_on_the_scale(self):
        world = self.fitted().cautious(0.0)

        assert world.effect("unheard of") == 0.0
        assert (world.within(1.7), world.within(-0.2)) == (1.0, 0.0)
