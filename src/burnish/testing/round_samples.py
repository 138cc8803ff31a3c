"""Rounds of refined outputs for tests."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from burnish.domain import (
    AgentOutput,
    AnswerChoice,
    Purpose,
    Refinement,
    Round,
    RoundEnd,
    Score,
    Spending,
    Usage,
)

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
