"""Several scorers as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from burnish.domain import AgentOutput, Item, Score, Scorer, Spending, exact_hash
from burnish.evaluation.scorers.fields import require_text
from burnish.evaluation.scorers.scorer_set import ScorerSet


@dataclass(frozen=True, slots=True)
class WeightedScore(Score):
    """A combined score that keeps the scores it was made from."""

    parts: tuple[Score, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The stored form, with the parts."""
        # Zero-argument super() does not find the class that `slots=True` makes.
        return {**Score.to_json(self), "parts": [part.to_json() for part in self.parts]}


class Weighted:
    """The mean of several scorers by weight; one that fails or refuses decides for all."""

    def __init__(self, parts: Sequence[tuple[Scorer, float]], *, name: str = "weighted") -> None:
        self.name = require_text("weighted", "name", name)
        self.parts = ScorerSet([scorer for scorer, _ in parts], [weight for _, weight in parts])
        self.fields_needed = self.parts.fields_needed
        self.instant = self.parts.instant
        inner = self.parts.fingerprint
        self.fingerprint = None if inner is None else exact_hash(["weighted", 1, inner])

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """The combined verdict, with every part's reason."""
        scores = await self.parts.score_all(output, item)
        decisive = [
            score for score, weight in zip(scores, self.parts.weights, strict=True) if weight > 0
        ]
        error = next((f"{one.name}: {one.error}" for one in decisive if one.error), None)
        return WeightedScore(
            self.parts.objective(scores),
            "; ".join(_line(score) for score in scores if score.reason or score.value < 1),
            False if any(score.passed is False for score in decisive) else None,
            self.name,
            error,
            Spending.sum(score.spending for score in scores),
            scores,
        )


def _line(score: Score) -> str:
    return f"{score.name} {score.value:g}" + (f" ({score.reason})" if score.reason else "")
