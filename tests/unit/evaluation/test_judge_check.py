"""Checks of judges: labels, kappa, biases with their sign, a judge through its model, panels."""

import json
import random

import pytest
from bench.judges import simulate

from burnish.domain import Configuration, Item, ModelResponse, UnavailableError, Usage, UsageError
from burnish.evaluation.agents import JudgeAgent
from burnish.evaluation.judging.agreement import cohens_kappa, effect, flip_rate
from burnish.evaluation.judging.check import check_judge, panel_of
from burnish.evaluation.judging.labels import labelled_row, read_label
from burnish.evaluation.judging.probes import ComparingProbe, Probe, ScoringProbe
from burnish.evaluation.scorers.agreement import Agreement
from burnish.evaluation.scorers.judge import LLMJudge
from burnish.evaluation.scorers.pairwise import PairwiseJudge


def test_simulated_biases_are_found_with_their_sign_and_covered():
    runs = 6

    for one in simulate(runs):
        if "one order" in one.name:
            continue
        assert one.held >= runs - 2, one.name
        assert one.wrong == 0 or one.truth == 0, one.name
        assert one.truth == 0 or one.found >= runs - 2, one.name


@pytest.mark.parametrize(
    ("value", "pairwise", "worth"),
    [
        (True, False, 1.0),
        ("Fail", False, 0.0),
        ("good", False, 1.0),
        (0.3, False, 0.3),
        ("0.75", False, 0.75),
        ("tie", True, 0.5),
        ("other", True, 0.0),
        ("A", True, 1.0),
    ],
)
def test_labels_are_read_as_people_write_them(value, pairwise, worth):
    assert read_label(value, pairwise=pairwise) == worth


@pytest.mark.parametrize("value", [4, "maybe", None, ["pass"], float("nan")])
def test_what_is_no_label_is_refused(value):
    with pytest.raises(UsageError, match="row r cannot be compared"):
        labelled_row(
            Item(id="r", data={"output": "x", "label": value}),
            output="output",
            label="label",
            other=None,
        )


class TestKappa:
    def test_agrees_with_a_published_example(self):
        """Fleiss, Cohen and Everitt's own table is not at hand; this one is worked by hand."""
        found = cohens_kappa({"yes": {"yes": 20, "no": 5}, "no": {"yes": 10, "no": 15}})

        assert found.value == pytest.approx(0.4)
        assert found.interval.low < 0.4 < found.interval.high

    def test_full_agreement_has_a_width_and_one_class_tells_nothing(self):
        full = cohens_kappa({"pass": {"pass": 20, "fail": 0}, "fail": {"pass": 0, "fail": 20}})
        single = cohens_kappa({"pass": {"pass": 28, "fail": 0}, "fail": {"pass": 0, "fail": 0}})

        assert full.value == 1.0 == full.interval.high
        assert full.interval.low < 0.99
        assert single is None


def test_an_effect_where_hardly_a_row_changed_leaves_room():
    found = effect("length", [0.5] * 40, [0.5] * 40)

    assert (found.value, found.found) == (0.0, False)
    assert found.interval.low < 0 < found.interval.high


def test_repeats_of_a_row_are_one_value_of_the_noise():
    found = flip_rate([[True, False, True], [True] * 3, [False] * 3, [True]])

    assert found.rows == 3
    assert found.value == pytest.approx(2 / 9)


class Reader:
    """A model that scores by a function of the whole request."""

    name = "reader"
    fingerprint = "reader-1"

    def __init__(self, judge):
        self.judge = judge
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        answer = self.judge(request)
        if isinstance(answer, Exception):
            raise answer
        return ModelResponse(
            text=json.dumps(answer), usage=Usage(calls=1, input_tokens=9, cost_usd=0.001)
        )

    async def close(self):
        pass


def verdict(score):
    return {"score": score, "reason": "so", "pass": score >= 0.5}


def labelled(rows, label="label"):
    return [
        labelled_row(
            Item(id=str(number), data=row),
            output="output",
            label=label,
            other="other" if "other" in row else None,
        )
        for number, row in enumerate(rows)
    ]


ROWS = [
    {
        "question": f"q{n}",
        "context": "c",
        "output": f"good {n}" if n % 2 else f"bad {n}",
        "label": n % 2,
    }
    for n in range(30)
]


async def test_a_judge_is_asked_in_all_ways_and_never_sees_the_label():
    def judge(request):
        text = request.messages[-1].content
        assert "label" not in text
        longer = "once more" in text
        return verdict(min((0.8 if "good" in text else 0.2) + 0.15 * longer, 1))

    model = Reader(judge)

    report = await check_judge(ScoringProbe(LLMJudge(model, "Is it good?")), labelled(ROWS))

    assert (report.rows, report.errors, report.agreement.value) == (30, 0, 1.0)
    assert report.kappa.value == 1.0
    assert report.effect("length").value == pytest.approx(0.15)
    assert report.effect("length").found
    assert not report.effect("order").found
    assert report.noise.value == 0
    assert len(model.requests) == 30 * (2 + 4)
    assert report.spending.total.cost_usd == pytest.approx(0.18)
    firsts = [one.messages[-1].content.startswith("<<<OUTPUT") for one in model.requests]
    assert sum(firsts) == 30
    assert {one.repeat for one in model.requests} == {0, 2}
    json.dumps(report.to_json())


SAID = {
    "label_comment": "canary-1",
    "comment": "canary-2",
    "feedback": {"helpful": "canary-3"},
}


