"""Scorer set of a suite: all its scorers, weighted ones, and the one number they come to."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeGuard

from burnish.domain import AgentOutput, Item, Score, Scorer, Spending, UsageError, exact_hash
from burnish.domain.wording import counted
from burnish.evaluation.scorers.fields import (
    CriteriaScorer,
    FieldScorer,
    InstantScorer,
    error_score,
    is_missing,
    require_text,
)
from burnish.evaluation.scorers.function_scorer import FunctionScorer
from burnish.support.deadlines import is_cancelled

SYSTEMIC_CODES = frozenset(
    {
        "bad_key",
        "batch_refused",
        "engine_missing",
        "missing_extra",
        "missing_key",
        "model_missing",
        "no_batches",
        "not_open",
        "not_recorded",
        "not_scripted",
        "tag_ignored",
        "unknown_model",
        "unknown_parameter",
        "unsupported_parameter",
    }
)
# Means of decimal fractions land a hair below what they are on paper.
_SLACK = 1e-9


def is_systemic(error: BaseException) -> bool:
    """Whether going on with the next item would only repeat the error."""
    return isinstance(error, UsageError) and error.code in SYSTEMIC_CODES


class ScorerSet:
    """Scorers with their weights, 1 each unless given; names of scores are unique within the set.

    The objective is the mean by weight. A scorer of weight 0 is reported and decides nothing.
    `skipped` names judges of the suite that have no criteria. `criteria` say what the scorers that
    decide go by, `answer_fields` are the item's fields that outputs are compared with.
    """

    def __init__(
        self,
        scorers: Sequence[Scorer],
        weights: Sequence[float] | None = None,
        *,
        skipped: Sequence[str] = (),
    ) -> None:
        self.skipped = tuple(skipped)
        self.scorers = tuple(scorers)
        self.weights = tuple(map(float, weights)) if weights else (1.0,) * len(self.scorers)
        _check(self.scorers, self.weights)
        self.names = _unique([scorer.name for scorer in self.scorers])
        self.fingerprint = self._fingerprint()
        self.fields_needed = tuple(
            dict.fromkeys(
                field
                for scorer in self.scorers
                if isinstance(scorer, FieldScorer)
                for field in scorer.fields_needed
            )
        )
        self.answer_fields = tuple(
            dict.fromkeys(field for scorer in self.scorers for field in _compared(scorer))
        )
        self.criteria = tuple(
            text
            for name, scorer, weight in zip(self.names, self.scorers, self.weights, strict=True)
            if weight > 0
            for text in _looks_at(name, scorer)
        )
        # Scorers of weight 0.
        self.reported = tuple(
            name for name, weight in zip(self.names, self.weights, strict=True) if not weight
        )
        waiting = [scorer for scorer in self.scorers if not _is_instant(scorer)]
        self.instant = not waiting
        self._together = len(waiting) > 1
        self._named = tuple(zip(self.names, self.scorers, strict=True))
        self._weight_of = dict(zip(self.names, self.weights, strict=True))
        # From where on an output passes that neither the suite nor a scorer decides.
        self.pass_from = 1.0

    async def score_all(self, output: AgentOutput, item: Item) -> tuple[Score, ...]:
        """Every scorer's verdict, in the scorers' order. Scorers that wait do so together."""
        if self._together:
            return tuple(
                await asyncio.gather(
                    *(_score(name, scorer, output, item) for name, scorer in self._named)
                )
            )
        return tuple([await _score(name, scorer, output, item) for name, scorer in self._named])

    def objective(self, scores: Sequence[Score]) -> float:
        """The one number that an item gets; the scores may come in any order."""
        if len(scores) == 1 == len(self.names):
            return float(scores[0].value)
        return combine(scores, [self._weight_of[score.name] for score in scores])

    def passed(self, scores: Sequence[Score], threshold: float | None) -> bool:
        """No error, no scorer that said no, and an objective of at least the threshold.

        Without a threshold a scorer's own word counts, and what the others come to decides the rest.
        """
        counting = self.deciding(scores)
        if any(one.error is not None or one.passed is False for one in counting):
            return False
        if threshold is None:
            open_ = [one for one in counting if one.passed is None]
            return not open_ or self.objective(open_) >= self.pass_from - _SLACK
        return self.objective(scores) >= threshold - _SLACK

    def deciding(self, scores: Iterable[Score]) -> list[Score]:
        """Those that count: of a scorer of weight 0 not even an error does."""
        return [one for one in scores if self._weight_of[one.name] > 0]

    def missing_fields(self, columns: Iterable[str]) -> tuple[str, ...]:
        """Fields that the scorers read and that no row with these columns has."""
        present = tuple(columns)
        return tuple(field for field in self.fields_needed if is_missing(field, present))

    def require_fields(self, columns: Iterable[str]) -> None:
        """Refuse, before anything is paid, to compare with a field that no row has."""
        present = sorted(columns)
        missing = self.missing_fields(present)
        if missing:
            raise UsageError(
                what="the scorers cannot compare",
                why=f"the dataset has no column {min(missing)!r}; it has {', '.join(present)}",
                fix="correct the scorer's `field` or add the column",
                code="unknown_field",
            )

    def _fingerprint(self) -> str | None:
        prints = [scorer.fingerprint for scorer in self.scorers]
        if None in prints:
            return None
        return exact_hash([list(self.names), list(self.weights), prints])


def combine(scores: Sequence[Score], weights: Sequence[float]) -> float:
    """The mean of the scores' values by weight."""
    weighted = [score.value * weight for score, weight in zip(scores, weights, strict=True)]
    if len(weighted) == 1:
        return float(scores[0].value)  # Times and by its weight would round it.
    return math.fsum(weighted) / math.fsum(weights)


