"""Every rule of the contract of refinement, each test named after the rule that it shows."""

import pytest
from refine_bench import RefineBench, Told, judge_of, optimizer_of, verdict

from burnish.domain import ErrorKind, RoundEnd, UnavailableError
from burnish.evaluation.scorers.catalog import build_scorers
from burnish.evaluation.scorers.json_scorers import JsonSchema
from burnish.evaluation.scorers.text import ExactMatch

AWAY = UnavailableError(what="the model cannot be reached", why="no network", fix="wait")
CHAIN = {"A": "B", "B": "C", "C": "D", "D": "E"}


def bench_of(verdicts, **options):
    return RefineBench(scorers=[judge_of(verdicts)], **options)


# --- when the rounds end: (verdicts by output, limit, threshold) -> outputs, ending --------------

ENDINGS = {
    "limit 1: one output can be optimized at most once": (
        {"A": 0.1, "B": 0.2},
        {"limit": 1},
        "AB",
        RoundEnd.LIMIT,
    ),
    "limit 2: a single output can be optimized at most twice": (
        {"A": 0.1, "B": 0.2, "C": 0.3},
        {"limit": 2},
        "ABC",
        RoundEnd.LIMIT,
    ),
    "the limit is a hard cap also when scores keep rising": (
        {"A": 0.1, "B": 0.5, "C": 0.7, "D": 0.9},
        {"limit": 3},
        "ABCD",
        RoundEnd.LIMIT,
    ),
    "a score above the threshold stops early": (
        {"A": 0.4, "B": 0.9},
        {"limit": 4, "threshold": 0.8},
        "AB",
        RoundEnd.THRESHOLD,
    ),
    "a score equal to the threshold stops early": (
        {"A": 0.4, "B": 0.8},
        {"limit": 4, "threshold": 0.8},
        "AB",
        RoundEnd.THRESHOLD,
    ),
    "a score below the threshold does not stop": (
        {"A": 0.4, "B": 0.79, "C": 0.81},
        {"limit": 4, "threshold": 0.8},
        "ABC",
        RoundEnd.THRESHOLD,
    ),
    "threshold reached on the initial evaluation: no optimizer iteration runs": (
        {"A": 0.8},
        {"limit": 4, "threshold": 0.8},
        "A",
        RoundEnd.THRESHOLD,
    ),
    "the threshold is evaluated after each evaluation, also after the last": (
        {"A": 0.1, "B": 0.2, "C": 0.9},
        {"limit": 2, "threshold": 0.8},
        "ABC",
        RoundEnd.THRESHOLD,
    ),
    "a threshold of 0 is reached by any score": (
        {"A": 0.0},
        {"limit": 2, "threshold": 0.0},
        "A",
        RoundEnd.THRESHOLD,
    ),
    "perfect score on the initial evaluation": ({"A": 1.0}, {"limit": 4}, "A", RoundEnd.PERFECT),
    "perfect score after a round": (
        {"A": 0.2, "B": 1.0},
        {"limit": 4},
        "AB",
        RoundEnd.PERFECT,
    ),
    "a perfect score satisfies also below a threshold that cannot be reached": (
        {"A": 0.2, "B": 1.0},
        {"limit": 4, "threshold": 1.5},
        "AB",
        RoundEnd.PERFECT,
    ),
    "no guarantee of improvement: a later evaluation may worsen": (
        {"A": 0.5, "B": 0.1},
        {"limit": 1},
        "AB",
        RoundEnd.LIMIT,
    ),
    "no guarantee of improvement: a later evaluation may remain unchanged": (
        {"A": 0.5, "B": 0.5, "C": 0.5},
        {"limit": 2},
        "ABC",
        RoundEnd.LIMIT,
    ),
    "evaluator unavailable on the initial evaluation: optimization does not run": (
        {"A": AWAY},
        {"limit": 2},
        "A",
        RoundEnd.JUDGE_UNAVAILABLE,
    ),
    "evaluator unavailable after a round: it ends, and what there is stays": (
        {"A": 0.3, "B": AWAY},
        {"limit": 2},
        "AB",
        RoundEnd.JUDGE_UNAVAILABLE,
    ),
    "a judge without a usable verdict cannot evaluate: optimization does not go on": (
        {"A": 0.3, "B": "no verdict at all"},
        {"limit": 2},
        "AB",
        RoundEnd.EVALUATION_FAILED,
    ),
}


@pytest.mark.parametrize("rule", ENDINGS)
async def test_rounds_end(rule):
    verdicts, policy, outputs, ending = ENDINGS[rule]
    bench = bench_of(verdicts)
    optimizer = optimizer_of(CHAIN)

    result = await bench.run(model=optimizer, **policy)
    rounds = await bench.rounds()

    assert "".join(one.output.text for one in rounds) == outputs
    assert [one.number for one in rounds] == list(range(len(outputs)))
    assert len(optimizer.requests) == len(outputs) - 1
    assert [one.ended for one in rounds] == [None] * (len(outputs) - 1) + [ending]
    assert rounds[-1].ended_why
    assert result.refinement.ended is ending
    assert result.refinement.rounds == len(outputs) - 1