async def test_a_checked_judge_sees_nothing_that_was_said_of_the_output():
    rows = [{"question": "q", "output": "x", "human": "1", **SAID} for _ in range(2)]
    seen = Reader(lambda _: verdict(1.0))

    for fields in (None, ["question", "comment", "feedback", "label_comment", "human"]):
        judge = LLMJudge(seen, "c", fields=fields)
        await check_judge(ScoringProbe(judge), labelled(rows, label="human"))
        pair = PairwiseJudge(Reader(lambda _: {"winner": "A", "reason": "r"}), "c", fields=fields)
        pairs = labelled([{**one, "other": "y"} for one in rows], label="human")
        await check_judge(ComparingProbe(pair), pairs)
        for request in (*seen.requests, *pair.model.requests):
            assert "canary" not in request.messages[-1].content
            assert "human" not in request.messages[-1].content


async def test_a_judge_of_two_that_prefers_the_first_is_found_and_its_verdict_is_a_tie():
    rows = [{"output": "x", "other": "y", "label": "tie"} for _ in range(20)]
    judge = PairwiseJudge(Reader(lambda _: {"winner": "A", "reason": "first"}), "c")

    report = await check_judge(ComparingProbe(judge), labelled(rows), probes=(Probe.ORDER,))

    order = report.effect("order")
    assert (order.value, order.found) == (1.0, True)
    assert 0.5 < order.interval.low < order.interval.high
    assert report.agreement.value == 1.0


async def test_rows_without_a_verdict_count_as_errors_and_none_is_an_outage():
    down = UnavailableError(what="w", why="y", fix="f")
    flaky = Reader(lambda one: down if "q3" in one.messages[-1].content else verdict(1.0))

    report = await check_judge(ScoringProbe(LLMJudge(flaky, "c")), labelled(ROWS), probes=())

    assert report.errors == sum("q3" in row["question"] for row in ROWS)
    with pytest.raises(UnavailableError, match="no verdict"):
        await check_judge(ScoringProbe(LLMJudge(Reader(lambda _: down), "c")), labelled(ROWS))


async def test_a_panel_tells_how_its_judges_agree():
    rng = random.Random(1)
    rows = labelled(ROWS)
    judges = [LLMJudge(Reader(lambda _: verdict(rng.random())), "c", name="dice")]
    good = Reader(lambda one: verdict(float("good" in one.messages[-1].content)))
    judges += [LLMJudge(good, "c", name=name) for name in ("one", "two")]
    reports = [await check_judge(ScoringProbe(one), rows, probes=(), repeats=1) for one in judges]

    panel = panel_of(reports, rows)

    assert panel.panel.agreement.value == 1.0
    assert panel.between["one", "two"].value == 1.0
    assert panel.between["dice", "one"].value < 0.9
    json.dumps(panel.to_json())


class TestJudgeAgent:
    ITEM = Item(id="1", data={"question": "q", "output": "good", "label": "pass"})

    def agent(self, judge, **settings):
        configuration = Configuration.of({"sections": {"criteria": "Is it good?"}})
        return JudgeAgent.of("judge", configuration, Reader(judge), settings)

    async def test_its_verdict_is_the_answer_and_agreement_the_score(self):
        agent = self.agent(lambda one: verdict(0.9))
        other = agent.configuration.with_sections({"criteria": "Is it short?"})

        output = await agent.run(other, self.ITEM, repeat=0)
        score = await Agreement().score(output, self.ITEM)

        assert (output.text, output.data["score"]) == ("pass", 0.9)
        assert (score.value, score.passed) == (1.0, True)
        request = agent.model.requests[0]
        assert "Is it short?" in request.messages[0].content
        assert "label" not in request.messages[-1].content

    async def test_a_small_model_gives_a_score_and_nothing_else(self):
        agent = self.agent(lambda one: {"score": 0.2}, score_only=True)

        output = await agent.run(agent.configuration, self.ITEM, repeat=0)
        score = await Agreement().score(output, self.ITEM)

        assert list(agent.model.requests[0].schema["properties"]) == ["score"]
        assert (output.text, score.value) == ("fail", 0.0)

    def test_unknown_settings_and_missing_columns_are_refused(self):
        with pytest.raises(UsageError, match="no setting 'outputs'"):
            self.agent(verdict, outputs="x")
        with pytest.raises(UsageError, match="no column 'output'"):
            self.agent(verdict).require_columns({"label"})

    async def test_it_sees_nothing_that_was_said_of_the_output(self):
        agent = self.agent(lambda one: verdict(1.0), hidden=["label", "human"])
        item = Item(id="1", data={**self.ITEM.data, **SAID})

        await agent.run(agent.configuration, item, repeat=0)

        assert "canary" not in agent.model.requests[0].messages[-1].content
        for named in ("label", "comment", "feedback"):
            with pytest.raises(UsageError, match=f"cannot see the column '{named}'"):
                self.agent(verdict, fields=["question", named])

    def test_labels_that_it_would_see_are_refused(self):
        self.agent(verdict).require_hidden(["label"])
        self.agent(verdict, fields=["question"]).require_hidden(["human.value"])
        for given in ({}, {"fields": ["question", "human"]}):
            with pytest.raises(UsageError, match="would see the column 'human'"):
                self.agent(verdict, **given).require_hidden(["human.value"])

    @pytest.mark.parametrize(("label", "value"), [(0.75, 0.75), ("fail", 0.0), ("pass", 1.0)])
    async def test_labels_are_pass_or_fail_or_scores(self, label, value):
        output = await self.agent(lambda one: verdict(1.0)).run(
            Configuration.of({"sections": {"criteria": "c"}}), self.ITEM, repeat=0
        )

        score = await Agreement().score(output, Item(id="1", data={"label": label}))

        assert score.value == pytest.approx(value)
