"""Functions with their prompts in a dict, in each form, as agents."""

import functools

import pytest

import burnish
from burnish.app.wiring import build_agent
from burnish.domain import Item, UsageError

PROMPTS = {"system": "Be kind.", "user": "{{q}}"}
ITEM = Item(id="1", data={"q": "why", "n": 3})


def by_position(prompts, item):
    return f"{prompts['system']} {item['q']}"


def by_keyword(item, *, prompts):
    return f"{prompts['system']} {item['q']}"


def by_names(item, *, system, user="unused"):
    return f"{system} {item['q']}"


def other_name(row, system):
    return f"{system} {row['q']}"


async def in_async(prompts, item):
    return f"{prompts['system']} {item['q']}"


class Callable:
    async def __call__(self, prompts, item):
        return f"{prompts['system']} {item['q']}"


def with_extra(prompts, item, extra="!"):
    return f"{prompts['system']} {item['q']}"


async def answer(spec, **sections):
    agent = build_agent(spec, None)
    try:
        configuration = spec.configuration.with_sections(sections)
        return await agent.run(configuration, ITEM, repeat=0)
    finally:
        await agent.close()


@pytest.mark.parametrize(
    "function",
    [
        *(by_position, by_keyword, by_names, other_name, in_async, Callable(), with_extra),
        functools.partial(with_extra, extra="?"),
    ],
)
async def test_every_form_gets_the_texts_that_are_tried(function):
    spec = burnish.from_function(function, PROMPTS)

    assert spec.configuration.sections == PROMPTS
    assert (await answer(spec)).text == "Be kind. why"
    assert (await answer(spec, system="Be brief.")).text == "Be brief. why"


async def test_parameters_and_examples_are_handed_over_and_each_call_has_its_own():
    def greedy(prompts, item, parameters, examples):
        seen = f"{prompts['system']} {parameters['t']} {len(examples)}"
        prompts.clear()
        parameters.clear()
        examples.clear()
        return seen

    example = {"input": {"q": "a"}, "output": "b"}
    spec = burnish.from_function(greedy, PROMPTS, parameters={"t": 1}, examples=[example])

    assert [(await answer(spec)).text for _ in range(2)] == ["Be kind. 1 1"] * 2


def test_other_code_is_another_agent():
    def prints(function, **options):
        return build_agent(burnish.from_function(function, PROMPTS, **options), None).fingerprint

    assert prints(by_position) == prints(by_position)
    assert prints(by_position) != prints(by_keyword)
    assert prints(by_position, version="1") != prints(by_position, version="2")
    assert burnish.from_function(by_position, PROMPTS).name == "by_position"


def two_things(prompts, item, other):
    return ""


def positional(prompts, item, /):
    return ""


@pytest.mark.parametrize(
    ("function", "prompts", "told"),
    [
        (two_things, PROMPTS, "what its argument 'other' is"),
        (lambda item: "", PROMPTS, "takes no prompt"),
        (positional, PROMPTS, "no name to call it by"),
        (by_position, {}, "not a dict"),
        (by_position, {"a b": "x"}, "not a section path"),
        ("text", PROMPTS, "it is a str"),
    ],
)
def test_what_cannot_be_called_is_refused_before_anything_runs(function, prompts, told):
    with pytest.raises(UsageError, match=told):
        burnish.from_function(function, prompts)


def test_a_function_is_evaluated(tmp_path):
    def shout(prompts, item):
        return item["q"].upper() if "loud" in prompts["system"].lower() else item["q"]

    rows = [{"q": f"word {n}", "expected": f"WORD {n}"} for n in range(12)]
    result = burnish.evaluate(
        burnish.from_function(shout, {"system": "Be loud."}),
        burnish.Suite(dataset=rows, scorers=["exact_match"]),
        db=tmp_path / "results.db",
    )

    assert result.score == 1.0
