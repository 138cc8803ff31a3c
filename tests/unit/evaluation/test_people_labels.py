"""Labels of several people: what may be said, what they say together, and how far they agree."""

import pytest

from burnish.domain import AgentOutput, Configuration, Item, UsageError
from burnish.domain.labels import (
    LabelKind,
    LabelRules,
    LabelSet,
    order_for,
    output_is_left,
)
from burnish.evaluation.agents import JudgeAgent
from burnish.evaluation.judging.agreement import cohens_kappa
from burnish.evaluation.judging.labels import labelled_row
from burnish.evaluation.judging.people import as_label, decided, people_agreement, read_value
from burnish.evaluation.scorers.agreement import Agreement
from burnish.models.scripted import ScriptedModel
from burnish.optimizers.shared.reflection import _comment_of

PASSES = LabelRules(kind=LabelKind.PASS)
SCORES = LabelRules(kind=LabelKind.SCORE, low=1, high=5)
CLASSES = LabelRules(kind=LabelKind.CLASS, classes=("billing", "other"))
PAIRS = LabelRules(kind=LabelKind.PREFERENCE)


@pytest.mark.parametrize(
    ("rules", "given", "kept"),
    [
        (PASSES, "Good", "pass"),
        (PASSES, False, "fail"),
        (SCORES, "4", 4),
        (SCORES, 5.0, 5),
        (CLASSES, " Billing ", "billing"),
        (PAIRS, "b", "other"),
        (PAIRS, "tie", "tie"),
    ],
)
def test_a_label_is_kept_in_one_form(rules, given, kept):
    assert read_value(rules, given) == kept
    assert LabelRules.of(rules.to_json()) == rules


@pytest.mark.parametrize(
    ("rules", "given"),
    [
        *((PASSES, one) for one in ("maybe", 0.5, None)),
        *((SCORES, one) for one in (0, 6, 2.5, True, "nan", None, [])),
        (CLASSES, "spam"),
        (CLASSES, 1),
        (PAIRS, 0.3),
    ],
)
def test_what_is_no_label_is_refused(rules, given):
    with pytest.raises(ValueError, match="none of|no whole number|neither"):
        read_value(rules, given)


@pytest.mark.parametrize(
    "values",
    [
        {"kind": LabelKind.CLASS},
        {"kind": LabelKind.CLASS, "classes": ("a", "A ")},
        {"kind": LabelKind.PASS, "classes": ("a", "b")},
        {"kind": LabelKind.SCORE, "low": 0, "high": 10},
        {"kind": LabelKind.SCORE, "low": 3, "high": 3},
    ],
)
def test_rules_without_a_key_for_each_value_are_refused(values):
    with pytest.raises(UsageError):
        LabelRules(**values)


def test_people_decide_together_unless_they_are_split():
    assert decided(PASSES, ["pass", "fail", "pass"]) == "pass"
    assert decided(PASSES, ["pass", "fail"]) is None
    assert decided(SCORES, [4, 5]) == 4.5
    assert as_label(SCORES, 4.5) == 0.875
    assert as_label(PASSES, "pass") == "pass"


def test_agreement_of_two_is_counted_and_corrected_for_chance():
    # 20 both pass, 15 both fail, 5 and 10 apart: 0.7 agree, kappa 0.4 (Fleiss's example).
    pairs = 20 * [("pass", "pass")] + 15 * [("fail", "fail")]
    pairs += 5 * [("pass", "fail")] + 10 * [("fail", "pass")]
    given = {
        person: {f"i{n:02}": pair[place] for n, pair in enumerate(pairs)}
        for place, person in enumerate(("ada", "bob"))
    }

    found = people_agreement(PASSES, given)

    (pair,) = found.pairs
    assert (pair.people, pair.rows, pair.agreement.value) == (("ada", "bob"), 50, 0.7)
    assert pair.kappa.value == pytest.approx(0.4)
    assert pair.kappa == cohens_kappa(pair.confusion)
    assert pair.agreement.interval.low < 0.7 < pair.agreement.interval.high
    assert found.unanimous.value == 0.7
    assert found.differing == tuple(f"i{n}" for n in range(35, 50))
    assert pair.distance is None


def test_of_several_each_two_are_compared_on_what_both_labelled():
    given = {"ada": {"a": 1, "b": 5}, "bob": {"a": 2, "b": 1, "c": 3}, "eve": {"d": 1}}

    found = people_agreement(SCORES, given)

    assert [one.people for one in found.pairs] == [("ada", "bob")]
    assert found.pairs[0].distance.value == 0.625
    assert (found.shared, found.differing) == (2, ("b", "a"))
    assert people_agreement(SCORES, {}).unanimous is None


def test_each_person_has_an_order_and_sides_of_their_own_and_always_the_same():
    made = LabelSet(id="1", name="s", rules=PAIRS, items=200, seed=7)
    ids = [f"i{n}" for n in range(200)]

    orders = [order_for(made, person, ids) for person in ("ada", "bob", "ada")]
    left = [sum(output_is_left(made, person, one) for one in ids) for person in ("ada", "bob")]

    assert orders[0] == orders[2] != orders[1]
    assert sorted(orders[0]) == sorted(ids) != orders[0]
    assert all(70 < one < 130 for one in left)


async def test_comments_are_reasons_and_no_judge_sees_them():
    item = Item(id="1", data={"q": "?", "output": "x", "label": "fail", "label_comment": "rude"})

    row = labelled_row(item, output="output", label="label", other=None)
    score = await Agreement().score(AgentOutput(text="pass"), item)

    judge = JudgeAgent(
        name="j",
        configuration=Configuration.of({"sections": {"criteria": "Polite?"}}),
        model=ScriptedModel(["-"]),
    )
    assert row.fields == {"q": "?"}
    assert "rude" not in repr(judge.messages(item))
    assert score.reason == ('people say fail ("rude"), the judge says otherwise, because: ')
    assert _comment_of(item, score.reason) == []
    assert "rude" in _comment_of(item, "wrong, score 0.")[0]
