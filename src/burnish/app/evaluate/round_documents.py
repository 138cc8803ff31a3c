"""Rounds and what came of them as JSON, the same in exports and in the API."""

from __future__ import annotations

from typing import Any

from burnish.domain import Refinement, Round


def refinement_json(refinement: Refinement) -> dict[str, Any]:
    """What refinement made of one output."""
    return {
        "rounds": refinement.rounds,
        "first_score": refinement.first_score,
        "latest_score": refinement.latest_score,
        "best_score": refinement.best_score,
        "best_round": refinement.best_round,
        "answer": refinement.answer.value,
        "answer_round": refinement.answer_round,
        "ended": refinement.ended.value,
        "ended_why": refinement.ended_why,
        "outcome": refinement.outcome.value,
    }


def round_json(one: Round) -> dict[str, Any]:
    """One round; `round` is its number."""
    return {
        "round": one.number,
        "output": {"text": one.output.text, "data": one.output.data},
        "score": one.score,
        "passed": one.passed,
        "reason": one.reason,
        "scores": [score.to_json() for score in one.scores],
        "error": one.error,
        "model": one.model,
        "usage": one.spending.total.to_json(),
        "latency_ms": one.latency_ms,
        "cached": one.cached,
        "created_at": one.created_at,
        "ended": None if one.ended is None else one.ended.value,
        "ended_why": one.ended_why or None,
    }
