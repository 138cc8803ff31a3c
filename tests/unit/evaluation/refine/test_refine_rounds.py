"""What the optimizer gets and gives, what is kept of each round, and which round is the answer."""

import asyncio

import pytest
from refine_bench import CALL, JumpingLoop, RefineBench, Told, judge_of, optimizer_of, output_in

from burnish.domain import (
    ErrorKind,
    Item,
    ModelResponse,
    Outcome,
    Purpose,
    RoundEnd,
    UnavailableError,
    UsageError,
)
from burnish.evaluation.refine.policy import RefinePolicy
from burnish.evaluation.refine.refiner import Refiner, RefinerFailedError
from burnish.evaluation.runner import RunOptions
from burnish.evaluation.scorers.scorer_set import Weighted
from burnish.evaluation.scorers.text import ExactMatch
from burnish.models.scripted import ScriptedModel

AWAY = UnavailableError(what="the model cannot be reached", why="no network", fix="wait")
CHAIN = {"A": "B", "B": "C", "C": "D", "D": "E"}


def bench_of(verdicts, **options):
    return RefineBench(scorers=[judge_of(verdicts)], **options)


# --- what the optimizer gets and gives -----------------------------------------------------------


async def test_each_optimizer_invocation_receives_the_latest_output_and_the_latest_evaluation():
    bench = bench_of({"A": (0.1, "A lacks a date"), "B": (0.2, "B lacks a name"), "C": 0.3})
    optimizer = optimizer_of(CHAIN)

    await bench.run(model=optimizer, limit=2)
    first, second = (one.messages[-1].content for one in optimizer.requests)

    assert [output_in(one) for one in optimizer.requests] == ["A", "B"]
    assert "score: 0.1" in first
    assert "A lacks a date" in first
    assert "score: 0.2" in second
    assert "B lacks a name" in second
    assert "A lacks a date" not in second


async def test_the_latest_output_is_refined_also_when_it_is_worse_than_an_earlier_one():
    bench = bench_of({"A": 0.5, "B": 0.1, "C": 0.2})
    optimizer = optimizer_of(CHAIN)

    await bench.run(model=optimizer, limit=2, answer="best")

    assert [output_in(one) for one in optimizer.requests] == ["A", "B"]


@pytest.mark.parametrize(
    ("fields", "shown"),
    [(None, ["task 0"]), ([], []), (["task", "draft"], ["task 0", "FIELD draft"])],
)
async def test_the_optimizer_sees_what_the_agents_prompt_shows_and_never_the_answer(fields, shown):
    bench = bench_of({"A": 0.1, "B": 0.2})
    optimizer = optimizer_of(CHAIN)

    await bench.run(model=optimizer, limit=1, fields=fields)
    said = optimizer.requests[0].messages[-1].content

    assert all(one in said for one in shown)
    assert ("FIELD" in said) is bool(shown)
    assert "secret" not in said


@pytest.mark.parametrize("written", ["", " ", "{broken", "\x00\ud800"])
async def test_invalid_or_empty_refined_output_is_simply_judged(written):
    bench = bench_of({"A": 0.4, written: 0.0})

    result = await bench.run(model=optimizer_of({"A": written}), limit=1)

    assert [one.output.text for one in await bench.rounds()] == ["A", written]
    assert (result.output.text, result.score, result.error) == (written, 0.0, None)
    assert result.refinement.outcome is Outcome.WORSENED


@pytest.mark.parametrize("failure", [AWAY, RuntimeError("boom")])
async def test_an_optimizer_that_cannot_be_reached_leaves_the_evaluation_that_there_is(failure):
    bench = bench_of({"A": 0.4, "B": 0.5})

    result = await bench.run(model=optimizer_of({"A": "B", "B": failure}), limit=3)
    rounds = await bench.rounds()

    assert [one.ended for one in rounds] == [None, RoundEnd.OPTIMIZER_UNAVAILABLE]
    assert "optimizer" in rounds[-1].ended_why
    assert (result.output.text, result.score, result.error) == ("B", 0.5, None)


