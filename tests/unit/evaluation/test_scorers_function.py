import asyncio
import functools
import threading
from decimal import Decimal

import pytest

from burnish.domain import AgentOutput, Item, Score, UsageError
from burnish.evaluation.scorers.function_scorer import FunctionScorer

ITEM = Item(id="i1", data={"label": "positive"}, split="train")
OUTPUT = AgentOutput(text="positive", data={"n": 1}, trace=["step"])


async def result_of(function, **settings):
    return await FunctionScorer(function, **settings).score(OUTPUT, ITEM)


async def test_a_function_sees_text_and_a_dict():
    seen = {}

    def check(output, item):
        seen.update(item, id=item.id, split=item.split, data=output.data, trace=output.trace)
        return output == item["label"]

    score = await result_of(check)

    assert (score.value, score.name, score.error) == (1.0, "check", None)
    assert seen["id"] == "i1"
    assert (seen["split"], seen["data"], seen["trace"]) == ("train", {"n": 1}, ["step"])


async def test_what_a_function_changes_does_not_reach_the_item():
    def spoil(output, item):
        item["label"] = "negative"
        return 1

    await result_of(spoil)

    assert ITEM.data == {"label": "positive"}


@pytest.mark.parametrize(
    ("returned", "value", "reason", "passed"),
    [
        (0.25, 0.25, "", None),
        (1, 1.0, "", None),
        (False, 0.0, "", None),
        (Decimal("0.5"), 0.5, "", None),
        (Score(0.5, "meh", False, "own"), 0.5, "meh", False),
        ({"score": 0.5, "reason": "meh"}, 0.5, "meh", None),
        ({"value": True, "passed": True}, 1.0, "", True),
    ],
)
async def test_what_may_be_returned(returned, value, reason, passed):
    score = await result_of(lambda output, item: returned, name="mine")

    assert (score.value, score.reason, score.passed) == (value, reason, passed)
    assert (score.name, score.error) == ("mine", None)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (None, "returned None"),
        ("0.5", "returned '0.5' (str)"),
        (float("nan"), "returned nan"),
        (10**400, "returned inf"),
        ((1, "why"), "(tuple)"),
        ({"reason": "x"}, "no 'score'"),
        ({"score": "high"}, "returned 'high'"),
        ({"score": float("inf")}, "returned inf"),
    ],
)
async def test_anything_else_is_an_error_that_says_so(returned, message):
    score = await result_of(lambda output, item: returned)

    assert score.value == 0.0
    assert message in score.error


async def test_an_exception_becomes_an_error_with_its_place():
    def broken(output, item):
        return len(item["label"]) + None

    score = await result_of(broken)

    assert score.value == 0.0
    assert score.error.startswith("TypeError: unsupported operand")
    assert "(test_scorers_function.py:" in score.error


async def test_a_function_that_exits_does_not_end_the_run():
    def leave(output, item):
        raise SystemExit(3)

    assert (await result_of(leave)).error.startswith("SystemExit: 3")


async def test_cancellation_passes_through():
    async def endless(output, item):
        await asyncio.Event().wait()

    task = asyncio.create_task(result_of(endless))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_async_functions_and_async_objects_are_awaited():
    async def later(output, item):
        return 0.5

    class Judge:
        async def __call__(self, output, item):
            return 0.75

    assert (await result_of(later)).value == 0.5
    assert (await result_of(Judge())).value == 0.75
    assert (await result_of(lambda output, item: later(output.upper(), item))).value == 0.5
    assert FunctionScorer(later).instant is False
    assert FunctionScorer(Judge()).instant is False
    assert FunctionScorer(Judge()).name == "Judge"


async def test_a_plain_function_runs_on_the_loop_and_a_blocking_one_in_a_thread():
    def where(output, item):
        return threading.current_thread() is threading.main_thread()

    assert (await result_of(where)).value == 1.0
    assert (await result_of(where, blocking=True)).value == 0.0


async def test_an_exception_in_a_thread_becomes_an_error_too():
    def broken(output, item):
        raise ValueError("no")

    assert (await result_of(broken, blocking=True)).error.startswith("ValueError: no (test_")


async def test_a_partial_keeps_its_functions_name():
    def near(limit, output, item):
        return limit

    score = await result_of(functools.partial(near, 0.5))

    assert (score.value, score.name) == (0.5, "near")


def test_wrong_parameters_are_refused_before_the_run():
    with pytest.raises(UsageError, match="def score"):
        FunctionScorer(lambda output: 1)
    with pytest.raises(UsageError, match="cannot be called"):
        FunctionScorer("score")


def test_the_fingerprint_follows_the_code_or_the_version():
    def make(limit):
        return lambda output, item: limit

    assert FunctionScorer(make(1)).fingerprint == FunctionScorer(make(1)).fingerprint
    assert FunctionScorer(make(1)).fingerprint != FunctionScorer(make(2)).fingerprint
    assert FunctionScorer(make(object())).fingerprint is None
    assert FunctionScorer(make(object()), version="1").fingerprint is not None
