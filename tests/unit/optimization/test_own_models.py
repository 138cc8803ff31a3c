"""An optimizer's own calls: counted, limited, kept over a resume."""

from __future__ import annotations

import pytest

from burnish.domain import (
    Budget,
    Model,
    ModelRequest,
    ModelUser,
    Purpose,
    RunContext,
    SystemClock,
)
from burnish.models import as_model
from burnish.optimization.budget_gate import BudgetGate, BudgetReached, OwnModels
from burnish.optimizers.shared.asking import Asker


def _models(limit: int | None = None) -> tuple[OwnModels, BudgetGate]:
    gate = BudgetGate(Budget(max_calls=limit), SystemClock())
    return OwnModels(as_model, gate), gate


async def test_an_own_call_is_counted_as_proposing() -> None:
    models, gate = _models()
    model: Model = models(lambda prompt: prompt.upper())

    answer = await model.complete(ModelRequest.text("abc"))

    assert answer.text == "ABC"
    assert gate.own.by_purpose[Purpose.PROPOSE.value].calls == 1
    assert gate.spending.total.calls == 1


async def test_no_call_starts_once_the_budget_is_spent() -> None:
    models, gate = _models(limit=2)
    asked = []
    model = models(lambda prompt: asked.append(prompt) or "x")

    await model.complete(ModelRequest.text("1"))
    await model.complete(ModelRequest.text("2"))
    with pytest.raises(BudgetReached, match="max_calls"):
        await model.complete(ModelRequest.text("3"))

    assert asked == ["1", "2"]
    assert gate.spending.total.calls == 2


async def test_equal_prompts_of_one_batch_are_told_apart() -> None:
    turns = []

    class Counting:
        name = fingerprint = "counting"

        async def complete(self, request: ModelRequest):
            turns.append(request.repeat)
            return await as_model(lambda _: "x").complete(request)

        async def close(self) -> None: ...

    asker = Asker(Counting())
    asker.connect(lambda source: source)

    await asker.ask_all(["a", "a", "b"])

    assert sorted(turns) == [0, 0, 1]


async def test_asking_without_a_model_says_what_to_do() -> None:
    asker = Asker(None)
    assert not asker.available
    with pytest.raises(Exception, match="cannot be asked"):
        await asker.ask("x")


def test_only_optimizers_with_connect_are_model_users() -> None:
    class Plain:
        name = "plain"

        def initialize(self, context: RunContext): ...

    class Asking(Plain):
        def connect(self, open_model): ...

    assert not isinstance(Plain(), ModelUser)
    assert isinstance(Asking(), ModelUser)
