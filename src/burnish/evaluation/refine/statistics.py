"""Refinement statistics of an experiment: scores by round, outcomes, cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import AnswerChoice, Outcome, RoundEnd, RoundScore, Spending, Usage
from burnish.domain.experiments.refinement import PERFECT_SCORE, outcome_of
from burnish.evaluation.statistics import Interval, score_interval


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundMean:
    """The mean over all outputs at a round; one that ended before keeps its last score.

    `outputs` counts those that got so far.
    """

    number: int
    outputs: int
    score: float
    interval: Interval

    def to_json(self) -> dict[str, Any]:
        """By name."""
        return {
            "round": self.number,
            "outputs": self.outputs,
            "score": self.score,
            "interval": [self.interval.low, self.interval.high],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinementStatistics:
    """Counts of outputs, and what refining them cost; judging what was refined is in it.

    `settings` are those of the experiment: whether refinement was active, and if not, why.
    """

    settings: Mapping[str, Any]
    outputs: int = 0
    refined: int = 0
    rounds: int = 0
    outcomes: Mapping[Outcome, int] = field(default_factory=dict)
    ended: Mapping[RoundEnd, int] = field(default_factory=dict)
    by_round: tuple[RoundMean, ...] = ()
    first_score: float | None = None
    latest_score: float | None = None
    best_score: float | None = None
    usage: Usage = field(default_factory=Usage)

    @property
    def active(self) -> bool:
        """Whether outputs were refined at all."""
        return bool(self.settings.get("active"))

    def count(self, outcome: Outcome) -> int:
        """How many refined outputs came out so."""
        return self.outcomes.get(outcome, 0)

    @property
    def cost_per_fixed(self) -> float | None:
        """Dollars; None when nothing was fixed, a price is unknown, or a cache answered all."""
        fixed, cost = self.count(Outcome.FIXED), self.usage.cost_usd
        return cost / fixed if fixed and self.usage.calls and cost is not None else None

    def to_json(self) -> dict[str, Any]:
        """As `eval --json` and the API show it."""
        counted = (Outcome.FIXED, Outcome.IMPROVED, Outcome.UNCHANGED, Outcome.WORSENED)
        return {
            **self.settings,
            "outputs": self.outputs,
            "refined": self.refined,
            "rounds": self.rounds,
            **{one.value: self.count(one) for one in counted},
            "ended": {end.value: number for end, number in self.ended.items()},
            "by_round": [one.to_json() for one in self.by_round],
            "first_score": self.first_score,
            "latest_score": self.latest_score,
            "best_score": self.best_score,
            "usage": self.usage.shown(),
            "cost_per_fixed_usd": self.cost_per_fixed,
        }


async def refinement_statistics(
    settings: Mapping[str, Any], scores: AsyncIterator[RoundScore]
) -> RefinementStatistics:
    """From the rounds of an experiment in order; outputs that are still refined don't count yet."""
    tally = _Tally(settings)
    run: list[RoundScore] = []
    async for one in scores:
        if run and (one.item_id, one.repeat) != (run[0].item_id, run[0].repeat):
            tally.add(run)
            run = []
        run.append(one)
    if run:
        tally.add(run)
    return tally.statistics()


class _Tally:
    """Adds outputs up; of each it keeps its scores, as plain numbers."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        threshold = settings.get("threshold")
        self._target = PERFECT_SCORE if threshold is None else float(threshold)
        self._best = settings.get("answer") == AnswerChoice.BEST.value
        self._runs: list[tuple[str, list[float]]] = []
        self._outcomes: Counter[Outcome] = Counter()
        self._ended: Counter[RoundEnd] = Counter()
        self._spending = Spending()
        self._rounds = 0
        self._refined = 0

    def add(self, run: list[RoundScore]) -> None:
        """The rounds of one output."""
        if (ended := run[-1].ended) is None:
            return
        self._ended[ended] += 1
        refined = len(run) - 1
        self._rounds += refined
        self._refined += bool(refined)
        self._spending = Spending.sum([self._spending, *(one.spending for one in run[1:])])
        scores = [one.score for one in run if one.judged]
        if not run[0].judged:
            return
        self._runs.append((run[0].item_id, scores))
        after = max(scores) if self._best else scores[-1]
        outcome = outcome_of(scores[0], after, target=self._target, rounds=refined)
        self._outcomes[outcome] += 1

    def statistics(self) -> RefinementStatistics:
        """All of it."""
        runs = self._runs
        most = max((len(scores) for _, scores in runs), default=0)
        return RefinementStatistics(
            settings=self._settings,
            outputs=len(runs),
            refined=self._refined,
            rounds=self._rounds,
            outcomes=dict(self._outcomes),
            ended=dict(sorted(self._ended.items())),
            by_round=tuple(self._mean(number) for number in range(most)),
            first_score=_mean([scores[0] for _, scores in runs]),
            latest_score=_mean([scores[-1] for _, scores in runs]),
            best_score=_mean([max(scores) for _, scores in runs]),
            usage=self._spending.total,
        )

    def _mean(self, number: int) -> RoundMean:
        by_item: dict[str, list[float]] = {}
        for item, scores in self._runs:
            by_item.setdefault(item, []).append(scores[min(number, len(scores) - 1)])
        # Repeats of an item are no independent evidence, so an item is one value of the interval.
        means = [sum(scores) / len(scores) for scores in by_item.values()]
        score = _mean([one for scores in by_item.values() for one in scores])
        assert score is not None
        return RoundMean(
            number=number,
            outputs=sum(len(scores) > number for _, scores in self._runs),
            score=score,
            interval=score_interval(means),
        )


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
