import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnish.domain import AgentOutput, Item, Purpose, Score, Spending, Usage, UsageError
from burnish.evaluation.scorers.function_scorer import FunctionScorer
from burnish.evaluation.scorers.judge import LLMJudge
from burnish.evaluation.scorers.scorer_set import ScorerSet, Weighted, combine
from burnish.evaluation.scorers.text import ExactMatch
from burnish.models import as_model

ITEM = Item(id="1", data={"label": "yes"})
YES = AgentOutput(text="yes")


class Fixed:
    """Gives one score, whatever the output."""

    def __init__(self, score, name="fixed", fingerprint="f"):
        self.given = score
        self.name = name
        self.fingerprint = fingerprint

    async def score(self, output, item):
        if isinstance(self.given, Exception):
            raise self.given
        return self.given


async def outcome(*scores, weights=None, threshold=1.0):
    scorers = ScorerSet([Fixed(score) for score in scores], weights)
    verdicts = await scorers.score_all(YES, ITEM)
    return verdicts, scorers.objective(verdicts), scorers.passed(verdicts, threshold)


async def test_the_objective_is_the_mean_by_weight():
    assert (await outcome(Score(1.0), Score(0.0)))[1] == 0.5
    assert (await outcome(Score(1.0), Score(0.0), weights=[3, 1]))[1] == 0.75
    assert combine([Score(0.1)], [3]) == 0.1


@given(
    pairs=st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 100)), min_size=1),
)
def test_a_mean_lies_between_its_values(pairs):
    values = [value for value, _ in pairs]

    mean = combine([Score(value) for value in values], [weight for _, weight in pairs])

    assert min(values) - 1e-9 <= mean <= max(values) + 1e-9


async def test_names_are_unique_within_a_set():
    named = ScorerSet([Fixed(Score(1), name) for name in ("a", "a", "a_2", "a", "b")])

    scores = await named.score_all(YES, ITEM)

    assert [score.name for score in scores] == list(named.names)
    assert named.names == ("a", "a_3", "a_2", "a_4", "b")


async def test_passing_takes_the_threshold_with_rounding_forgiven():
    assert (await outcome(Score(0.1), Score(0.2), Score(0.3), threshold=0.2))[2]
    assert not (await outcome(Score(0.1), Score(0.2), threshold=0.2))[2]


async def test_an_error_or_a_refusal_fails_whatever_the_objective():
    assert not (await outcome(Score(1.0), Score(1.0, error="broken"), threshold=0))[2]
    assert not (await outcome(Score(1.0), Score(1.0, passed=False), threshold=0))[2]
    assert not (await outcome(Score(0.5), Score(0.5, passed=True)))[2]


async def test_weight_0_reports_and_decides_nothing():
    scores, objective, passed = await outcome(Score(1.0), Score(0.0, passed=False), weights=[1, 0])

    assert (len(scores), objective, passed) == (2, 1.0, True)


async def test_stored_scores_may_come_back_in_another_order():
    scorers = ScorerSet([Fixed(Score(1.0), "a"), Fixed(Score(0.0), "b")], [3, 1])
    scores = await scorers.score_all(YES, ITEM)

    assert scorers.objective(scores[::-1]) == scorers.objective(scores) == 0.75


async def test_a_scorer_that_raises_becomes_an_error_score():
    scores, _, passed = await outcome(ValueError("no"))

    assert (scores[0].error, passed) == ("ValueError: no", False)


async def test_an_error_that_every_item_would_meet_is_raised():
    with pytest.raises(UsageError, match="key"):
        await outcome(UsageError(what="key", why="w", fix="f", code="bad_key"))


async def test_scorers_that_wait_do_so_together():
    barrier = asyncio.Barrier(2)

    async def meet(output, item):
        await barrier.wait()
        return 1

    scorers = ScorerSet([FunctionScorer(meet), ExactMatch("label"), FunctionScorer(meet)])
    async with asyncio.timeout(600):
        scores = await scorers.score_all(YES, ITEM)

    assert [score.name for score in scores] == ["meet", "exact_match", "meet_2"]


def test_the_fingerprint_covers_scorers_and_weights_and_is_unknown_if_one_is():
    one, two = ExactMatch("a"), ExactMatch("b")
    prints = {
        ScorerSet([one, two]).fingerprint,
        ScorerSet([two, one]).fingerprint,
        ScorerSet([one, two], [2, 1]).fingerprint,
        ScorerSet([one]).fingerprint,
    }

    assert len(prints) == 4
    assert ScorerSet([one, two]).fingerprint == ScorerSet([one, two], [1, 1]).fingerprint
    assert ScorerSet([one, Fixed(Score(1), fingerprint=None)]).fingerprint is None