async def test_an_optimizer_with_a_wrong_key_is_asked_once_and_what_was_paid_for_stands():
    wrong = UsageError(what="w", why="the key is refused", fix="f", code="bad_key")
    model = Told("optimizer", lambda _: wrong)
    refiner = Refiner(model)
    bench = bench_of({"A": 0.4})
    result = await bench.run(model=optimizer_of({"A": wrong}), limit=3)
    (first,) = await bench.rounds()

    for _ in range(2):
        with pytest.raises(RefinerFailedError, match="the key is refused"):
            await refiner.revise(first, Item(id="1", data={}))

    assert (result.score, result.error) == (0.4, None)
    assert first.ended is RoundEnd.OPTIMIZER_UNAVAILABLE
    assert len(model.requests) == 1


async def test_an_optimizer_that_refuses_leaves_the_output_that_there_is():
    bench = bench_of({"A": 0.4})
    await bench.run(model=optimizer_of({"A": "A"}), limit=1)
    first, *_ = await bench.rounds()
    refused = ModelResponse(text="I will not", finish_reason="content_filter")

    with pytest.raises(RefinerFailedError, match="content_filter") as caught:
        await Refiner(ScriptedModel([refused])).revise(first, Item(id="1", data={}))

    assert caught.value.usage.calls == 1


def test_an_optimizer_that_hangs_is_waited_for_no_longer_than_an_item():
    async def hang():
        await asyncio.Event().wait()

    bench = bench_of({"A": 0.4})
    model = Told("optimizer", lambda _: hang())

    options = RunOptions(concurrency=1, item_timeout_seconds=3600)
    with asyncio.Runner(loop_factory=JumpingLoop) as runner:
        result = runner.run(bench.run(model=model, limit=3, options=options))

    assert result.refinement.ended is RoundEnd.OPTIMIZER_UNAVAILABLE
    assert "no answer within" in result.refinement.ended_why
    assert result.score == 0.4


# --- three models, each chosen freely ------------------------------------------------------------


async def test_the_optimizer_model_is_distinct_from_the_model_under_test_and_the_evaluation_model():
    judge, optimizer = judge_of({"A": 0.4, "B": 1.0}), optimizer_of(CHAIN)
    bench = RefineBench(scorers=[judge])

    await bench.run(model=optimizer, limit=1)
    first, second = await bench.rounds()

    assert (first.model, second.model) == ("writer", "optimizer")
    assert (bench.agent.calls, len(optimizer.requests)) == (1, 1)
    assert len(judge.model.requests) == 2
    assert bench.plan(model=optimizer, limit=1).judges == ("judge",)


# --- per output, kept in order -------------------------------------------------------------------


async def test_the_limit_applies_per_output_instance():
    verdicts = {"A": 0.1, "B": 0.1, "C": 0.1, "X": 0.1, "Y": 1.0}
    bench = RefineBench(drafts=["A", "X", "A"], scorers=[judge_of(verdicts)], repeats=2)

    await bench.run(model=optimizer_of({**CHAIN, "X": "Y"}), limit=2)
    found = await bench.repository.get_rounds("e1", item_ids=["i0", "i1", "i2"])

    texts = {key: "".join(one.output.text for one in rounds) for key, rounds in found.items()}
    assert texts == {
        (item, repeat): "XY" if item == "i1" else "ABC"
        for item in ("i0", "i1", "i2")
        for repeat in (0, 1)
    }


async def test_each_round_is_saved_with_output_score_reason_model_usage_and_latency():
    bench = bench_of({"A": (0.4, "too short"), "B": (0.9, "fine")})

    await bench.run(model=optimizer_of(CHAIN), limit=1)
    first, second = await bench.rounds()

    assert (first.output.text, first.score, first.reason, first.passed) == (
        "A",
        0.4,
        "too short",
        False,
    )
    assert (second.output.text, second.score, second.reason, second.passed) == (
        "B",
        0.9,
        "fine",
        True,
    )
    assert first.spending.by_purpose == {"agent": CALL, "judge": CALL}
    assert second.spending.by_purpose == {"refine": CALL, "judge": CALL}
    assert second.latency_ms >= 0
    assert second.created_at


