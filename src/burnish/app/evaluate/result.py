"""Result of an evaluation: scores with intervals, spending, rounds, warnings, a comparison."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.app.report.tabular import Tabular, cost_words
from burnish.app.wiring import Workspace
from burnish.domain import (
    ErrorKind,
    Experiment,
    ExperimentRepository,
    ExperimentSummary,
    OptimizationRecord,
    Refinement,
    Round,
)
from burnish.domain.optimizations.pages import RunPoint
from burnish.domain.wording import counted
from burnish.evaluation.broken_items import BrokenItems
from burnish.evaluation.looks import level_by_hand
from burnish.evaluation.pairwise import WinRate
from burnish.evaluation.refine.statistics import RefinementStatistics, refinement_statistics
from burnish.evaluation.scorers.judge import NOT_JUDGED
from burnish.evaluation.scorers.scorer_set import ScorerSet
from burnish.evaluation.statistics import (
    Interval,
    PairedComparison,
    is_rate,
    mean_interval,
    rate_interval,
    score_interval,
    wilson_interval,
)
from burnish.models.traffic import Traffic

Intervals = Mapping[str, tuple[float, float]]


async def score_intervals(
    workspace: Workspace, points: Sequence[RunPoint], *, repeats: int
) -> Intervals:
    """The 95 % interval of each score by experiment; none for what has no score yet.

    Scores of 0 and 1 need no look at the items. Others do, and so do repeats: five runs of one item
    tell less than runs of five.
    """
    found: dict[str, tuple[float, float]] = {}
    graded: list[str] = []
    for one in points:
        if one.score is None or not one.total_items:
            continue
        if repeats == 1 and is_rate(one.score, one.passed_items, one.total_items):
            found[one.experiment_id] = rate_interval(one.passed_items, one.total_items)
        else:
            graded.append(one.experiment_id)
    if graded:
        for key, moments in (await workspace.insights.score_moments(graded)).items():
            interval = mean_interval(moments.items, moments.mean, moments.mean_square)
            if interval is not None:
                found[key] = interval
    return found


def repeats_of(record: OptimizationRecord) -> int:
    """How often each item is run; 2 stands for an unknown number of times."""
    suite: Mapping[str, Any] = (record.spec.get("settings") or {}).get("suite") or {}
    repeats = suite.get("repeats")
    return repeats if isinstance(repeats, int) else 2


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


ReadRows = Callable[[int | None], list[dict[str, Any]]]
_FLAT: tuple[str, ...] = ("id", "repeat", "split", "input", "output", "score", "reason", "passed")
_FLAT += ("cost_usd", "latency_ms", "cached")
_MAX_ANSWERS = 50
# An answer this common, over items whose right answers vary, is a model that stopped reading.
_COLLAPSED = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationResult(Tabular):
    """The outcome of one experiment. `items` counts runs: items times repeats.

    `read` reads the single runs once they are asked for, from where they are stored: all, or as many.
    """

    experiment: Experiment
    summary: ExperimentSummary
    score_interval: Interval
    pass_interval: Interval
    answers: Counter[str]
    warnings: tuple[str, ...] = ()
    comparison: PairedComparison | None = None
    # Items that passed with the baseline and failed now; None where there is none.
    broken: BrokenItems | None = None
    baseline_id: str | None = None
    # Which comparison with that baseline it is.
    look: int = 1
    refinement: RefinementStatistics | None = None
    win_rates: tuple[WinRate, ...] = ()
    read: ReadRows = field(default=lambda _: [], repr=False, compare=False)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every run: id, input, output, score, reason, passed, cost_usd, latency_ms, rounds and more.

        They are read anew from the database each time. `to_dicts` and `to_pandas` are flatter.
        """
        return self.read(None)

    def to_dicts(self) -> list[dict[str, Any]]:
        """A flat dict a run; `rounds` is how many there were, 0 where nothing was refined."""
        return [
            {name: row[name] for name in _FLAT}
            | {"rounds": len(row["rounds"]), "error": (row["error"] or {}).get("message")}
            for row in self.rows
        ]

    def to_html(self) -> str:
        """Score, runs and a chart of them, as a notebook shows it."""
        from burnish.app.report.html.notebook import evaluation_html  # noqa: PLC0415 - when shown

        return evaluation_html(self)

    def __repr__(self) -> str:
        experiment, low, high = self.experiment, self.score_interval.low, self.score_interval.high
        lines = [
            f"EvaluationResult({experiment.id}: {experiment.name}, {experiment.status.value})",
            "no run has a score"
            if self.score is None
            else f"score {self.score:.3f} ({low:.2f}–{high:.2f}), {self.summary.passed:,} of "
            f"{self.items:,} passed, {counted(self.errors, 'error')}, "
            f"{cost_words(self.summary.cost_usd)}",
            *(f"warning: {one}" for one in self.warnings),
        ]
        return "\n  ".join(lines)

    @property
    def experiment_id(self) -> str:
        """The experiment's id."""
        return self.experiment.id

    @property
    def score(self) -> float | None:
        """The mean objective over all runs, errors as 0; None where no run was judged."""
        return self.summary.score if self.summary.measured else None

    @property
    def pass_rate(self) -> float | None:
        """Passed runs over all runs; None where no run was judged."""
        return self.summary.pass_rate if self.summary.measured else None

    @property
    def items(self) -> int:
        """Runs done."""
        return self.summary.runs

    @property
    def failed(self) -> int:
        """Runs that did not pass, errors included."""
        return self.summary.failed

    @property
    def errors(self) -> int:
        """Runs that ended in an error."""
        return self.summary.errors

    @property
    def chosen_by_baseline(self) -> bool:
        """Whether its items are those that failed in the baseline: chance alone lets some pass now."""
        selection = self.experiment.metadata.get("selection") or {}
        return self.baseline_id is not None and selection.get("failing_of") == self.baseline_id

    @property
    def usage(self) -> dict[str, Any]:
        """What was spent, in total and by purpose."""
        return {**self.summary.spending.to_json(), "cost_usd": self.summary.cost_usd}

    def to_json(self) -> dict[str, Any]:
        """The document that `burnish eval --json` prints."""
        score, passed = self.score_interval, self.pass_interval
        measured = self.summary.measured
        document: dict[str, Any] = {
            "experiment_id": self.experiment.id,
            "status": self.experiment.status.value,
            "agent_version": self.experiment.metadata.get("agent_version"),
            "score": self.score,
            "score_interval": [score.low, score.high] if measured else None,
            "pass_rate": self.pass_rate,
            "pass_interval": [passed.low, passed.high] if measured else None,
            "items": self.items,
            "failed": self.failed,
            "errors": self.errors,
            "cached": self.summary.cached,
            "usage": self.usage,
            "traffic": self.experiment.metadata.get("traffic") or Traffic().to_json(),
            "avg_latency_ms": self.summary.avg_latency_ms,
            "warnings": list(self.warnings),
            "refinement": None if self.refinement is None else self.refinement.to_json(),
        }
        if self.win_rates:
            document["win_rates"] = [one.to_json() for one in self.win_rates]
        if self.comparison is not None:
            level = level_by_hand(self.look)
            gains = self.comparison.delta > 0 and self.comparison.p_value < level
            gains = gains and not self.chosen_by_baseline
            told = comparison_json(self.comparison, self.baseline_id)
            document["baseline"] = {**told, "look": self.look, "level": level, "gain_counts": gains}
        if self.broken is not None:
            document["broken_items"] = self.broken.to_json()
        return document


