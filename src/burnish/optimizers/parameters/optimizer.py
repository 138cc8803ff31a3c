"""The `parameters` optimizer: Optuna over the declared parameters, and over listed texts with them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from burnish.domain import (
    CandidateProposal,
    ExperimentStatus,
    OptimizerState,
    RunContext,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
    UsageError,
)
from burnish.optimizers.parameters.axes import Axes, Axis, Point, checked_texts, require_free
from burnish.optimizers.shared.acceptance import Fresh
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import HistorySearch, stop
from burnish.optimizers.shared.seeded_random import generator
from burnish.support.number_checks import bad_setting, require_target, require_whole

if TYPE_CHECKING:
    import optuna

SAMPLERS = ("tpe", "random")
_ATTEMPTS = 20
# Finite searches up to this size are tried out to the last point.
_COUNTABLE = 2_000


class Parameters(HistorySearch):
    """Draws values by Optuna's `sampler` (`tpe` or `random`), `startup` of them blindly.

    The space is the search space's parameters, such as model or temperature, and `sections`: texts to
    choose from by section path, beside the baseline's own. The study is rebuilt from the history in
    each step, so a killed run goes on as if nothing had happened. `target` ends the search at that
    score, and so do `patience` trials without a better one.
    """

    name = "parameters"

    def __init__(
        self,
        *,
        sampler: str = "tpe",
        startup: int = 8,
        sections: Mapping[str, Sequence[str]] | None = None,
        target: float | None = None,
        patience: int = 10,
    ) -> None:
        if sampler not in SAMPLERS:
            raise bad_setting(
                "parameters", "sampler", f"{sampler!r} is none of {', '.join(SAMPLERS)}"
            )
        self.sampler = sampler
        self.startup = require_whole("parameters", "startup", startup, least=1)
        self.sections = checked_texts("parameters", sections or {})
        self.target = require_target("parameters", target)
        self.patience = require_whole("parameters", "patience", patience, least=1)
        require_optuna()

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts; refuse texts for sections that are not there or not free."""
        require_free("parameters", self.sections, context)
        return super().initialize(context)

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """Points that were not tried yet."""
        facts = RunFacts.within(state)
        axes = Axes.of(facts, self.sections)
        if not axes.axes:
            return []
        in_flight = facts.in_flight(max_candidates)
        chance = generator(facts.seed, "parameters", state.generation, in_flight)
        study = Study(
            axes,
            _told(axes, history),
            sampler=self.sampler,
            startup=self.startup,
            seed=chance.randrange(2**31),
        )
        fresh = Fresh(facts, history)
        found = [self._asked(axes, study, fresh) for _ in range(max_candidates)]
        left = _untried(axes, fresh) or iter(())
        chosen = [next(left, None) if point is None else point for point in found]
        return [
            CandidateProposal(
                configuration=axes.configuration(point),
                parent_candidate_ids=(facts.baseline_candidate_id,),
                rationale=f"Try {axes.describe(point)}",
            )
            for point in chosen
            if point is not None
        ]

    def _exhausted(self, state: OptimizerState, history: TrialHistory) -> StopDecision | None:
        """When every point was tried."""
        facts = RunFacts.within(state)
        axes = Axes.of(facts, self.sections)
        if not axes.axes:
            return stop(
                "nothing varies: declare parameters in the search space, or list sections",
                StopReason.CONVERGENCE,
            )
        left = _untried(axes, Fresh(facts, history))
        if left is not None and next(left, None) is None:
            return stop(f"all {axes.size} points were tried", StopReason.CONVERGENCE)
        return None

    def _asked(self, axes: Axes, study: Study, fresh: Fresh) -> Point | None:
        for _ in range(_ATTEMPTS):
            point = study.ask()
            if fresh.take(axes.configuration(point)):
                return point
        return None


def _told(axes: Axes, history: TrialHistory) -> list[Told]:
    placed = [
        (axes.point(history.candidate(trial.candidate_id).configuration), trial)
        for trial in history.tried
    ]
    return [Told(point=point, trial=trial) for point, trial in placed if point is not None]


def _untried(axes: Axes, fresh: Fresh) -> Iterator[Point] | None:
    """Points of a finite search that may be proposed; None when they cannot be counted."""
    if axes.size is None or axes.size > _COUNTABLE:
        return None
    return (one for one in axes.every_point() if fresh.allows(axes.configuration(one)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A point that was tried, and what came of it."""

    point: Point
    trial: TrialResult


def require_optuna() -> None:
    """Refuse to start without it."""
    if find_spec("optuna") is None:
        raise UsageError(
            what="the optimizer 'parameters' cannot be used",
            why="it needs optuna, which is not installed",
            fix="pip install 'burnish[parameters]'",
            code="missing_extra",
        )


class Study:
    """Asks for points. Equal facts and seeds ask alike."""

    def __init__(
        self, axes: Axes, told: Sequence[Told], *, sampler: str, startup: int, seed: int
    ) -> None:
        with _quietly():
            import optuna  # noqa: PLC0415 - an extra, and slow to load

            self._optuna = optuna
            self._distributions = {axis.key: self._distribution(axis) for axis in axes.axes}
            self._study = optuna.create_study(
                direction="maximize", sampler=self._sampler(sampler, startup, seed)
            )
            for one in told:
                self._study.add_trial(self._trial(one))

    def ask(self) -> Point:
        """Another point; those that were asked before count as running."""
        with _quietly():
            return dict(self._study.ask(self._distributions).params)

    def _sampler(self, sampler: str, startup: int, seed: int) -> optuna.samplers.BaseSampler:
        if sampler == "random":
            return self._optuna.samplers.RandomSampler(seed=seed)
        return self._optuna.samplers.TPESampler(
            seed=seed, n_startup_trials=startup, multivariate=True, constant_liar=True
        )

    def _distribution(self, axis: Axis) -> optuna.distributions.BaseDistribution:
        kinds = self._optuna.distributions
        made: optuna.distributions.BaseDistribution
        if axis.options:
            made = kinds.CategoricalDistribution(tuple(range(len(axis.options))))
        elif axis.whole:
            made = kinds.IntDistribution(int(axis.low), int(axis.high))
        else:
            made = kinds.FloatDistribution(axis.low, axis.high)
        return made

    def _trial(self, told: Told) -> optuna.trial.FrozenTrial:
        states = self._optuna.trial.TrialState
        trial, score = told.trial, told.trial.objective_score
        outcome: dict[str, Any] = {"state": states.FAIL}
        if trial.counts and score is not None:
            outcome = {"state": states.COMPLETE, "value": score}
        elif trial.status is ExperimentStatus.PRUNED and score is not None:
            # Ended early: what it had until then counts below all complete ones.
            seen = {max(trial.summary.total_items, 1): score}
            outcome = {"state": states.PRUNED, "intermediate_values": seen}
        params = {
            key: int(place) if float(place).is_integer() and not self._is_float(key) else place
            for key, place in told.point.items()
        }
        return self._optuna.trial.create_trial(
            params=params, distributions=self._distributions, **outcome
        )

    def _is_float(self, key: str) -> bool:
        return isinstance(self._distributions[key], self._optuna.distributions.FloatDistribution)


@contextmanager
def _quietly() -> Iterator[None]:
    """Without Optuna's log, and without its warnings about settings that are new."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import optuna  # noqa: PLC0415

        before = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        try:
            yield
        finally:
            optuna.logging.set_verbosity(before)
