"""Agents: what a prompt sends and reads, what a function gets and may return."""

import asyncio
import json
import re
import threading

import pytest

from burnish.domain import (
    AgentOutput,
    Configuration,
    Item,
    Message,
    ModelResponse,
    Usage,
    UsageError,
)
from burnish.evaluation.agents import PromptAgent, PythonAgent, as_output
from burnish.evaluation.agents.prompt_agent import label_bias, read_label
from burnish.evaluation.item_runner import describe
from burnish.evaluation.views import ItemView
from burnish.models.catalog import CachedModel
from burnish.models.scripted import ScriptedModel
from burnish.support.threads import DaemonThreads

ITEM = Item(id="1", data={"review": "Dull.", "label": "negative"})


class FakeModel:
    name = "fake/model"

    def __init__(self, answer="positive", fingerprint="m1"):
        self.answer = answer
        self.fingerprint = fingerprint
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        return ModelResponse(text=self.answer, usage=Usage(calls=1, input_tokens=7))

    async def close(self):
        pass


def prompt_agent(model, sections, **more):
    configuration = Configuration.of(
        {
            "sections": sections,
            "parameters": more.pop("parameters", {}),
            "examples": more.pop("examples", []),
        }
    )
    return PromptAgent(name="p", configuration=configuration, model=model, **more)


async def test_sections_become_messages_in_the_declared_order():
    model = FakeModel()
    agent = prompt_agent(
        model,
        {"system": "Judge.", "user": "{{review}}", "system.rules": "Be brief.", "tone": "Calm."},
    )

    await agent.run(agent.configuration, ITEM, repeat=0)

    assert model.requests[0].messages == (
        Message("system", "Judge.\n\nBe brief.\n\nCalm."),
        Message("user", "Dull."),
    )


async def test_an_answer_of_the_call_cache_is_told_with_what_it_took_when_it_was_paid():
    class Cache(dict):
        async def get(self, key):
            return dict.get(self, key)

        async def put(self, key, value):
            self[key] = value

    agent = prompt_agent(CachedModel(FakeModel(), Cache()), {"user": "{{review}}"})

    first, second = [await agent.run(agent.configuration, ITEM, repeat=0) for _ in range(2)]

    assert (first.spending.total.input_tokens, first.reused.total.input_tokens) == (7, 0)
    assert (second.spending.total.input_tokens, second.reused.total.input_tokens) == (0, 7)
    assert first.latency_ms is None
    assert second.latency_ms is not None


async def test_the_declared_order_holds_for_a_configuration_in_another_order():
    model = FakeModel()
    agent = prompt_agent(model, {"system.a": "A", "system.b": "B", "user": "{{review}}"})
    other = Configuration.of(
        {"sections": {"user": "{{review}}", "system.b": "B2", "system.a": "A"}}
    )

    await agent.run(other, ITEM, repeat=0)

    assert model.requests[0].messages[0].content == "A\n\nB2"


async def test_examples_are_turns_before_the_item():
    model = FakeModel()
    agent = prompt_agent(
        model,
        {"system": "Judge.", "user": "Review: {{review}}"},
        labels=["positive", "negative"],
        parameters={"label_words": {"positive": "good", "negative": "bad"}},
        examples=[{"input": {"review": "Superb."}, "output": "positive"}],
    )

    await agent.run(agent.configuration, ITEM, repeat=0)

    assert [(m.role, m.content) for m in model.requests[0].messages] == [
        ("system", "Judge."),
        ("user", "Review: Superb."),
        ("assistant", "good"),
        ("user", "Review: Dull."),
    ]


async def test_label_words_constrain_the_model_and_are_read_back_as_labels():
    model = FakeModel(answer="Bad.")
    agent = prompt_agent(
        model,
        {"user": "{{review}}"},
        labels=["positive", "negative"],
        parameters={"label_words": {"positive": "good", "negative": "bad"}, "temperature": 0.5},
    )

    output = await agent.run(agent.configuration, ITEM, repeat=2)

    request = model.requests[0]
    assert output.text == "negative"
    assert output.trace == {"answer": "Bad."}
    assert request.labels == ("good", "bad")
    assert request.parameters == {"temperature": 0.5}
    assert request.repeat == 2
    assert output.spending.by_purpose["agent"].input_tokens == 7


