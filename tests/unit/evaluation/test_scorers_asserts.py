"""Rows with asserts of their own: each type, its opposite, weights, thresholds, reasons."""

import json

import pytest

from burnish.domain import AgentOutput, Item, UsageError
from burnish.evaluation.scorers.asserts import Asserts
from burnish.evaluation.scorers.catalog import build_scorer, build_scorers
from burnish.evaluation.scorers.judges import row_judges
from burnish.models.scripted import ScriptedModel


async def graded(asserts, text, *, model=None, data=None, **fields):
    scorer = Asserts(model=model)
    item = Item(id="1", data={"assert": asserts, **fields})
    return await scorer.score(AgentOutput(text=text, data=data), item)


SCHEMA = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
PASS_AND_FAIL = [
    ("equals", "Lima", "Lima\n", "lima"),
    ("equals", 4, "4", "5"),
    ("equals", {"a": [1, 2]}, '{"a": [1.0, 2]}', '{"a": [2, 1]}'),
    ("contains", "Lima", "In Lima.", "in lima"),
    ("contains", 4, "it is 4", "it is 5"),
    ("icontains", "LIMA", "in lima", "in quito"),
    ("contains-all", ["a", "b"], "b then a", "only a"),
    ("contains-any", ["a", "b"], "just b", "none"),
    ("icontains-all", ["A", "B"], "b then a", "only a"),
    ("icontains-any", ["A", "B"], "just b", "none"),
    ("starts-with", "Yes", "Yes, sir", "Well, Yes"),
    ("regex", r"\d{3}-\d{4}", "call 555-1234", "call 5551234"),
    ("is-json", None, '{"a": 1}', "a: 1"),
    ("is-json", SCHEMA, '```json\n{"n": 1}\n```', '{"n": "x"}'),
    ("contains-json", None, 'so: {"a": [1]} ok', "so: {a} ok"),
    ("contains-json", SCHEMA, '[] and {"n": 2}', '[] and {"m": 2}'),
    ("levenshtein", "kitten", "sitting", "something else"),
]


@pytest.mark.parametrize(("kind", "value", "good", "bad"), PASS_AND_FAIL)
async def test_each_type_passes_fails_and_has_an_opposite(kind, value, good, bad):
    check = {"type": kind, "value": value}
    opposite = {"type": f"not-{kind}", "value": value}

    assert (await graded([check], good)).value == 1.0
    failed = await graded([check], bad)
    assert (failed.value, failed.passed, failed.error) == (0.0, False, None)
    assert kind in failed.reason
    assert json.dumps(bad, ensure_ascii=False) in failed.reason
    assert (await graded([opposite], bad)).value == 1.0
    assert f"not-{kind}" in (await graded([opposite], good)).reason


async def test_the_score_is_the_share_by_weight_and_the_reason_names_what_failed():
    asserts = [
        {"type": "contains", "value": "a", "weight": 3},
        {"type": "contains", "value": "x", "metric": "letters"},
        {"type": "contains", "value": "y", "weight": 0},
    ]

    score = await graded(asserts, "a b")

    assert score.value == 0.75
    assert score.passed is False
    assert 'letters: contains "x" (it lacks "x")' in score.reason
    assert 'contains "a"' not in score.reason
    assert score.reason.endswith('the output is "a b"')


async def test_a_weight_of_0_decides_nothing():
    nothing = {"type": "contains", "value": "x", "weight": 0}

    score = await graded([nothing, {"type": "contains", "value": "a"}], "a")

    assert (score.value, score.passed) == (1.0, True)


async def test_a_threshold_says_which_share_is_enough():
    half = [{"type": "contains", "value": "a"}, {"type": "contains", "value": "x"}]

    enough = await graded({"assert": half, "threshold": 0.5}, "a")
    not_enough = await graded({"assert": half, "threshold": 0.6}, "a")

    assert (enough.value, enough.passed) == (0.5, True)
    assert (not_enough.value, not_enough.passed) == (0.5, False)


