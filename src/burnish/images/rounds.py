"""Rounds of image runs, each from the winner before, as long as a judge sees it get better."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from enum import StrEnum

from burnish.domain import Spending, UsageError
from burnish.domain.images.runs import (
    ANCHOR,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
    Rubric,
    Variant,
)
from burnish.domain.wording import counted
from burnish.evaluation.scorers.pairwise import TIE
from burnish.images.planning import LONGEST_PROMPT

MOST_ROUNDS = 20
__all__ = [
    "ImageOptimizationResult",
    "ImageRound",
    "Margin",
    "RoundsBudget",
    "RoundsEnd",
    "optimize_in_rounds",
    "round_id",
]
# Carries a run out to its end, or finds it ended.
Carry = Callable[[str, ImageRunRequest], Awaitable[ImageRun]]


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
    picture it was made from, by the same judge, who is `min_confidence` sure of it; in runs that
    compare in pairs, when the judge prefers it to that picture."""

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
    to go on with. `over_parent` is how the judge sees it against its parent, where they were compared:
    1 better, 0 worse, 0.5 a tie."""

    number: int
    run: ImageRun
    winner: Variant | None = None
    parent_score: float | None = None
    margin: float | None = None
    over_parent: float | None = None
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


# Compares what a run began with to its winner; the rubric of the former is given where it is known.
Weigh = Callable[[ImageRun, Variant, Rubric | None], Awaitable[Margin]]


def round_id(optimization_id: str, number: int) -> str:
    """The id of a round's run."""
    return f"{optimization_id}-{number:02}"


async def optimize_in_rounds(
    optimization_id: str,
    request: ImageRunRequest,
    budget: RoundsBudget,
    *,
    carry: Carry,
    weigh: Weigh,
) -> ImageOptimizationResult:
    """Rounds until one brings nothing or the budget ends; those that were stored are not run again."""
    rounds: list[ImageRound] = []
    paid, wish = Spending(), request
    while True:
        stop = _before(rounds, wish, budget, paid)
        if stop is None:
            number = len(rounds) + 1
            run = await carry(round_id(optimization_id, number), wish)
            before = rounds[-1].winner if rounds else None
            one, weighed = await _weighed(number, run, before, budget, weigh)
            paid = paid + run.spending + weighed
            rounds.append(one)
            stop = _after(one, budget)
        if stop is not None:
            return _result(optimization_id, request, rounds, stop, paid)
        wish = _next(rounds[-1])


async def _weighed(
    number: int, run: ImageRun, before: Variant | None, budget: RoundsBudget, weigh: Weigh
) -> tuple[ImageRound, Spending]:
    winner = run.leaderboard[0] if run.leaderboard else None
    if winner is None or winner.rubric is None or winner.composite_score is None:
        return ImageRound(number=number, run=run), Spending()
    found = await weigh(run, winner, None if before is None else before.rubric)
    parent_score = found.parent.composite_score
    margin = round(winner.composite_score - parent_score, 4)
    sure = min(winner.rubric.confidence, found.parent.confidence)
    told = None if winner.pairwise is None else winner.pairwise.against(ANCHOR)
    over = None if told is None else told.value
    kept = margin >= budget.min_margin and 0 < sure >= budget.min_confidence
    one = ImageRound(
        number=number,
        run=run,
        winner=winner,
        parent_score=parent_score,
        margin=margin,
        over_parent=over,
        comparison_id=found.comparison_id,
        kept=over is not None and over > TIE if run.request.pairwise else kept,
    )
    return one, found.spending


_Stop = tuple[RoundsEnd, str]


