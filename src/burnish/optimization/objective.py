"""Objective of an optimization: what better means, candidates as points, Pareto front, ranking."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import Candidate, TrialResult, TrialSummary, UsageError
from burnish.support.number_checks import is_number

# What an objective may name, and under which name its numbers stand.
MEASURES = {"tokens": "tokens", "cost": "cost_usd", "latency": "latency_ms"}
# Scores closer than this are one score: sums of floats in another order must not make a winner.
TOLERANCE = 1e-9
_DIGITS = 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """What one evaluation takes on the mean. None is unknown, never 0."""

    tokens: float | None = None
    cost_usd: float | None = None
    latency_ms: float | None = None

    @classmethod
    def of(cls, summary: TrialSummary) -> Measures:
        """Of a trial."""
        return cls(
            tokens=summary.avg_tokens,
            cost_usd=summary.avg_cost_usd,
            latency_ms=summary.avg_latency_ms,
        )

    def of_name(self, name: str) -> float | None:
        """The measure that an objective calls so."""
        value: float | None = getattr(self, MEASURES[name])
        return value

    def to_json(self) -> dict[str, float | None]:
        """The numbers by name."""
        return {name: getattr(self, name) for name in MEASURES.values()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One candidate's completed trial. `length` is its prompt's, in characters.

    `model` is the one that its configuration names; None where the agent's own answers.
    """

    candidate_id: str
    number: int
    score: float
    measures: Measures = field(default_factory=Measures)
    length: int = 0
    model: str | None = None

    @property
    def thrift(self) -> tuple[float, ...]:
        """By what equals are told apart: tokens, cost, length, and at last who came first.

        What costs as much as the baseline gives way to it, however short.
        """
        return (*prices(self, ("tokens", "cost")), self.number > 0, self.length, self.number)

    def to_json(self) -> dict[str, Any]:
        """Everything on one level."""
        return {
            "candidate_id": self.candidate_id,
            "number": self.number,
            "score": self.score,
            "model": self.model,
            **self.measures.to_json(),
        }


def points_of(trials: Iterable[TrialResult], candidates: Mapping[str, Candidate]) -> list[Point]:
    """The trials that can be best, by number."""
    found = [
        Point(
            candidate_id=trial.candidate_id,
            number=candidates[trial.candidate_id].number,
            score=trial.objective_score,
            measures=Measures.of(trial.summary),
            length=sum(map(len, candidates[trial.candidate_id].configuration.sections.values())),
            model=candidates[trial.candidate_id].configuration.model,
        )
        for trial in trials
        if trial.counts and trial.objective_score is not None
    ]
    return sorted(found, key=lambda one: one.number)


def front(points: Iterable[Point], measures: Sequence[str]) -> tuple[Point, ...]:
    """Points that no other dominates: as good in score and every measure, and better in one.

    From cheap to dear by the first measure. Of points that are alike the thriftiest stays. An
    unknown measure counts as dearer than any that is known.
    """
    found: list[tuple[Point, float, tuple[float, ...]]] = []
    # In this order nothing is dominated by what comes after it.
    for one in sorted(points, key=lambda one: (prices(one, measures), -grade(one), one.thrift)):
        score, asked = grade(one), prices(one, measures)
        if not any(
            better >= score and all(own <= other for own, other in zip(paid, asked, strict=True))
            for _, better, paid in found
        ):
            found.append((one, score, asked))
    return tuple(one for one, _, _ in found)


def grade(point: Point) -> float:
    """The score as it is compared."""
    return round(point.score, _DIGITS)


def prices(point: Point, measures: Sequence[str]) -> tuple[float, ...]:
    """The measures as they are compared; unknown ones are the dearest."""
    values = (point.measures.of_name(name) for name in measures)
    return tuple(float("inf") if value is None else value for value in values)


DEFAULT_TOLERANCE = 0.01