async def test_probabilities_of_label_words_are_told_by_label():
    class Telling(FakeModel):
        async def complete(self, request):
            return ModelResponse(text="good", label_logprobs={"good": -0.1, "bad": -2.0})

    agent = prompt_agent(
        Telling(),
        {"user": "{{review}}"},
        labels=["positive", "negative"],
        parameters={"label_words": {"positive": "good", "negative": "bad"}},
    )

    output = await agent.run(agent.configuration, ITEM, repeat=0)

    assert output.trace["label_logprobs"] == {"positive": -0.1, "negative": -2.0}


async def test_a_bias_is_added_before_the_likeliest_label_is_the_answer():
    asked = []

    def answer(request):
        asked.append(request.parameters)
        return ModelResponse(text="good", label_logprobs={"good": -0.1, "bad": -2.0})

    model = ScriptedModel(answer)
    agent = prompt_agent(
        model,
        {"user": "{{review}}"},
        labels=("positive", "negative"),
        parameters={
            "label_words": {"positive": "good", "negative": "bad"},
            "label_bias": {"positive": -1.0, "negative": 1.0},
        },
    )

    output = await agent.run(agent.configuration, ITEM, repeat=0)

    assert output.text == "negative"
    assert output.trace["answer"] == "good"
    assert asked == [{"label_logprobs": True}]


async def test_a_bias_needs_a_model_that_tells_how_likely_labels_are():
    labels = ("positive", "negative")
    agent = prompt_agent(
        ScriptedModel(["positive"]),
        {"user": "{{review}}"},
        labels=labels,
        parameters={"label_bias": {"positive": -1.0}},
    )

    with pytest.raises(UsageError, match="label_bias"):
        await agent.run(agent.configuration, ITEM, repeat=0)
    for given in ([1], {"other": 1.0}, {"positive": "much"}, {"positive": True}):
        with pytest.raises(UsageError, match="label_bias"):
            label_bias(labels, {"label_bias": given})


async def test_an_output_schema_is_passed_on_and_its_answer_parsed():
    model = FakeModel(answer='{"label": "x"}')
    schema = {"type": "object"}
    agent = prompt_agent(model, {"user": "{{review}}"}, output_schema=schema)

    output = await agent.run(agent.configuration, ITEM, repeat=0)

    assert model.requests[0].schema == schema
    assert output.data == {"label": "x"}


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("positive", "positive"),
        (" Positive.\n", "positive"),
        ("**negative**", "negative"),
        ("The answer is negative, I think", "negative"),
        ("positive or negative", None),
        ("unpositive", None),
        ("", None),
    ],
)
def test_a_label_is_read_only_when_it_is_clear(text, label):
    assert read_label(text, {"positive": "positive", "negative": "negative"}) == label


@pytest.mark.parametrize(
    "words",
    [{"good": "x"}, {"positive": "same", "negative": "same"}, {"positive": ""}, "text"],
)
def test_label_words_that_cannot_be_told_apart_are_refused(words):
    with pytest.raises(UsageError, match="label_words"):
        prompt_agent(
            FakeModel(),
            {"user": "{{review}}"},
            labels=["positive", "negative"],
            parameters={"label_words": words},
        )


def test_a_prompt_without_a_placeholder_would_never_see_the_item():
    with pytest.raises(UsageError, match="never see its item"):
        prompt_agent(FakeModel(), {"system": "Judge."})


def test_the_fingerprint_follows_model_labels_and_order():
    sections = {"system.a": "A", "system.b": "B", "user": "{{review}}"}
    turned = {"system.b": "B", "system.a": "A", "user": "{{review}}"}
    prints = {
        prompt_agent(FakeModel(), sections).fingerprint,
        prompt_agent(FakeModel(fingerprint="m2"), sections).fingerprint,
        prompt_agent(FakeModel(), sections, labels=["a", "b"]).fingerprint,
        prompt_agent(FakeModel(), turned).fingerprint,
    }

    assert len(prints) == 4