def _after(one: ImageRound, budget: RoundsBudget) -> _Stop | None:
    """Whether a round is the last for what came of it."""
    run = one.run
    if run.status is ImageRunStatus.CANCELLED:
        return RoundsEnd.CANCELLED, f"round {one.number} was cancelled"
    if run.status is ImageRunStatus.FAILED:
        said = (run.error or {}).get("message", "no reason was given")
        return RoundsEnd.ROUND_FAILED, f"round {one.number} failed: {said}"
    if one.winner is None or one.margin is None:
        return RoundsEnd.NOTHING_RANKED, f"round {one.number} drew nothing that could be ranked"
    if run.request.pairwise and not one.kept:
        said = "gave no verdict on" if one.over_parent is None else "does not prefer"
        return (
            RoundsEnd.NO_MARGIN,
            f"the judge {said} the winner of round {one.number} beside what it was made from",
        )
    if not run.request.pairwise and one.margin < budget.min_margin:
        return (
            RoundsEnd.NO_MARGIN,
            f"the winner of round {one.number} scores {one.margin:+.4f} against what it was made "
            f"from, and at least {budget.min_margin:+.4f} is wanted",
        )
    if not one.kept:
        sure = (
            f"less than {budget.min_confidence:.0%} sure" if budget.min_confidence else "not sure"
        )
        return RoundsEnd.LOW_CONFIDENCE, f"the judge is {sure} in round {one.number}"
    if one.number >= budget.rounds:
        return RoundsEnd.ROUNDS_DONE, f"the budget of {counted(budget.rounds, 'round')} is used"
    return None


def _before(
    rounds: list[ImageRound], wish: ImageRunRequest, budget: RoundsBudget, paid: Spending
) -> _Stop | None:
    """Whether the budget still has room for a round."""
    drawn, needed = _drawn(rounds), wish.n_variants + (wish.parent_commit_id is None)
    if budget.max_images is not None and drawn + needed > budget.max_images:
        return (
            RoundsEnd.IMAGE_BUDGET,
            f"a round draws {counted(needed, 'picture')}, and {drawn} of {budget.max_images} are used",
        )
    if budget.max_cost_usd is None or not rounds:
        return None
    cost, last = paid.total.cost_usd, rounds[-1].run.spending.total.cost_usd
    if cost is None or last is None:
        return RoundsEnd.COST_BUDGET, "the price of a call is not known, so the cost cannot be held"
    if cost + last > budget.max_cost_usd:
        return (
            RoundsEnd.COST_BUDGET,
            f"{cost:.4f} USD are spent, and another round like the last is above "
            f"{budget.max_cost_usd:g} USD",
        )
    return None


def _next(one: ImageRound) -> ImageRunRequest:
    """From the winner, by the balanced suggestion as far as it can be a prompt. The first wish stays
    what pictures are judged by, so that scores of all rounds compare."""
    winner, run = one.winner, one.run
    assert winner is not None
    offered = [] if run.suggestions is None else [run.suggestions.balanced]
    offered += [winner.variant_prompt, run.request.base_prompt]
    prompt = next(text for text in offered if len(text) <= LONGEST_PROMPT)
    return replace(
        run.request,
        base_prompt=prompt,
        parent_commit_id=winner.commit_id,
        judge_prompt=run.request.judged_by,
    )


def _drawn(rounds: list[ImageRound]) -> int:
    return sum(
        sum(variant.image is not None for variant in one.run.variants)
        + (one.run.request.parent_commit_id is None and one.run.anchor_commit_id is not None)
        for one in rounds
    )


def _result(
    optimization_id: str,
    request: ImageRunRequest,
    rounds: list[ImageRound],
    stop: _Stop,
    paid: Spending,
) -> ImageOptimizationResult:
    kept = [one.winner for one in rounds if one.kept and one.winner is not None]
    best = kept[-1] if kept else None
    first = rounds[0] if rounds else None
    anchor = request.parent_commit_id if first is None else first.run.anchor_commit_id
    return ImageOptimizationResult(
        optimization_id=optimization_id,
        rounds=tuple(rounds),
        ended=stop[0],
        why=stop[1],
        best_commit_id=best.commit_id if best else anchor,
        best_prompt=best.variant_prompt if best else request.base_prompt,
        best_score=best.composite_score if best else (first.parent_score if first else None),
        images=_drawn(rounds),
        spending=paid,
    )
