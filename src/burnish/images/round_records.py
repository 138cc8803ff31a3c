"""What a search in rounds may spend, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from burnish.domain import Spending, UsageError
from burnish.domain.images import ImageRun, Rubric, Variant

MOST_ROUNDS = 20


class RoundsEnd(StrEnum):
    """Why no further round was begun."""

    ROUNDS_DONE = "rounds_done"
    NO_MARGIN = "no_margin"
    LOW_CONFIDENCE = "low_confidence"
    IMAGE_BUDGET = "image_budget"
    COST_BUDGET = "cost_budget"
    NOTHING_RANKED = "nothing_ranked"
    ROUND_FAILED = "round_failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundsBudget:
    """How far it may go. A winner is gone on with when its score is `min_margin` above that of the
    picture it was made from, by the same judge, who is `min_confidence` sure of it."""

    rounds: int = 3
    max_images: int | None = None
    max_cost_usd: float | None = None
    min_margin: float = 0.002
    min_confidence: float = 0.2

    def __post_init__(self) -> None:
        if not 1 <= self.rounds <= MOST_ROUNDS:
            raise _unusable("rounds", f"{self.rounds} is not from 1 to {MOST_ROUNDS}")
        for name in ("max_images", "max_cost_usd"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise _unusable(name, f"{value} is not above 0")
        for name in ("min_margin", "min_confidence"):
            if not 0 <= getattr(self, name) <= 1:
                raise _unusable(name, f"{getattr(self, name)} is not from 0 to 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Margin:
    """What the judge said of the picture that a round began with."""

    comparison_id: str
    parent: Rubric
    spending: Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRound:
    """One run. `margin` is the winner's score minus its parent's; one that is `kept` is good enough
    to go on with."""

    number: int
    run: ImageRun
    winner: Variant | None = None
    parent_score: float | None = None
    margin: float | None = None
    comparison_id: str | None = None
    kept: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageOptimizationResult:
    """The rounds, and the best picture: the last winner that was kept, else what round 1 began with.

    `why` says in words why it stopped. `images` counts the pictures that were drawn.
    """

    optimization_id: str
    rounds: tuple[ImageRound, ...]
    ended: RoundsEnd
    why: str
    best_commit_id: str | None
    best_prompt: str
    best_score: float | None
    images: int
    spending: Spending

    @property
    def improved(self) -> bool:
        """Whether any winner was better than what it came from."""
        return any(one.kept for one in self.rounds)


def _unusable(name: str, why: str) -> UsageError:
    return UsageError(
        what=f"{name} cannot be used",
        why=why,
        fix="correct it, or leave it out",
        code="INVALID_REQUEST",
    )