def python_agent(run, **more):
    configuration = Configuration.of({"sections": {"system": "S {{review}}"}})
    return PythonAgent(name="p", configuration=configuration, run=run, **more)


def test_a_function_that_takes_no_configuration_is_refused_before_anything_runs():
    with pytest.raises(UsageError, match=r"answer\(item\) cannot be called with a configuration"):

        def answer(item):
            return item

        python_agent(answer)


def test_an_error_names_the_line_that_asked_and_not_the_library():
    item = ItemView(ITEM)
    for wrong in (lambda: item["labl"], lambda: json.loads("{")):
        with pytest.raises(Exception, match=".") as raised:
            wrong()

        assert re.search(r"\(test_agents\.py:\d+\)$", describe(raised.value))


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_function_gets_plain_dicts(is_async):
    def plain(configuration, item):
        assert item["review"] == "Dull."
        assert item.id == "1"
        return configuration["sections"]["system"] + configuration.render("system", item)

    async def asynchronous(configuration, item):
        return plain(configuration, item)

    agent = python_agent(asynchronous if is_async else plain)

    output = await agent.run(agent.configuration, ITEM, repeat=0)

    assert output.text == "S {{review}}S Dull."
    await agent.close()


async def test_what_a_function_changes_does_not_reach_the_next_item():
    def spoil(configuration, item):
        before = dict(configuration["sections"])
        configuration["sections"]["system"] = "spoilt"
        item["review"] = "spoilt"
        return str(before)

    agent = python_agent(spoil)
    first = await agent.run(agent.configuration, ITEM, repeat=0)
    second = await agent.run(agent.configuration, ITEM, repeat=0)

    assert first.text == second.text
    assert ITEM.data["review"] == "Dull."
    await agent.close()


def test_answers_of_other_kinds_become_text_and_data():
    assert as_output(AgentOutput(text="x")).text == "x"
    assert as_output(3).text == "3"
    assert as_output({"a": [1]}) == AgentOutput(text='{"a": [1]}', data={"a": [1]})
    with pytest.raises(UsageError, match="returned nothing"):
        as_output(None)
    with pytest.raises(UsageError, match="set is not a JSON type"):
        as_output({1, 2})


async def test_plain_functions_run_side_by_side_up_to_the_limit():
    threads = DaemonThreads(3)
    together = threading.Barrier(3, timeout=600)

    results = await asyncio.gather(*(threads.run(together.wait) for _ in range(3)))

    assert sorted(results) == [0, 1, 2]
    threads.close()


async def test_an_exception_of_a_thread_reaches_the_caller_and_a_hung_one_nobody():
    threads = DaemonThreads(2)
    release = threading.Event()

    def exit_now():
        raise SystemExit(3)

    with pytest.raises(ZeroDivisionError):
        await threads.run(lambda: 1 / 0)
    with pytest.raises(RuntimeError, match="SystemExit: 3"):
        await threads.run(exit_now)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await threads.run(release.wait)
    assert await threads.run(lambda: "still works") == "still works"
    release.set()
    threads.close()


async def test_functions_see_the_row_as_it_was_written():
    item = Item(id="r1", data={"q": "x"}, split="test")
    agent = python_agent(lambda configuration, item: f"{item['id']} {item['split']} {item['q']}")

    output = await agent.run(agent.configuration, item, repeat=0)

    assert output.text == "r1 test x"
    assert item.hash == Item(id="other", data={"q": "x"}).hash


async def test_a_label_that_a_refusal_names_is_no_answer():
    text = "I will not call it positive."
    model = ScriptedModel([ModelResponse(text=text, finish_reason="refusal")])
    agent = prompt_agent(model, {"user": "{{review}}"}, labels=["positive", "negative"])

    output = await agent.run(agent.configuration, ITEM, repeat=0)

    assert read_label(text, {"positive": "positive"}) == "positive"
    assert (output.text, output.finish_reason) == (text, "refusal")
