"""Pairwise judging: both orders, ties, baselines, win rates and strengths of many."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from burnish.domain import (
    AgentOutput,
    Configuration,
    Item,
    ModelResponse,
    UnavailableError,
    Usage,
    UsageError,
)
from burnish.evaluation.pairwise import WinRate, bradley_terry
from burnish.evaluation.scorers.catalog import build_scorer, build_scorers, needs_baseline
from burnish.evaluation.scorers.judges import pairwise_metadata
from burnish.evaluation.scorers.pairwise import BaselineOutputs, PairwiseJudge, StoredOutputs

ITEM = Item(id="1", data={"question": "2+2?", "gold": "four"})


def shown(request, title):
    """What stands in a part of the material."""
    text = request.messages[-1].content
    return text.split(f"<<<{title} ", 1)[1].split("\n", 1)[1].split(f"\n{title} ", 1)[0]


class Comparer:
    """A judge of two by a function of both texts."""

    name = "comparer"
    fingerprint = "comparer-1"

    def __init__(self, choose):
        self.choose = choose
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        winner = self.choose(shown(request, "OUTPUT A"), shown(request, "OUTPUT B"))
        if isinstance(winner, Exception):
            raise winner
        text = json.dumps({"winner": winner, "reason": "so"})
        return ModelResponse(text=text, usage=Usage(calls=1, input_tokens=5, output_tokens=2))

    async def close(self):
        pass


def longer(a, b):
    return "tie" if len(a) == len(b) else "A" if len(a) > len(b) else "B"


async def judged(text, choose, **settings):
    model = Comparer(choose)
    judge = PairwiseJudge(model, "Which is right?", reference="gold", **settings)
    return await judge.score(AgentOutput(text=text), ITEM), model


@pytest.mark.parametrize(("text", "value"), [("longer than four", 1.0), ("4", 0.0), ("five", 0.5)])
async def test_both_orders_agree_on_who_is_better(text, value):
    score, model = await judged(text, longer)

    assert (score.value, score.passed) == (value, value >= 0.5)
    assert len(model.requests) == 2
    assert {shown(one, "OUTPUT A") for one in model.requests} == {text, "four"}
    assert score.spending.total.calls == 2
    assert "gold" not in model.requests[0].messages[-1].content


async def test_a_judge_that_prefers_a_place_makes_a_tie():
    score, _ = await judged("anything", lambda a, b: "A")

    assert score.value == 0.5
    assert "undecided" in score.reason


async def test_equal_outputs_are_a_tie_that_nobody_is_asked_about():
    score, model = await judged("four", longer)

    assert (score.value, score.error, model.requests) == (0.5, None, [])


async def test_an_outage_and_a_missing_baseline_are_errors():
    failed, _ = await judged("4", lambda a, b: UnavailableError(what="w", why="y", fix="f"))
    lost = await PairwiseJudge(Comparer(longer), "c").score(AgentOutput(text="4"), ITEM)

    assert failed.error.startswith("judge unavailable")
    assert "no baseline" in lost.error


class Counting:
    name = "agent"
    fingerprint = "a"

    def __init__(self):
        self.configuration = Configuration.of({"sections": {"user": "{{question}}"}})
        self.runs = 0

    async def run(self, configuration, item, *, repeat):
        self.runs += 1
        return AgentOutput(text="baseline's")

    async def close(self):
        pass


async def test_the_baseline_is_asked_once_an_item_and_scores_half_itself():
    agent, model = Counting(), Comparer(longer)
    judge = PairwiseJudge(model, "c", baseline=BaselineOutputs(agent))

    own = await judge.score(AgentOutput(text="baseline's"), ITEM)
    better = await judge.score(AgentOutput(text="longer than the baseline's"), ITEM)

    assert (own.value, better.value, agent.runs) == (0.5, 1.0, 1)


async def test_outputs_of_an_experiment_stand_for_the_baseline():
    stored = StoredOutputs("before", {"1": AgentOutput(text="was")})
    judge = PairwiseJudge(Comparer(longer), "c", baseline=stored)

    score = await judge.score(AgentOutput(text="is longer"), ITEM)
    unknown = await judge.score(AgentOutput(text="x"), Item(id="2", data={}))

    assert score.value == 1.0
    assert unknown.error == "before has no output for this item"


def test_the_catalog_makes_it_and_knows_who_needs_a_baseline():
    table = {"kind": "pairwise", "model": "m", "criteria": "c"}
    options = {"open_model": lambda _: Comparer(longer), "folder": Path()}

    made = build_scorer({**table, "reference": "gold"}, **options)
    parts = build_scorers([{"kind": "weighted", "scorers": [table]}], **options)

    assert made.fields_needed == ("gold",)
    assert not needs_baseline([{**table, "reference": "gold"}, "exact_match"])
    assert needs_baseline([{"kind": "weighted", "scorers": [table]}])
    assert parts.fingerprint is None
    with pytest.raises(UsageError, match="no setting 'baseline'"):
        build_scorer({**table, "baseline": "x"}, **options)


def test_an_experiment_keeps_which_judges_compare():
    options = {"open_model": lambda _: Comparer(longer), "folder": Path()}
    table = {"kind": "pairwise", "model": "m", "criteria": "c"}

    alone = build_scorers([table, {"kind": "exact_match", "weight": 0}], **options)
    mixed = build_scorers([table, {"kind": "exact_match"}], **options)

    assert pairwise_metadata(alone)["against_baseline"] == ["pairwise"]
    assert pairwise_metadata(mixed) == {"pairwise": ["pairwise"], "against_baseline": []}


def test_a_win_rate_has_an_interval_over_items():
    found = WinRate.of("judge", {"a": [1.0, 1.0], "b": [0.0, 1.0], "c": [0.0], "d": []})

    assert (found.items, found.wins, found.losses, found.ties) == (3, 1, 1, 1)
    assert found.win_rate == 0.5
    assert found.interval.low < 0.5 < found.interval.high
    assert WinRate.of("judge", {}) is None


class TestBradleyTerry:
    def test_orders_by_strength_and_covers_it(self):
        rng = random.Random(6)
        true = {"a": 0.8, "b": 0.0, "c": -0.8}
        held, runs = 0, 60

        for _ in range(runs):
            results = {
                (one, other): [
                    float(rng.random() < 1 / (1 + math.exp(true[other] - true[one])))
                    for _ in range(40)
                ]
                for one, other in (("a", "b"), ("b", "c"), ("a", "c"))
            }
            found = bradley_terry(results)
            for one in found:
                chance = 1 / (1 + math.exp(-true[one.name]))
                held += one.interval.low <= chance <= one.interval.high

        assert held / (3 * runs) >= 0.9
        assert [one.name for one in found] == ["a", "b", "c"]

    def test_who_won_all_is_not_infinitely_strong(self):
        first, last = bradley_terry({("a", "b"): [1.0] * 20})

        assert first.name == "a"
        assert 0.5 < first.interval.low < first.win_rate < 1
        assert first.log_strength == pytest.approx(-last.log_strength)

    @pytest.mark.parametrize("results", [{}, {("a", "b"): [1.0], ("c", "d"): [0.0]}])
    def test_refuses_what_was_never_compared(self, results):
        with pytest.raises(UsageError, match="no strengths"):
            bradley_terry(results)