def first_step(scores: Iterable[Score]) -> int | None:
    """The first step of the transcript that any of the scores finds wrong."""
    return min((one.step for one in scores if one.step is not None), default=None)


def is_scorer(value: object) -> TypeGuard[Scorer]:
    """Whether an object has what the protocol asks for."""
    return not isinstance(value, type) and all(
        hasattr(value, name) for name in ("name", "fingerprint", "score")
    )


async def _score(name: str, scorer: Scorer, output: AgentOutput, item: Item) -> Score:
    try:
        score = await scorer.score(output, item)
    except (
        Exception,
        asyncio.CancelledError,
    ) as error:  # One from elsewhere may break the promise.
        if is_systemic(error) or (isinstance(error, asyncio.CancelledError) and is_cancelled()):
            raise
        return error_score(name, f"{type(error).__name__}: {error}")
    return score if score.name == name else replace(score, name=name)


def _compared(scorer: Scorer) -> tuple[str, ...]:
    """The item's fields that an output is compared with."""
    if isinstance(scorer, Weighted):
        return scorer.parts.answer_fields
    if isinstance(scorer, FieldScorer) and not isinstance(scorer, CriteriaScorer):
        return tuple(scorer.fields_needed)
    return ()


def _looks_at(name: str, scorer: Scorer) -> tuple[str, ...]:
    """What a scorer goes by, in words; a combined one tells it of its parts."""
    if isinstance(scorer, Weighted):
        return tuple(f"{name}, {text}" for text in scorer.parts.criteria)
    if isinstance(scorer, CriteriaScorer):
        return (f"{name}: {scorer.criteria}",)
    if isinstance(scorer, FunctionScorer):
        about = inspect.getdoc(inspect.unwrap(scorer.function))
        return (f"{name}: {about}",) if about else (name,)
    fields = ", ".join(_compared(scorer))
    return (f"{name}: the output is compared with the item's {fields}" if fields else name,)


def _is_instant(scorer: Scorer) -> bool:
    return isinstance(scorer, InstantScorer) and scorer.instant


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    taken: list[str] = []
    for name in names:
        number, unique = 1, name
        while unique in taken or (number > 1 and unique in names):
            number += 1
            unique = f"{name}_{number}"
        taken.append(unique)
    return tuple(taken)


def _check(scorers: Sequence[Scorer], weights: Sequence[float]) -> None:
    if not scorers:
        raise _bad("there are none", "add one, such as exact_match")
    for scorer in scorers:
        if not is_scorer(scorer):
            why = f"{scorer!r:.100} lacks name, fingerprint or score"
            raise _bad(why, "give it all three; fingerprint = None means that it is not known")
    if len(weights) != len(scorers):
        raise _bad(
            f"there are {counted(len(weights), 'weight')} for {counted(len(scorers), 'scorer')}",
            "give one weight each",
        )
    if not all(0 <= weight < math.inf for weight in weights) or not any(weights):
        why = f"the weights {', '.join(f'{weight:g}' for weight in weights)} make no mean"
        raise _bad(why, "use finite weights from 0 up, at least one of them above 0")


def _bad(why: str, fix: str) -> UsageError:
    return UsageError(what="the scorers cannot be used", why=why, fix=fix, code="invalid_scorer")


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
            step=first_step(decisive),
        )


def _line(score: Score) -> str:
    return f"{score.name} {score.value:g}" + (f" ({score.reason})" if score.reason else "")