async def test_sets_count_as_one_assert():
    inner = [{"type": "contains", "value": "a"}, {"type": "contains", "value": "x"}]
    either = {"type": "assert-set", "threshold": 0.5, "assert": inner}
    both = {"type": "assert-set", "assert": inner}
    plain = {"type": "contains", "value": "a"}

    assert (await graded([either, plain], "a")).value == 1.0
    strict = await graded([both, plain], "a")
    assert (strict.value, strict.passed) == (0.75, False)


@pytest.mark.parametrize(
    ("asserts", "told"),
    [
        ([{"type": "javascript", "value": "1"}], "there is no assert 'javascript'"),
        ([{"type": "regex", "value": "(a+)+$"}], "could take for ever"),
        ([{"type": "regex", "value": "("}], "not a regular expression"),
        ([{"type": "regex", "value": 3}], "a regex is a text"),
        ([{"type": "contains", "value": ""}], "nothing to look for"),
        ([{"type": "contains"}], "nothing to look for"),
        ([{"type": "is-json", "value": {"type": 5}}], "its schema cannot be used"),
        ([{"type": "is-json", "value": {"pattern": "(a*)*"}}], "could take for ever"),
        ([{"type": "is-json", "value": {"$ref": "http://x/y"}}], "its schema cannot be used"),
        ([{"type": "llm-rubric", "value": "kind"}], "set `model` of the scorer"),
        ([{"value": "x"}], "assert 1: it has no `type`"),
        ([{"type": "contains", "value": "x", "weight": -1}], "weight -1"),
        ([{"type": "contains", "value": "x", "weight": 10**400}], "weight"),
        (["x"], "assert 1: it is not an object"),
        ([], "holds no assert that counts"),
        ("x", "neither a list"),
        (None, "is null"),
    ],
)
async def test_asserts_that_cannot_be_used_are_errors_and_never_passes(asserts, told):
    score = await graded(asserts, "{}")

    assert score.value == 0.0
    assert told in score.error


async def test_a_rubric_is_judged_by_the_model_which_does_not_see_the_asserts():
    asked = []

    def judge(request):
        asked.append(request.messages)
        return '{"score": 0.2, "reason": "too rude", "pass": false}'

    model = ScriptedModel(judge, name="scripted/judge")
    rubric = {"type": "llm-rubric", "value": "It is kind."}
    others = [{"type": "contains", "value": "secret-needle"}]

    score = await graded([rubric, *others], "no", model=model, question="Why?")
    opposite = await graded([{**rubric, "type": "not-llm-rubric"}], "no", model=model)
    lenient = await graded([{**rubric, "threshold": 0.1}], "no", model=model)

    assert 'llm-rubric "It is kind." (too rude)' in score.reason
    assert score.spending.total.calls == 1
    shown = "".join(message.content for message in asked[0])
    assert "It is kind." in shown
    assert "Why?" in shown
    assert "secret-needle" not in shown
    assert opposite.value == 1.0
    assert lenient.value == 1.0


def test_it_is_built_by_name_and_tells_which_judges_a_row_asks(tmp_path):
    model = ScriptedModel(["{}"], name="scripted/judge")
    spec = {"kind": "asserts", "field": "checks", "model": "scripted/judge", "weight": 2}
    scorers = build_scorers([spec], open_model=lambda name: model, folder=tmp_path)
    rubric = {"type": "llm-rubric", "value": "kind"}
    row = Item(id="1", data={"checks": [rubric, {"type": "assert-set", "assert": [rubric]}]})

    assert scorers.fields_needed == ("checks",)
    assert [one.criteria for one in row_judges(scorers.scorers, row)] == ["kind", "kind"]
    assert list(row_judges(scorers.scorers, Item(id="2", data={}))) == []
    with pytest.raises(UsageError, match="no setting"):
        build_scorer({"kind": "asserts", "pattern": "x"}, open_model=None, folder=tmp_path)


async def test_data_of_an_agent_counts_as_its_json():
    score = await graded([{"type": "is-json", "value": SCHEMA}], "", data={"n": 3})

    assert score.value == 1.0