async def result_of(
    repository: ExperimentRepository, experiment_id: str, scorers: ScorerSet | None = None
) -> EvaluationResult:
    """The result of a stored experiment, finished or not."""
    experiment = await repository.get_experiment(experiment_id)
    summary = await repository.summarise(experiment_id)
    scores = await repository.item_scores(experiment_id)
    labels: Sequence[str] = experiment.metadata.get("labels") or ()
    answers = await _answers(repository, experiment_id) if len(labels) > 1 else Counter()
    reported: Sequence[str] = experiment.metadata.get("reported") or ()
    silent = await _silent(repository, experiment_id, reported) if reported else []
    return EvaluationResult(
        experiment=experiment,
        summary=summary,
        score_interval=score_interval(list(scores.values())),
        pass_interval=await _pass_interval(repository, experiment_id, summary, len(scores)),
        answers=answers,
        warnings=(*_warnings(experiment, summary, answers), *silent),
        refinement=await refinement_of(repository, experiment),
        win_rates=await _win_rates(repository, experiment),
    )


async def _win_rates(
    repository: ExperimentRepository, experiment: Experiment
) -> tuple[WinRate, ...]:
    """How outputs fared by each judge that compares them with others."""
    names: Sequence[str] = experiment.metadata.get("pairwise") or ()
    found: dict[str, dict[str, list[float]]] = {name: {} for name in names}
    if not names:
        return ()
    async for result in repository.stream_results(experiment.id):
        for score in result.scores:
            if score.name in found and score.error is None:
                found[score.name].setdefault(result.item_id, []).append(score.value)
    rates = (WinRate.of(name, by_item) for name, by_item in found.items())
    return tuple(one for one in rates if one is not None)


