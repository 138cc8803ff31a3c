"""What an experiment tells about its refinement."""

from dataclasses import replace

import pytest
from refine_bench import RefineBench, judge_of, optimizer_of

from burnish.domain import Outcome, Purpose, RoundEnd, Spending, UnavailableError, Usage
from burnish.domain.experiments.refinement import outcome_of
from burnish.evaluation.refine.statistics import refinement_statistics
from burnish.evaluation.runner import RunOptions
from burnish.evaluation.statistics import score_interval
from burnish.testing.samples.experiments import make_round, make_rounds

AWAY = UnavailableError(what="w", why="y", fix="f")
SETTINGS = {
    "active": True,
    "why_inactive": None,
    "model": "optimizer",
    "limit": 2,
    "threshold": 0.8,
    "answer": "latest",
    "judges": ["judge"],
}


@pytest.mark.parametrize(
    ("before", "after", "target", "rounds", "outcome"),
    [
        (0.4, 0.8, 0.8, 1, Outcome.FIXED),
        (0.4, 1.0, 1.0, 2, Outcome.FIXED),
        (0.4, 0.79, 0.8, 1, Outcome.IMPROVED),
        (0.4, 0.4, 0.8, 1, Outcome.UNCHANGED),
        (0.4, 0.4 + 1e-12, 0.8, 1, Outcome.UNCHANGED),
        (0.4, 0.3, 0.8, 1, Outcome.WORSENED),
        (0.9, 0.9, 0.8, 0, Outcome.NOT_REFINED),
        (0.1, 0.1, 0.8, 0, Outcome.NOT_REFINED),
    ],
)
def test_an_outcome_is_the_answer_against_the_first_output(before, after, target, rounds, outcome):
    assert outcome_of(before, after, target=target, rounds=rounds) is outcome


async def statistics_of(*runs, **settings):
    async def stream():
        for one in (one for run in runs for one in run):
            yield one

    return await refinement_statistics({**SETTINGS, **settings}, stream())


async def test_counts_scores_by_round_and_cost():
    runs = [
        *(make_rounds(f"f{n}", 0.4, 0.9, ended=RoundEnd.THRESHOLD) for n in range(6)),
        make_rounds("g", 0.5, 0.3, 0.2, ended=RoundEnd.LIMIT),
        *(make_rounds(f"u{n}", 0.4, 0.4, 0.4, ended=RoundEnd.LIMIT) for n in range(2)),
        make_rounds("z", 0.95, ended=RoundEnd.THRESHOLD),
    ]

    found = await statistics_of(*runs)
    document = found.to_json()

    counts = {name: document[name] for name in ("outputs", "refined", "rounds")}
    assert counts == {"outputs": 10, "refined": 9, "rounds": 12}
    outcomes = {name: document[name] for name in ("fixed", "improved", "unchanged", "worsened")}
    assert outcomes == {"fixed": 6, "improved": 0, "unchanged": 2, "worsened": 1}
    assert document["ended"] == {"limit": 3, "threshold": 7}
    assert [one["outputs"] for one in document["by_round"]] == [10, 9, 3]
    scores = [one["score"] for one in document["by_round"]]
    assert scores == pytest.approx([0.465, 0.745, 0.735])
    assert all(low <= score <= high for score, (low, high) in _intervals(document))
    assert document["usage"]["calls"] == 24
    assert document["usage"]["cost_usd"] == pytest.approx(12 * 0.375)
    assert document["cost_per_fixed_usd"] == pytest.approx(12 * 0.375 / 6)
    assert document["latest_score"] == pytest.approx(0.735)
    assert document["best_score"] == pytest.approx(0.765)


def _intervals(document):
    return [(one["score"], one["interval"]) for one in document["by_round"]]


async def test_with_the_best_round_as_answer_nothing_is_worsened():
    found = await statistics_of(
        make_rounds("i1", 0.5, 0.2, ended=RoundEnd.LIMIT),
        make_rounds("i2", 0.5, 0.7, 0.1, ended=RoundEnd.LIMIT),
        answer="best",
    )

    assert found.outcomes == {Outcome.UNCHANGED: 1, Outcome.IMPROVED: 1}


async def test_outputs_that_are_still_being_refined_do_not_count_yet():
    found = await statistics_of([make_round("i1", 0), make_round("i1", 1)])

    assert (found.outputs, found.rounds, found.by_round) == (0, 0, ())
    assert found.first_score is None
    assert found.cost_per_fixed is None


async def test_rounds_without_a_verdict_count_for_nothing_but_their_cost():
    bench = RefineBench(
        drafts=["A", "X", "Y"],
        scorers=[judge_of({"A": 0.4, "B": AWAY, "X": AWAY, "Y": 1.0})],
    )
    options = RunOptions(outage_seconds=0.01)
    await bench.run(model=optimizer_of({"A": "B"}), limit=2, options=options)

    found = await bench.statistics()

    assert (found.outputs, found.refined) == (2, 1)
    assert found.ended == {RoundEnd.JUDGE_UNAVAILABLE: 2, RoundEnd.PERFECT: 1}
    assert [one.score for one in found.by_round] == [0.7]
    assert found.outcomes == {Outcome.UNCHANGED: 1, Outcome.NOT_REFINED: 1}
    assert found.usage.calls == 1


async def test_repeats_of_an_item_are_one_value_of_the_interval():
    runs = [
        make_rounds(f"i{n}", score, ended=RoundEnd.LIMIT, repeat=repeat)
        for n in range(4)
        for repeat, score in enumerate((0.2, 0.4))
    ]

    found = await statistics_of(*runs)

    assert found.by_round[0].interval == score_interval([0.3] * 4)


async def test_an_unknown_price_leaves_the_cost_of_a_fixed_output_unknown():
    first, second = make_rounds("i1", 0.4, 0.9, ended=RoundEnd.THRESHOLD)
    unpriced = Spending.on(Purpose.REFINE, Usage(calls=1, cost_usd=None))

    found = await statistics_of([first, replace(second, spending=unpriced)])

    assert found.outcomes == {Outcome.FIXED: 1}
    assert found.cost_per_fixed is None
