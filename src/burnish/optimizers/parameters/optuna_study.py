"""An Optuna study that is rebuilt for each step: what it knows is told, and what it draws is seeded."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from burnish.domain import ExperimentStatus, TrialResult, UsageError
from burnish.optimizers.parameters.axes import Axes, Axis, Point

if TYPE_CHECKING:
    import optuna

SAMPLERS = ("tpe", "random")


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