_WHY = {
    "tokens": "is unknown: the agent reports no usage",
    "cost": "is unknown: the agent reports no usage, or the price of a model is not known",
    "latency": "is unknown: nothing was answered",
}
_FIXES = {
    "tokens": "return burnish.AgentOutput(text=…, spending=…) from the agent",
    "cost": "set input_price and output_price in [models], or name tokens in place of cost",
    "latency": "name tokens in place of latency",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """Weights, or the measures of a Pareto front; with neither, the score alone.

    A weight is how much score one gives for a 100% change of a measure against the baseline. Of a
    front, the cheapest point counts whose score is within `tolerance` of the best.
    """

    weights: Mapping[str, float] = field(default_factory=dict)
    pareto: tuple[str, ...] = ()
    tolerance: float = DEFAULT_TOLERANCE

    @property
    def kind(self) -> str:
        """`score`, `weighted` or `pareto`."""
        return "pareto" if self.pareto else "weighted" if self.weights else "score"

    @property
    def measures(self) -> tuple[str, ...]:
        """What counts besides the score, the leading one first."""
        return self.pareto or tuple(name for name in MEASURES if name in self.weights)

    @property
    def front_measures(self) -> tuple[str, ...]:
        """What a front is made of: without an objective, score against tokens."""
        return self.measures or ("tokens",)

    @property
    def perfect_score(self) -> float | None:
        """What nothing can be better than; a perfect score may still be had cheaper."""
        return None if self.measures else 1.0

    def to_json(self) -> dict[str, Any]:
        """What `of_json` reads."""
        return {
            "kind": self.kind,
            "weights": dict(self.weights),
            "pareto": list(self.pareto),
            "tolerance": self.tolerance if self.pareto else None,
        }

    @classmethod
    def of_json(cls, value: Mapping[str, Any] | None) -> Objective:
        """From its stored form; the score alone where there is none."""
        if not value:
            return cls()
        tolerance = value.get("tolerance")
        return cls(
            weights=dict(value.get("weights") or {}),
            pareto=tuple(value.get("pareto") or ()),
            tolerance=DEFAULT_TOLERANCE if tolerance is None else tolerance,
        )

    def in_words(self) -> str:
        """For people."""
        if self.pareto:
            asked = ", ".join(self.pareto)
            return f"the least {asked} with a score within {self.tolerance:g} of the best"
        if self.weights:
            terms = (f" − {self.weights[name]:g} × {name}" for name in self.measures)
            return f"score{''.join(terms)}, relative to the baseline"
        return "the score"

    def require(self, baseline: Measures) -> None:
        """Refuse what the baseline shows to be unknown: nothing is ever taken for 0."""
        for name in self.measures:
            value = baseline.of_name(name)
            if value is None:
                raise unmeasured(f"the {name} of the baseline {_WHY[name]}", _FIXES[name])
            if value == 0 and self.weights:
                raise unmeasured(
                    f"the {name} of the baseline is 0, and weights are relative to it",
                    f"weigh another measure than {name}, or use pareto",
                )


def unmeasured(why: str, fix: str) -> UsageError:
    """An objective of something that is not known."""
    return UsageError(
        what="the optimizer's objective cannot be used",
        why=why,
        fix=f"{fix}; then start a new optimization",
        code="unmeasured_objective",
    )


_PARETO_KEYS = ("pareto", "tolerance")


def read_objective(value: Objective | Mapping[str, Any] | None) -> Objective:
    """From `objective` in `[optimizer]`; UsageError says what is wrong with it."""
    if isinstance(value, Objective):
        return value
    if value is None:
        return Objective()
    if not isinstance(value, Mapping):
        raise _bad(f"{value!r} is not a table", "write it like objective = { tokens = 0.1 }")
    for name in value:
        if name not in (*MEASURES, *_PARETO_KEYS):
            raise _bad(f"there is no {name!r}{_nearest(name, _PARETO_KEYS)}", _known(name))
    weights = {name: _weight(name, one) for name, one in value.items() if name in MEASURES}
    if "pareto" not in value:
        if "tolerance" in value:
            raise _bad(
                "a tolerance is of a Pareto front, and none is asked for",
                'add pareto = ["tokens"], or leave tolerance out',
            )
        return Objective(weights=weights)
    if weights:
        raise _bad(
            f"it has weights ({', '.join(weights)}) and pareto",
            "keep one of them: weights give one number, pareto a front",
        )
    tolerance = value.get("tolerance", DEFAULT_TOLERANCE)
    return Objective(pareto=_front_measures(value["pareto"]), tolerance=_tolerance(tolerance))


def _weight(name: str, value: Any) -> float:
    if not is_number(value) or not value > 0:
        raise _bad(
            f"the weight of {name} is {value!r}, not a number above 0",
            f"write it like objective = {{ {name} = 0.1 }}: the score to give for a 100% change",
        )
    return float(value)


def _tolerance(value: Any) -> float:
    if not is_number(value) or value < 0:
        raise _bad(
            f"the tolerance is {value!r}, not a number from 0 up",
            f"write it like tolerance = {DEFAULT_TOLERANCE}",
        )
    return float(value)


def _front_measures(value: Any) -> tuple[str, ...]:
    names = [value] if isinstance(value, str) else value
    if not isinstance(names, Sequence) or not names:
        raise _bad(f"pareto is {value!r}, not a list of measures", 'write pareto = ["tokens"]')
    for name in names:
        if not isinstance(name, str) or name not in MEASURES:
            raise _bad(f"pareto names {name!r}{_nearest(name)}", _known(name))
    if len(set(names)) < len(names):
        raise _bad(f"pareto names a measure twice: {', '.join(names)}", "name each once")
    return tuple(names)


def _nearest(name: Any, more: Sequence[str] = ()) -> str:
    close = difflib.get_close_matches(str(name), [*MEASURES, *more], n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""


def _known(name: Any) -> str:
    if name == "score":
        return "leave it out: the score always counts in full"
    return f"measures are {', '.join(MEASURES)}; weigh them, or list them in pareto"


def _bad(why: str, fix: str) -> UsageError:
    return UsageError(
        what="the optimizer's objective cannot be used", why=why, fix=fix, code="invalid_optimizer"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """An objective, with the baseline that its weights are relative to."""

    objective: Objective = field(default_factory=Objective)
    baseline: Measures | None = None

    def merit(self, point: Point) -> float | None:
        """What a search maximises: the utility where measures are weighed, else the score.

        None where a measure that counts is unknown.
        """
        if not self.objective.weights or self.baseline is None:
            return point.score
        saved = self.saved(point.measures)
        return None if saved is None else point.score + saved

    def saved(self, measures: Measures, baseline: Measures | None = None) -> float | None:
        """What the measures are worth in score, against the baseline's; below 0 where dearer."""
        total = 0.0
        for name in self.objective.measures:
            before = (baseline or self.baseline or Measures()).of_name(name)
            after = measures.of_name(name)
            if not before or after is None:
                return None
            total -= self.objective.weights[name] * (after / before - 1)
        return total

    def best(self, points: Collection[Point]) -> Point | None:
        """The chosen point; of equals the thriftiest, but the baseline while nothing beats it."""
        if self.objective.pareto:
            return self._cheapest(points)
        merits = [(merit, one) for one in points if (merit := self.merit(one)) is not None]
        enough = max((merit for merit, _ in merits), default=0.0) - TOLERANCE
        good = [one for merit, one in merits if merit >= enough]
        return min(good, key=lambda one: (one.number > 0, one.thrift), default=None)

    def front(self, points: Collection[Point]) -> tuple[Point, ...]:
        """Points that no other beats in score and in every measure that counts."""
        return front(points, self.objective.front_measures)

    def _cheapest(self, points: Collection[Point]) -> Point | None:
        """Of a front, the least by the first measure among those that score well enough."""
        measures = self.objective.pareto
        members = front(points, measures)
        if not members:
            return None
        enough = max(map(grade, members)) - self.objective.tolerance - TOLERANCE
        good = [one for one in members if grade(one) >= enough]
        return min(good, key=lambda one: (prices(one, measures), -grade(one), one.thrift))

    def allowance(self, best: Measures, baseline: Measures) -> float:
        """The score that the best may lie below the baseline and still be better by the objective.

        Below 0 it has to lie so much above.
        """
        if self.objective.weights:
            return self.saved(best, baseline) or 0.0
        if not self.objective.pareto:
            return 0.0
        lead = self.objective.pareto[0]
        before, after = baseline.of_name(lead), best.of_name(lead)
        cheaper = before is not None and after is not None and after < before
        return self.objective.tolerance if cheaper else 0.0
