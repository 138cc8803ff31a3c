"""Which failures a line is about: by rare words that they share, whatever order sets have."""

from __future__ import annotations

import os
import subprocess
import sys

from known import result

from burnish.domain import Item
from burnish.optimizers.gepa.ideas import Idea, foremost
from burnish.optimizers.shared.line_edits import LineEdit
from burnish.optimizers.shared.failure_matching import FailureMatcher, words_of
from burnish.optimizers.shared.reflection import Shown

TICKETS = {
    "t1": ("Where is my parcel?", "should have said trace-parcel"),
    "t2": ("The invoice is wrong.", "should have said check-ledger"),
    "t3": ("My parcel and my invoice are gone.", "should have said both"),
    "t4": ("The ferry is late.", "should have said hold-berth"),
    "t5": ("Again the ferry.", "should have said hold-berth"),
}


def motives(*ids: str) -> FailureMatcher:
    return FailureMatcher(
        [
            Shown(
                item=Item(id=one, data={"message": TICKETS[one][0]}),
                result=result(one, 0.0, reason=TICKETS[one][1]),
            )
            for one in ids or TICKETS
        ]
    )


def test_a_line_is_about_the_failures_whose_rare_words_it_has():
    match = motives().match("- Tickets on the ferry get hold-berth.", "", list(TICKETS))

    assert match.items == ("t4", "t5")
    assert match.words == {"ferry", "hold", "berth"}


def test_a_line_takes_up_what_is_said_and_not_only_what_was_asked():
    assert motives().takes_up("Tickets on the ferry get hold-berth.", "t4")
    assert not motives().takes_up("Take special care of the ferry.", "t4")


def idea(new: str, motive: str, *, vague: bool = False) -> Idea:
    return Idea(failures=(motive,), edit=LineEdit("system", "", new), vague=vague)


def test_lines_that_take_up_what_is_said_go_first():
    telling = idea("For a parcel say trace-parcel.", "t1")
    admonition = idea("Take special care of the ferry.", "t4")
    tone = idea("Be polite.", "t2", vague=True)
    dropped = Idea(failures=("t2",), edit=LineEdit("system", "Be brief.", ""))

    assert foremost([tone, admonition, telling, dropped], motives()) == [telling, dropped]


def test_the_others_have_their_turn_where_there_are_none():
    others = [idea("Take special care of the ferry.", "t4"), idea("Be polite.", "t2", vague=True)]

    assert foremost(others, motives()) == others


def test_where_only_words_of_the_item_are_said_every_line_takes_them_up():
    shown = Shown(
        item=Item(id="t9", data={"message": "The ferry is late."}),
        result=result("t9", 0.0, reason="The ferry!"),
    )

    assert FailureMatcher([shown, shown]).takes_up("Be brief.", "t9")


def test_the_best_comes_first():
    match = motives().match("For a parcel say trace-parcel.", "", list(TICKETS))

    assert match.items[0] == "t1"


def test_only_shown_failures_are_matched():
    match = motives().match("Tickets on the ferry get hold-berth.", "", ["t1", "t5"])

    assert match.items == ("t5",)


def test_words_of_most_failures_say_nothing():
    match = motives().match("Every answer should have said something.", "", list(TICKETS))

    assert match.items == ()
    assert not match.restated


def test_one_failure_alone_is_matched_by_any_word():
    assert motives("t1").match("Mind the parcel.", "", ["t1"]).items == ("t1",)
    assert motives("t1").match("Stay calm.", "", ["t1"]).items == ()


def test_what_a_line_of_the_prompt_says_already_is_restated():
    known = "Route it.\nTickets on the ferry get hold-berth."

    assert motives().match("A ferry? Say hold-berth.", known, list(TICKETS)).restated
    assert not motives().match("Tickets on the invoice get it.", known, list(TICKETS)).restated


def test_answers_are_not_among_the_words_of_a_failure():
    shown = Shown(
        item=Item(id="t1", data={"message": "Hello there", "expected": "greeting"}),
        result=result("t1", 0.0),
    )

    assert FailureMatcher([shown]).match("Say greeting.", "", ["t1"]).items == ()


def test_sets_of_telling_words_tell_what_they_are_about():
    assert motives().tells("t4", [frozenset({"ferry"})])
    assert not motives().tells("t4", [frozenset({"ferry", "parcel"})])
    assert not motives().tells("t4", [])


def test_where_several_things_are_wrong_each_must_be_told():
    both = Shown(
        item=Item(id="both", data={"message": "My passport and my voucher are gone."}),
        result=result(
            "both", 0.0, reason="The passport needs a stamp. The voucher needs a refund."
        ),
    )
    others = [
        Shown(item=Item(id=one, data={"message": text}), result=result(one, 0.0, reason=reason))
        for one, (text, reason) in TICKETS.items()
    ]
    seen = FailureMatcher([both, *others])

    assert not seen.tells("both", [frozenset({"passport", "stamp"})])
    assert seen.tells("both", [frozenset({"passport", "stamp"}), frozenset({"voucher"})])


def test_short_words_and_case_do_not_count():
    assert words_of("An ÄRGER is to be, 2024!") == {"ärger", "2024"}


def test_the_order_of_sets_plays_no_part():
    """Scores that are equal stay equal, whatever hashes the strings of a process have."""
    program = """
from known import result
from burnish.domain import Item
from burnish.optimizers.gepa.ideas import Idea, foremost
from burnish.optimizers.shared.line_edits import LineEdit
from burnish.optimizers.shared.failure_matching import FailureMatcher
from burnish.optimizers.shared.reflection import Shown

def shown(name, words):
    return Shown(item=Item(id=name, data={"m": " ".join(words)}), result=result(name, 0.0))

# Pairs of items whose words are equally rare: each word of a pair stands in as many others.
found = []
for pair in range(12):
    sides = [[f"{side}{pair}word{n}" for n in range(9)] for side in "ab"]
    others = [[side[n] for side in sides for n in range(9) if n > k] for k in range(8)]
    every = [*sides, *others, *([f"filler{n}"] for n in range(20))]
    motives = FailureMatcher([shown(f"t{n}", words) for n, words in enumerate(every)])
    found.append(motives.match(" ".join(sides[0] + sides[1]), "", ["t1", "t0"]).items)
print(found)
"""
    here = os.path.dirname(__file__)
    said = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={
                **os.environ,
                "PYTHONHASHSEED": str(seed),
                "PYTHONPATH": os.pathsep.join([here, *sys.path]),
            },
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(3)
    }

    assert len(said) == 1
