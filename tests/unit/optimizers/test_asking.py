"""Questions side by side: one that fails costs its own proposal."""

import asyncio

import pytest

from burnish.domain import UnavailableError, UsageError
from burnish.models import as_model
from burnish.optimizers.shared import asking
from burnish.optimizers.shared.asking import Asker, all_answers

AWAY = UnavailableError(what="w", why="slow", fix="f")


async def answer(given):
    if isinstance(given, Exception):
        raise given
    return given


async def test_a_call_that_fails_costs_its_own_proposal():
    assert await all_answers(map(answer, ["a", AWAY, "b"])) == ["a", None, "b"]


@pytest.mark.parametrize(
    "given", [[AWAY, AWAY], ["a", UsageError(what="w", why="key", fix="f", code="bad_key")]]
)
async def test_what_no_next_call_does_better_is_raised(given):
    with pytest.raises((UnavailableError, UsageError)):
        await all_answers(map(answer, given))


async def test_questions_that_wait_for_each_other_have_the_time_of_all(monkeypatch):
    monkeypatch.setattr(asking, "_SECONDS", 0.2)
    turn, asked = asyncio.Lock(), []

    async def one_at_a_time(prompt):
        async with turn:
            asked.append(prompt)
            await asyncio.sleep(0.05)
            return prompt

    asker = Asker(one_at_a_time)
    asker.connect(as_model)

    found = await all_answers(asker.ask(f"q{n}", turn=n, beside=8) for n in range(8))

    assert found == [f"q{n}" for n in range(8)]
