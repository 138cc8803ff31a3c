"""Rounds of one output: judged, written anew by an optimizer model, and judged again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from burnish.domain.experiments.items import AgentOutput, Score
from burnish.domain.usage import Spending

# Means of decimal fractions land a hair below what they are on paper.
SLACK = 1e-9
PERFECT_SCORE = 1.0


class RoundEnd(StrEnum):
    """Why an output is refined no further."""

    LIMIT = "limit"
    THRESHOLD = "threshold"
    PERFECT = "perfect"
    NOT_APPLICABLE = "not_applicable"
    JUDGE_UNAVAILABLE = "judge_unavailable"
    EVALUATION_FAILED = "evaluation_failed"
    OPTIMIZER_UNAVAILABLE = "optimizer_unavailable"
    BUDGET = "budget"


class AnswerChoice(StrEnum):
    """Which round counts as the answer."""

    LATEST = "latest"
    BEST = "best"


class Outcome(StrEnum):
    """What refinement made of an output: its answer against what the agent wrote.

    Fixed reached the target that the first output missed; improved came nearer to it.
    """

    FIXED = "fixed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"
    WORSENED = "worsened"
    NOT_REFINED = "not_refined"


def outcome_of(before: float, after: float, *, target: float, rounds: int) -> Outcome:
    """Compare the first score with the answer's; `rounds` counts refined outputs."""
    if rounds == 0:
        return Outcome.NOT_REFINED
    if before < target - SLACK <= after:
        return Outcome.FIXED
    if after < before - SLACK:
        return Outcome.WORSENED
    return Outcome.IMPROVED if after > before + SLACK else Outcome.UNCHANGED


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One output with its evaluation. Number 0 is what the agent wrote, later ones are refined.

    `spending` is of writing and judging it, `latency_ms` of writing it. The last one has `ended`.
    A round without a verdict has scores with an error, and counts for nothing.
    """

    item_id: str
    item_hash: str
    repeat: int
    number: int
    output: AgentOutput
    score: float
    passed: bool
    scores: tuple[Score, ...]
    model: str
    spending: Spending = field(default_factory=Spending)
    reused: Spending = field(default_factory=Spending)
    latency_ms: float = 0.0
    cached: bool = False
    ended: RoundEnd | None = None
    ended_why: str = ""
    created_at: str = ""

    @property
    def error(self) -> str | None:
        """Why there is no verdict."""
        return next((f"{one.name}: {one.error}" for one in self.scores if one.error), None)

    @property
    def judged(self) -> bool:
        """Whether the evaluation came to a verdict."""
        return all(one.error is None for one in self.scores)

    @property
    def reason(self) -> str:
        """What all scorers said, as one text."""
        return reasons_of(self.scores)


def reasons_of(scores: Sequence[Score]) -> str:
    """The reasons of all scorers; with several scorers, each under its name."""
    said = [(one.name, one.reason or one.error or "") for one in scores]
    if len(said) == 1:
        return said[0][1]
    return "\n".join(f"{name}: {reason}" for name, reason in said if reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundScore:
    """As much of a round as statistics read."""

    item_id: str
    repeat: int
    number: int
    score: float
    judged: bool
    ended: RoundEnd | None
    spending: Spending


@dataclass(frozen=True, slots=True, kw_only=True)
class Refinement:
    """What rounds came to for one output; the rounds themselves are stored beside it.

    `rounds` counts refined outputs. `target` is the score from which an output counts as fixed.
    """

    rounds: int
    first_score: float
    first_reason: str
    latest_score: float
    best_score: float
    best_round: int
    answer: AnswerChoice
    answer_round: int
    target: float
    ended: RoundEnd
    ended_why: str
    first_output: str = ""

    @property
    def outcome(self) -> Outcome:
        """The answer against the first output."""
        after = self.best_score if self.answer is AnswerChoice.BEST else self.latest_score
        return outcome_of(self.first_score, after, target=self.target, rounds=self.rounds)

    def to_json(self) -> dict[str, Any]:
        """The form that `of` reads."""
        return {name: getattr(self, name) for name in Refinement.__slots__}

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> Refinement:
        """From its stored form."""
        known = {name: value[name] for name in cls.__slots__ if name in value}
        known["answer"] = AnswerChoice(known["answer"])
        known["ended"] = RoundEnd(known["ended"])
        return cls(**known)
