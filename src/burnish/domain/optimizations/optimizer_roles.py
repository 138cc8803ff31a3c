"""Optimizer roles: what an optimizer may do besides, such as choose the winner or ask models."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, runtime_checkable

from burnish.domain.json_values import Json
from burnish.domain.models import Model
from burnish.domain.optimizations.optimizer import OptimizerState, TrialHistory


@runtime_checkable
class WinnerChooser(Protocol):
    """An optimizer that says itself which candidate is best, where that is not the best score.

    It is asked after every step. What it names counts once it has had its trial.
    """

    def choice(
        self, state: OptimizerState, history: TrialHistory
    ) -> str | Awaitable[str | None] | None: ...


@runtime_checkable
class ConfirmedChooser(WinnerChooser, Protocol):
    """One whose choice stands: it runs regressions again itself, and looks for more than a score."""

    confirms_regressions: bool


@runtime_checkable
class SearchReporter(Protocol):
    """An optimizer that says at the end what its search learnt.

    It is asked once; the result keeps what it says under `search`. `winner_id` is the run's winner.
    """

    def report(
        self, state: OptimizerState, history: TrialHistory, winner_id: str
    ) -> Mapping[str, Json] | Awaitable[Mapping[str, Json]]: ...


@runtime_checkable
class ModelUser(Protocol):
    """An optimizer that asks models of its own.

    `connect` comes before every other call. What it opens (a name, a Model or a function from text to
    text) is counted in the run's usage and budget, and remembered in its call cache.
    """

    def connect(self, open_model: Callable[[Any], Model]) -> None: ...
