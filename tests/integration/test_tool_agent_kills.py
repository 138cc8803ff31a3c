"""Kill -9 in mid-conversation: nothing is paid and no tool called twice, but for calls in flight."""

import asyncio
from collections import Counter

import pytest
from kills import die, killed

import burnish
from burnish.app.evaluate.evaluations import Evaluation
from burnish.app.wiring import Workspace
from burnish.domain import ModelResponse, ToolCall
from burnish.models.scripted import ScriptedModel

ITEMS, PAYMENTS = 6, 3


class Shop:
    """An agent that pays three times an item, and logs every call of its model and tool."""

    def __init__(self, folder):
        self.db = str(folder / "shop.db")
        self._log = folder / "calls.log"
        self.die_at = None

    def note(self, *words):
        with self._log.open("a") as log:
            log.write(" ".join(map(str, words)) + "\n")
        if self.die_at is not None and len(self.calls(words[0])) >= self.die_at:
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

    def spec(self):
        model = ScriptedModel(self.answer)
        model.fingerprint = "payer/1"  # It is the same one, whether it kills or not.
        return burnish.Agent(
            name="payer",
            configuration={"sections": {"user": "{{customer}}"}},
            model=model,
            tools=[{"run": self.pay, "version": "1"}],
            concurrency=2,
        )

    async def evaluate(self, experiment_id=None):
        rows = [{"customer": f"c{number}"} for number in range(ITEMS)]
        suite = burnish.Suite(dataset=rows, scorers=[lambda output, item: output.text == "done"])
        async with Workspace.open(self.db) as workspace:
            evaluation = Evaluation(workspace, self.spec(), suite)
            if experiment_id is None:
                return await evaluation.create()
            return await evaluation.resume(experiment_id)


@pytest.mark.parametrize(("kind", "number"), [("tool", 8), ("model", 11)])
def test_a_killed_conversation_goes_on_where_it_was(tmp_path, kind, number):
    shop = Shop(tmp_path)
    experiment = asyncio.run(shop.evaluate())

    def work():
        original = shop.note

        def note(*words):
            shop.die_at = number if words[0] == kind else None
            original(*words)

        shop.note = note
        asyncio.run(shop.evaluate(experiment))

    killed(work)
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