async def test_what_refining_and_judging_cost_is_the_items_spending():
    bench = bench_of({"A": 0.1, "B": 0.2, "C": 0.3})

    result = await bench.run(model=optimizer_of(CHAIN), limit=2)

    calls = {purpose: usage.calls for purpose, usage in result.spending.by_purpose.items()}
    assert calls == {"agent": 1, "judge": 3, "refine": 2}
    assert result.footprint.by_purpose == {Purpose.AGENT.value: CALL}


# --- the answer ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choice", "answer", "score", "outcome"),
    [
        (None, "C", 0.2, Outcome.WORSENED),
        ("latest", "C", 0.2, Outcome.WORSENED),
        ("best", "B", 0.7, Outcome.IMPROVED),
    ],
)
async def test_the_final_evaluation_counts_or_the_best_by_option_and_both_are_reported(
    choice, answer, score, outcome
):
    bench = bench_of({"A": 0.5, "B": 0.7, "C": 0.2})
    policy = {"model": optimizer_of(CHAIN), "limit": 2}

    result = await bench.run(**policy, **({} if choice is None else {"answer": choice}))
    refined = result.refinement

    assert (result.output.text, result.score) == (answer, score)
    assert (refined.latest_score, refined.best_score, refined.best_round) == (0.2, 0.7, 1)
    assert refined.answer_round == "ABC".index(answer)
    assert refined.outcome is outcome


async def test_of_equally_good_rounds_the_earlier_is_best():
    bench = bench_of({"A": 0.5, "B": 0.5})

    result = await bench.run(model=optimizer_of(CHAIN), limit=1, answer="best")

    assert result.output.text == "A"


async def test_a_judge_that_goes_away_leaves_the_latest_output_that_was_judged():
    bench = bench_of({"A": 0.3, "B": 0.6, "C": AWAY})

    result = await bench.run(model=optimizer_of(CHAIN), limit=3)

    assert (result.output.text, result.score, result.error) == ("B", 0.6, None)
    assert [one.judged for one in await bench.rounds()] == [True, True, False]


async def test_a_judge_that_never_came_fails_the_item_as_without_refinement():
    refined = await bench_of({"A": AWAY}).run(model=optimizer_of(CHAIN), limit=3)
    plain = await bench_of({"A": AWAY}).run()

    assert refined.error == plain.error
    assert refined.error.kind is ErrorKind.INFRASTRUCTURE
    assert refined.score == 0.0


async def test_the_judge_may_stand_within_a_weighted_scorer_and_all_reasons_are_shown():
    judge = judge_of({"A": (0.2, "no date"), "B": (1.0, "fine")})
    both = Weighted([(judge, 1.0), (ExactMatch("answer"), 1.0)])
    bench = RefineBench(scorers=[both])
    optimizer = optimizer_of(CHAIN)

    await bench.run(model=optimizer, limit=1)

    assert "no date" in optimizer.requests[0].messages[-1].content
    assert len(await bench.rounds()) == 2


# --- settings ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "name"),
    [
        ({"limit": -1}, "limit"),
        ({"limit": True}, "limit"),
        ({"limit": 1.5}, "limit"),
        ({"threshold": "high"}, "threshold"),
        ({"threshold": float("nan")}, "threshold"),
        ({"answer": "first"}, "answer"),
        ({"trials": "yes"}, "trials"),
        ({"fields": "task"}, "fields"),
    ],
)
def test_settings_that_make_no_sense_are_refused_with_what_to_correct(policy, name):
    with pytest.raises(UsageError, match=name) as error:
        RefinePolicy.of(policy)

    assert error.value.code == "invalid_refine"
    assert "[suite.refine]" in error.value.fix


def test_unknown_settings_are_refused_with_those_that_there_are():
    with pytest.raises(UsageError, match="threshold"):
        RefinePolicy.of({"treshold": 0.5})
