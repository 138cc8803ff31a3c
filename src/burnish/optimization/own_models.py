"""Models that an optimizer asks by itself: their calls are spent money too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from burnish.domain import Model, ModelRequest, ModelResponse, Purpose, Spending
from burnish.optimization.budget_gate import BudgetGate

ModelOpener = Callable[[Any], Model]


class OwnModels:
    """Opens models whose calls count against the budget of a run."""

    def __init__(self, open_model: ModelOpener, gate: BudgetGate) -> None:
        self._open = open_model
        self._gate = gate

    def __call__(self, source: Any) -> Model:
        """A model of a name, of a function from text to text, or as it is."""
        return CountedModel(self._open(source), self._gate)


class CountedModel:
    """Asks only while the budget lasts, and adds each answer's cost to it."""

    def __init__(self, model: Model, gate: BudgetGate) -> None:
        self.name = model.name
        self.fingerprint = model.fingerprint
        self._model = model
        self._gate = gate

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The model's answer. Raises BudgetReached instead of starting a call too many."""
        with self._gate.asking():
            response = await self._model.complete(request)
        self._gate.spend_own(Spending.on(Purpose.PROPOSE, response.usage))
        return response

    async def close(self) -> None:
        """Nothing: whoever opened the model closes it."""