# --- when nothing is refined ---------------------------------------------------------------------

SCHEMA = {"type": "object"}
OPTIMIZER = optimizer_of(CHAIN)
INACTIVE = {
    "optimizer disabled: limit 0": ({}, {"model": OPTIMIZER, "limit": 0}, "limit is 0"),
    "optimizer model not configured": ({}, {"limit": 2}, "no optimizer model"),
    "disabled when evaluation mode is schema": (
        {"mode": "schema"},
        {"model": OPTIMIZER, "limit": 2},
        "mode is schema",
    ),
    "schema scorers give no qualitative feedback": (
        {"scorers": [JsonSchema(SCHEMA)]},
        {"model": OPTIMIZER, "limit": 2},
        "no LLM judge",
    ),
    "code scorers give no qualitative feedback": (
        {"scorers": [ExactMatch("answer")]},
        {"model": OPTIMIZER, "limit": 2},
        "no LLM judge",
    ),
    "a judge of weight 0 decides nothing": (
        {"scorers": [judge_of({"A": 0.4}), ExactMatch("answer")], "weights": [0, 1]},
        {"model": OPTIMIZER, "limit": 2},
        "no LLM judge",
    ),
}


@pytest.mark.parametrize("rule", INACTIVE)
async def test_a_single_evaluation_pass_as_without_refinement(rule):
    options, policy, why = INACTIVE[rule]
    given = {"scorers": [judge_of({"A": 0.4})], **options}
    bench, plain = RefineBench(**given), RefineBench(**given)
    asked = len(OPTIMIZER.requests)

    result = await bench.run(**policy)
    usual = await plain.run()

    assert bench.plan(**policy).active is False
    assert why in bench.plan(**policy).why_inactive
    assert (result.output, result.score, result.scores) == (
        usual.output,
        usual.score,
        usual.scores,
    )
    assert result.spending == usual.spending
    assert result.refinement is None
    assert not await bench.rounds()
    assert not bench.opened
    assert len(OPTIMIZER.requests) == asked
    assert not (await bench.statistics()).active


@pytest.mark.parametrize("criteria", ["", "  \n", None, [], ["", " "]])
async def test_evaluation_criteria_missing_or_empty_skip_evaluation_and_optimization(
    criteria, tmp_path
):
    judge, optimizer = Told("judge", lambda _: verdict(1.0)), optimizer_of(CHAIN)
    spec = {"kind": "judge", "model": "judge", "criteria": criteria}
    spec = {key: value for key, value in spec.items() if value is not None}
    scorers = build_scorers([spec], open_model=lambda _: judge, folder=tmp_path)
    bench = RefineBench(scorers=scorers)

    result = await bench.run(model=optimizer, limit=2)

    assert result.output.text == "A"
    assert result.error.kind is ErrorKind.SKIPPED
    assert "criteria are missing or empty" in result.error.message
    assert not judge.requests
    assert not optimizer.requests
    assert "criteria" in bench.plan(model=optimizer, limit=2).why_inactive


async def test_other_scorers_still_count_where_a_judge_has_no_criteria(tmp_path):
    specs = [{"kind": "judge", "model": "judge", "criteria": ""}, ExactMatch("answer")]
    scorers = build_scorers(specs, open_model=lambda _: None, folder=tmp_path)

    result = await RefineBench(scorers=scorers, drafts=["secret"]).run()

    assert scorers.skipped == ("judge",)
    assert (result.score, result.error) == (1.0, None)


async def test_an_item_without_an_output_is_not_refined():
    bench = bench_of({}, drafts=[None])
    optimizer = optimizer_of(CHAIN)

    result = await bench.run(model=optimizer, limit=2)

    assert result.error.kind is ErrorKind.AGENT
    assert result.refinement is None
    assert not await bench.rounds()
    assert not optimizer.requests


@pytest.mark.parametrize(
    ("drafted", "told", "kept"),
    [
        ("A", "Sure! Here it is:\n\n```\nbetter\n```", "better"),
        ("A", "```text\nbetter\n\nlines\n```\n", "better\n\nlines"),
        ("A", "Run this:\n```\nls\n```\nand then that.", None),
        ("```\nA\n```", "```\nbetter\n```", None),
    ],
)
async def test_fences_and_a_greeting_around_a_whole_output_are_taken_off(
    drafted, told, kept, tmp_path
):
    spec = {"kind": "judge", "model": "judge", "criteria": "Good."}
    judge = Told("judge", lambda _: verdict(0.5))
    scorers = build_scorers([spec], open_model=lambda _: judge, folder=tmp_path)
    bench = RefineBench(scorers=scorers, drafts=[drafted])

    result = await bench.run(model=Told("optimizer", lambda _: told), limit=1)

    assert result.output.text == (kept or told)