async def _pass_interval(
    repository: ExperimentRepository, experiment_id: str, summary: ExperimentSummary, scored: int
) -> Interval:
    """The interval of the pass rate; repeats of an item are one value of it, how often it passed."""
    judged = summary.runs - summary.skipped
    if judged - summary.infrastructure_errors <= scored:
        return wilson_interval(summary.passed, judged)
    by_item: dict[str, list[bool]] = {}
    async for one in repository.stream_results(experiment_id):
        if one.error is None or one.error.kind is not ErrorKind.SKIPPED:
            by_item.setdefault(one.item_id, []).append(one.passed)
    return score_interval([sum(passed) / len(passed) for passed in by_item.values()])


async def refinement_of(
    repository: ExperimentRepository, experiment: Experiment
) -> RefinementStatistics | None:
    """What refinement did to its outputs; None where it was never asked for."""
    settings = experiment.metadata.get("refine")
    if settings is None:
        return None
    return await refinement_statistics(settings, repository.stream_round_scores(experiment.id))


def comparison_json(comparison: PairedComparison, baseline_id: str | None) -> dict[str, Any]:
    """A comparison as the CLI and the API print it."""
    return {
        "experiment_id": baseline_id,
        "items": comparison.items,
        "delta": comparison.delta,
        "ci_low": comparison.ci_low,
        "ci_high": comparison.ci_high,
        "p_value": comparison.p_value,
        "improved": comparison.improved,
        "worsened": comparison.worsened,
        "unchanged": comparison.unchanged,
    }


async def _answers(repository: ExperimentRepository, experiment_id: str) -> Counter[str]:
    """How often each answer was given; empty when there are too many kinds to count."""
    answers: Counter[str] = Counter()
    async for result in repository.stream_results(experiment_id):
        if result.output is None:
            continue
        answers[result.output.text] += 1
        if len(answers) > _MAX_ANSWERS:
            return Counter()
    return answers


async def _silent(
    repository: ExperimentRepository, experiment_id: str, reported: Sequence[str]
) -> list[str]:
    """Scorers that decide nothing and came to no verdict, with the commonest reason."""
    errors: dict[str, Counter[str]] = {name: Counter() for name in reported}
    runs = 0
    async for result in repository.stream_results(experiment_id):
        runs += 1
        for score in result.scores:
            if score.name in errors and (score.error or "").removesuffix(NOT_JUDGED):
                errors[score.name][str(score.error)] += 1
    return [
        f"{name} gave no verdict on {found.total():,} of {counted(runs, 'run')} (its weight is "
        f"0, so no score "
        f"suffers); the commonest reason: {found.most_common(1)[0][0]}"
        for name, found in errors.items()
        if found
    ]


def _warnings(
    experiment: Experiment, summary: ExperimentSummary, answers: Counter[str]
) -> tuple[str, ...]:
    found: list[str] = []
    labels: Sequence[str] = experiment.metadata.get("labels") or ()
    total = sum(answers.values())
    if len(labels) > 1 and total >= 10:
        answer, count = answers.most_common(1)[0]
        if count / total >= _COLLAPSED and (summary.pass_rate or 0.0) < _COLLAPSED:
            found.append(
                f"the agent answers {answer!r} to {count} of {counted(total, 'item')}: it has "
                f"collapsed to "
                "one label, so the score says little about the wording"
            )
    if skipped := experiment.metadata.get("skipped_judges"):
        found.append(
            f"{', '.join(map(str, skipped))}: not judged, because the criteria are missing or empty"
        )
    if experiment.limit_reached is not None:
        planned = experiment.planned_items or summary.runs
        found.append(
            f"{experiment.limit_reached}: {summary.runs:,} of {counted(planned, 'run')} were made; "
            f"`burnish eval --resume {experiment.id}` goes on, under the limits that it is given"
        )
    if summary.errors:
        effect = " and count as 0" if summary.measured else ": nothing was measured"
        found.append(
            f"{summary.errors} of {counted(summary.runs, 'run')} ended in an error{effect}"
        )
    return tuple(found)
