"""Kill -9 in mid-conversation: nothing is paid and no tool called twice, but for calls in flight."""

import asyncio
import json
from collections import Counter

import pytest
from kills import die, killed

import burnish
from burnish.app.evaluate.evaluations import Evaluation
from burnish.app.wiring import Workspace
from burnish.domain import ModelResponse, ToolCall
from burnish.models.scripted import ScriptedModel

ITEMS, PAYMENTS = 6, 3
TALKS, TURNS = 4, 2


class Shop:
    """An agent that pays three times an item, and logs every call of its model and tool."""

    def __init__(self, folder):
        self.db = str(folder / "shop.db")
        self._log = folder / "calls.log"
        self.die_in, self.die_at = None, 0

    def note(self, *words):
        with self._log.open("a") as log:
            log.write(" ".join(map(str, words)) + "\n")
        # Tools run beside the model, in threads of their own: each looks at its own kind.
        if words[0] == self.die_in and len(self.calls(self.die_in)) >= self.die_at:
            die()

    def calls(self, kind):
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [line for line in lines if line.startswith(f"{kind} ")]

    def answer(self, request):
        spoken = sum(1 for one in request.messages if one.role == "assistant")
        customer = request.messages[0].content
        self.note("model", customer, spoken)
        if spoken == PAYMENTS:
            return "done"
        given = {"customer": customer, "part": spoken}
        return ModelResponse(text="", tool_calls=(ToolCall("", "pay", given),))

    def pay(self, customer: str, part: int, idempotency_key: str) -> str:
        """Pay a part."""
        self.note("tool", customer, part, idempotency_key)
        return "paid"

    def spec(self, section="{{customer}}"):
        model = ScriptedModel(self.answer)
        model.fingerprint = "payer/1"  # It is the same one, whether it kills or not.
        return burnish.Agent(
            name="payer",
            configuration={"sections": {"user": section}},
            model=model,
            tools=[{"run": self.pay, "version": "1"}],
            concurrency=2,
        )

    def suite(self):
        rows = [{"customer": f"c{number}"} for number in range(ITEMS)]
        return burnish.Suite(dataset=rows, scorers=[lambda output, item: output.text == "done"])

    async def evaluate(self, experiment_id=None):
        async with Workspace.open(self.db) as workspace:
            evaluation = Evaluation(workspace, self.spec(), self.suite())
            if experiment_id is None:
                return await evaluation.create()
            return await evaluation.resume(experiment_id)


class TalkingShop(Shop):
    """Customers are simulated: each asks for a payment a turn, then has what it wants."""

    def answer(self, request):
        messages = request.messages
        customer = next(one.content for one in messages if one.role == "user").split()[0]
        turn = sum(1 for one in messages if one.role == "user")
        paid = messages[-1].role == "tool"
        self.note("model", customer, turn, "after" if paid else "before")
        if paid:
            return f"paid {turn}"
        given = {"customer": customer, "part": turn}
        return ModelResponse(text="", tool_calls=(ToolCall("", "pay", given),))

    def speak(self, request):
        customer = request.messages[0].content.split("pay for ")[1].split()[0]
        spoken = request.messages[-1].content.count("wants part")
        self.note("user", customer, spoken)
        status = "goal_reached" if spoken == TURNS else "continue"
        return json.dumps({"status": status, "message": f"{customer} wants part {spoken}"})

    def spec(self):
        return super().spec("{{turn}}")

    def suite(self):
        user = ScriptedModel(self.speak)
        user.fingerprint = "customer/1"
        rows = [{"goal": f"pay for c{number}"} for number in range(TALKS)]
        return burnish.Suite(dataset=rows, scorers=["goal_reached"], user={"model": user})


def kill_in_call(shop, experiment, kind, number):
    """Let the work die in the number-th call of a kind."""

    def work():
        shop.die_in, shop.die_at = kind, number
        asyncio.run(shop.evaluate(experiment))

    killed(work)


@pytest.mark.parametrize(("kind", "number"), [("user", 8), ("model", 7), ("tool", 4)])
def test_a_killed_talk_with_a_simulated_user_goes_on_where_it_was(tmp_path, kind, number):
    shop = TalkingShop(tmp_path)
    experiment = asyncio.run(shop.evaluate())

    kill_in_call(shop, experiment, kind, number)
    before = len(shop.calls(kind))
    result = asyncio.run(shop.evaluate(experiment))

    assert before >= number
    assert (result.items, result.score) == (TALKS, 1.0)
    users, models = Counter(shop.calls("user")), Counter(shop.calls("model"))
    tools = Counter(shop.calls("tool"))
    assert len(users) == TALKS * (TURNS + 1) and len(models) == TALKS * TURNS * 2
    # A key for each payment, also for those that were asked for again.
    assert len(tools) == TALKS * TURNS
    assert len({line.rsplit(" ", 1)[1] for line in tools}) == TALKS * TURNS
    # Two talks run at once: more than two calls cannot have been under way.
    assert sum(count - 1 for count in (users + models + tools).values()) <= 2


@pytest.mark.parametrize(("kind", "number"), [("tool", 8), ("model", 11)])
def test_a_killed_conversation_goes_on_where_it_was(tmp_path, kind, number):
    shop = Shop(tmp_path)
    experiment = asyncio.run(shop.evaluate())

    kill_in_call(shop, experiment, kind, number)
    before = {one: len(shop.calls(one)) for one in ("model", "tool")}
    result = asyncio.run(shop.evaluate(experiment))

    assert before[kind] >= number
    assert (result.items, result.score) == (ITEMS, 1.0)
    models = Counter(shop.calls("model"))
    tools = Counter(line.rsplit(" ", 1)[0] for line in shop.calls("tool"))
    assert len(models) == ITEMS * (PAYMENTS + 1) and len(tools) == ITEMS * PAYMENTS
    # Two items run at once: more than two calls cannot have been under way.
    assert sum(count - 1 for count in (models + tools).values()) <= 2
    # Whatever was called again was called with the same key, and no key serves two calls.
    assert len(set(shop.calls("tool"))) == ITEMS * PAYMENTS
    assert len({line.rsplit(" ", 1)[1] for line in shop.calls("tool")}) == ITEMS * PAYMENTS


def test_records_go_once_the_experiment_is_completed(tmp_path):
    shop = Shop(tmp_path)
    experiment = asyncio.run(shop.evaluate())
    asyncio.run(shop.evaluate(experiment))

    async def kept():
        async with Workspace.open(shop.db) as workspace:
            results = [one async for one in workspace.experiments.stream_results(experiment)]
            return await workspace.tool_calls.load(f"{experiment}/{results[0].item_id}/0")

    assert asyncio.run(kept()) == {}