def test_missing_fields_are_known_before_the_run():
    scorers = ScorerSet([ExactMatch("label"), ExactMatch("meta.kind"), ExactMatch("label")])

    assert scorers.fields_needed == ("label", "meta.kind")
    assert scorers.missing_fields(["meta", "text"]) == ("label",)
    assert scorers.missing_fields(["meta.kind", "label"]) == ()


@pytest.mark.parametrize("weights", [[1], [0, 0], [-1, 2], [float("nan"), 1], [float("inf"), 1]])
def test_weights_that_make_no_mean_are_refused(weights):
    with pytest.raises(UsageError, match="weight"):
        ScorerSet([ExactMatch("a"), ExactMatch("b")], weights)


def test_no_scorers_and_no_scorer_are_refused():
    with pytest.raises(UsageError):
        ScorerSet([])
    with pytest.raises(UsageError, match="fingerprint"):
        ScorerSet([object()])


class TestWeighted:
    async def test_keeps_the_scores_of_its_parts(self):
        paid = Spending.on(Purpose.JUDGE, Usage(calls=1))
        weighted = Weighted(
            [(Fixed(Score(1.0), "a"), 3), (Fixed(Score(0.0, "dull", spending=paid), "b"), 1)],
            name="quality",
        )

        score = await weighted.score(YES, ITEM)

        assert (score.value, score.name, score.reason) == (0.75, "quality", "b 0 (dull)")
        assert [part.name for part in score.parts] == ["a", "b"]
        assert score.to_json()["parts"][1]["reason"] == "dull"
        assert Score.of(score.to_json()).value == 0.75
        assert score.spending == paid
        assert score.passed is None

    async def test_a_parts_error_or_refusal_is_its_own(self):
        broken = Weighted([(Fixed(Score(1), "a"), 1), (Fixed(Score(0, error="x"), "b"), 1)])
        refused = Weighted([(Fixed(Score(1, passed=False), "a"), 1)])

        assert (await broken.score(YES, ITEM)).error == "b: x"
        assert (await refused.score(YES, ITEM)).passed is False

    def test_knows_what_its_parts_need(self):
        weighted = Weighted([(ExactMatch("a"), 1), (ExactMatch("b"), 2)])

        assert weighted.fields_needed == ("a", "b")
        assert weighted.instant
        assert weighted.fingerprint != Weighted([(ExactMatch("a"), 1)]).fingerprint


def test_a_set_says_what_it_goes_by_and_which_fields_hold_answers():
    def polite(output, item):
        """Whether it says please."""

    judge = LLMJudge(as_model(lambda prompt: ""), ["Short.", "True."], fields=["question"])
    scorers = ScorerSet(
        [
            ExactMatch("label"),
            judge,
            FunctionScorer(polite, fields=["gold"]),
            Weighted([(ExactMatch("inner", name="word"), 1.0)]),
            Fixed(Score(1.0)),
        ],
        [1, 1, 1, 1, 0],
    )

    assert scorers.answer_fields == ("label", "gold", "inner")
    assert scorers.criteria == (
        "exact_match: the output is compared with the item's label",
        "judge: - Short.\n- True.",
        "polite: Whether it says please.",
        "weighted, word: the output is compared with the item's inner",
    )


@pytest.mark.parametrize(
    ("judged", "value", "threshold", "passes"),
    [
        ((0.9, True), 1.0, None, True),
        ((0.9, False), 1.0, None, False),
        ((0.9, None), 1.0, None, False),
        ((1.0, None), 1.0, None, True),
        # The others decide what the judge leaves open.
        ((0.9, True), 0.5, None, False),
        # What the suite sets wins over a judge that says yes.
        ((0.9, True), 1.0, 1.0, False),
        ((0.9, None), 1.0, 0.95, True),
        ((1.0, False), 1.0, 0.5, False),
    ],
)
def test_without_a_threshold_the_word_of_a_judge_counts(judged, value, threshold, passes):
    both = ScorerSet([Fixed(Score(1.0), name) for name in ("judge", "rule")])
    scores = [Score(judged[0], passed=judged[1], name="judge"), Score(value, name="rule")]

    assert both.passed(scores, threshold) is passes


def test_where_nobody_decides_the_refine_threshold_does():
    both = ScorerSet([Fixed(Score(1.0), "judge")])
    both.pass_from = 0.8

    assert both.passed([Score(0.8, name="judge")], None)
    assert not both.passed([Score(0.7, name="judge")], None)
