"""Samples of experiments, results and rounds of refined outputs, awkward ones included."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from burnish.domain import (
    AgentOutput,
    AnswerChoice,
    CacheScope,
    Configuration,
    ErrorKind,
    Experiment,
    ExperimentStatus,
    ExperimentSummary,
    ExperimentType,
    ItemError,
    ItemResult,
    Purpose,
    Refinement,
    Round,
    RoundEnd,
    Score,
    Spending,
    Usage,
)

# Everything that some database or some encoder has been known to lose.
AWKWARD_TEXTS = (
    "",
    " \t\n",
    "NUL \x00 within",
    "\x00",
    "\x02 starts with the mark",
    "\x1b[31m \x7f \u2028",
    "naïve Ünïcödé 漢字 🙂 e\u0301",
    "half a pair \ud800",
    "'; DROP TABLE experiments; -- %s ? :name \\u0000 \\",
    "x" * 20_000,
)
AWKWARD_JSON: dict[str, Any] = {
    "texts": list(AWKWARD_TEXTS),
    "big": [2**53 + 1, -(2**63), 2**200],
    "floats": [0.1, -0.0, 1e-308, 1.7976931348623157e308, 5e-324, 1.0],
    "nested": {"": [[], {}, None, True, False], "NUL \x00": {"漢字": [1]}},
}

SCOPE = CacheScope(agent_fingerprint="agent", configuration_hash="configuration")


def make_experiment(identity: str = "e1", **changes: Any) -> Experiment:
    """A plain experiment."""
    plain = Experiment(
        id=identity,
        name="an experiment",
        type=ExperimentType.REGULAR,
        status=ExperimentStatus.RUNNING,
        agent_name="router",
        configuration=Configuration.of({"sections": {"system": "Route {{ticket}}."}}),
        suite_name="suite",
        dataset_id=None,
        planned_items=None,
    )
    return replace(plain, **changes)


def make_result(item_id: str = "i1", repeat: int = 0, **changes: Any) -> ItemResult:
    """A plain result with one score."""
    plain = ItemResult(
        item_id=item_id,
        item_hash=f"hash of {item_id}",
        repeat=repeat,
        score=1.0,
        passed=True,
        output=AgentOutput(text="billing"),
        scores=(Score(1.0, name="exact_match"),),
    )
    return replace(plain, **changes)


def failed_result(item_id: str = "i1", repeat: int = 0, **changes: Any) -> ItemResult:
    """A result of an item that could not be run."""
    error = ItemError(kind=ErrorKind.INFRASTRUCTURE, message="no answer")
    made = make_result(item_id, repeat, score=0.0, passed=False, output=None, scores=())
    return replace(made, error=error, **changes)


def random_results(seed: int, count: int) -> list[ItemResult]:
    """Results of every sort: passed, failed, errors, cached, priced or not."""
    draw = random.Random(seed)  # noqa: S311 - reproducible on purpose
    return [_random_result(draw, number) for number in range(count)]


def _random_result(draw: random.Random, number: int) -> ItemResult:
    error = None
    if draw.random() < 0.2:
        error = ItemError(kind=draw.choice(list(ErrorKind)), message=f"error {number}")
    score = 0.0 if error else draw.random()
    spending = {
        purpose.value: Usage(
            calls=draw.randrange(3),
            input_tokens=draw.randrange(2000),
            output_tokens=draw.randrange(200),
            cached_tokens=draw.randrange(100),
            cost_usd=None if draw.random() < 0.01 else draw.random() / 100,
        )
        for purpose in draw.sample(list(Purpose), draw.randrange(3))
    }
    before = Usage(calls=1, input_tokens=draw.randrange(2000), cost_usd=draw.random() / 100)
    reused = Spending.on(Purpose.AGENT, before) if draw.random() < 0.5 else Spending()
    return make_result(
        f"item {number // 3}",
        number % 3,
        score=score,
        passed=error is None and score >= 0.5,
        output=AgentOutput(text="x", ttft_ms=draw.choice([None, draw.random() * 100])),
        scores=tuple(Score(score, name=f"scorer {n}") for n in range(draw.randrange(4))),
        error=error,
        spending=Spending(spending),
        latency_ms=draw.random() * 1000,
        cached=draw.random() < 0.3,
        reused=reused,
    )


def summary_of(results: Sequence[ItemResult]) -> ExperimentSummary:
    """What a summary says, computed the plain way."""
    runs = len(results)
    first_tokens = [r.output.ttft_ms for r in results if r.output and r.output.ttft_ms is not None]
    kinds = [result.error.kind for result in results if result.error]
    answered = [one for one in results if one.error is None or one.error.kind.scored]
    passed = sum(result.passed for result in results)
    skipped = kinds.count(ErrorKind.SKIPPED)
    avg_tokens, avg_cost_usd = mean_footprint(results)
    return ExperimentSummary(
        runs=runs,
        passed=passed,
        failed=runs - skipped - passed,
        errors=len(kinds) - skipped,
        infrastructure_errors=sum(
            kind in (ErrorKind.INFRASTRUCTURE, ErrorKind.TIMEOUT) for kind in kinds
        ),
        score=math.fsum(result.score for result in answered) / len(answered),
        pass_rate=passed / (runs - skipped),
        spending=Spending.sum(result.spending for result in results),
        avg_latency_ms=math.fsum(result.latency_ms for result in results) / runs,
        avg_ttft_ms=math.fsum(first_tokens) / len(first_tokens),
        cached=sum(result.cached for result in results),
        avg_tokens=avg_tokens,
        avg_cost_usd=avg_cost_usd,
        skipped=skipped,
    )


def mean_footprint(results: Sequence[ItemResult]) -> tuple[float | None, float | None]:
    """Tokens and dollars of an answer, over the results without an error."""
    answered = [result for result in results if result.error is None]
    usages = [usage for result in answered for usage in result.footprint.by_purpose.values()]
    if not usages:
        return None, None
    tokens = sum(usage.input_tokens + usage.output_tokens for usage in usages)
    costs = [usage.cost_usd for usage in usages]
    known = [cost for cost in costs if cost is not None]
    cost = None if len(known) < len(costs) else math.fsum(known) / len(answered)
    return tokens / len(answered), cost


FIRST = Spending.on(Purpose.AGENT, Usage(calls=1, input_tokens=9, output_tokens=2, cost_usd=0.5))
REFINED = Spending(
    {
        Purpose.REFINE.value: Usage(calls=1, input_tokens=20, output_tokens=4, cost_usd=0.25),
        Purpose.JUDGE.value: Usage(calls=1, input_tokens=30, output_tokens=5, cost_usd=0.125),
    }
)


def make_round(
    item_id: str = "i1", number: int = 0, score: float = 0.4, repeat: int = 0, **changes: Any
) -> Round:
    """A round that a judge found something to say about."""
    plain = Round(
        item_id=item_id,
        item_hash=f"hash of {item_id}",
        repeat=repeat,
        number=number,
        output=AgentOutput(text=f"output {number}"),
        score=score,
        passed=score >= 1.0,
        scores=(Score(score, f"reason {number}", name="judge"),),
        model="under test" if number == 0 else "optimizer",
        spending=FIRST if number == 0 else REFINED,
        latency_ms=10.0 + number,
    )
    return replace(plain, **changes)


def make_rounds(item_id: str, *scores: float, ended: RoundEnd, repeat: int = 0) -> list[Round]:
    """The rounds of one output; the last one says why it ended."""
    made = [make_round(item_id, number, score, repeat) for number, score in enumerate(scores)]
    return [*made[:-1], replace(made[-1], ended=ended, ended_why="so it is")]


def make_refinement(**changes: Any) -> Refinement:
    """What came of an output that was fixed in one round."""
    plain = Refinement(
        rounds=1,
        first_score=0.4,
        first_reason="reason 0",
        latest_score=1.0,
        best_score=1.0,
        best_round=1,
        answer=AnswerChoice.LATEST,
        answer_round=1,
        target=1.0,
        ended=RoundEnd.PERFECT,
        ended_why="1 is a perfect score",
    )
    return replace(plain, **changes)
