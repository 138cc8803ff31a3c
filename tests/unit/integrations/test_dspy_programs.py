"""DSPy programs as agents, on stand-ins with dspy's attributes; dspy itself is in integration."""

import copy
import sys

import pytest

import burnish
from burnish.app.wiring import build_agent
from burnish.domain import Configuration, Item, UsageError
from burnish.integrations.frameworks.framework_agent import as_ours


class Signature:
    def __init__(self, instructions, inputs, outputs):
        self.instructions = instructions
        self.input_fields = dict.fromkeys(inputs)
        self.output_fields = dict.fromkeys(outputs)

    def with_instructions(self, text):
        return Signature(text, self.input_fields, self.output_fields)


class Predictor:
    def __init__(self, instructions, inputs=("question",), outputs=("reasoning", "answer")):
        self.signature = Signature(instructions, inputs, outputs)
        self.demos = []


class Prediction(dict):
    def toDict(self):
        return dict(self)


class Program:
    """What `dspy.Module` has: predictors by name, a call, and a copy."""

    def __init__(self, **predictors):
        self.predictors = predictors
        self.seen = []

    def named_predictors(self):
        return [(name.replace("__", "."), one) for name, one in self.predictors.items()]

    def dump_state(self):
        return {name: one.signature.instructions for name, one in self.predictors.items()}

    def forward(self, question):
        first = next(iter(self.predictors.values()))
        return Prediction(reasoning="because", answer=f"{first.signature.instructions} {question}")

    def __call__(self, **given):
        return self.forward(**given)


@pytest.fixture(autouse=True)
def without_dspy(monkeypatch):
    monkeypatch.delitem(sys.modules, "dspy", raising=False)


async def run(spec, configuration=None, **fields):
    agent = build_agent(spec, None)
    try:
        chosen = configuration or spec.configuration
        return await agent.run(chosen, Item(id="1", data=fields), repeat=0)
    finally:
        await agent.close()


async def test_instructions_are_sections_and_the_program_stays_as_it_is():
    program = Program(plan=Predictor("Plan."), answer__predict=Predictor("Answer."))
    spec = burnish.from_dspy(program)
    changed = spec.configuration.with_sections({"plan.instructions": "Plan well."})

    output = await run(spec, changed, question="why?", label="unused")

    assert spec.configuration.sections == {
        "plan.instructions": "Plan.",
        "answer.predict.instructions": "Answer.",
    }
    assert output.text == "Plan well. why?"
    assert output.data == {"reasoning": "because", "answer": "Plan well. why?"}
    assert program.predictors["plan"].signature.instructions == "Plan."


def test_names_become_paths_that_are_unique():
    predictors = [
        ("self", Predictor("a")),
        ("steps[0]", Predictor("b")),
        ("tools['my tool'].predict", Predictor("c")),
        ("tools.my-tool.predict", Predictor("d")),
        ("0", Predictor("e")),
    ]
    program = Program()
    program.named_predictors = lambda: predictors

    assert list(burnish.from_dspy(program).configuration.sections) == [
        "self.instructions",
        "steps.0.instructions",
        "tools.my-tool.predict.instructions",
        "tools.my-tool.predict-2.instructions",
        "_0.instructions",
    ]


def test_demos_are_examples_there_and_back():
    program = Program(answer=Predictor("Answer."))
    program.predictors["answer"].demos = [
        {"question": "a", "answer": "b"},
        {"question": "c", "reasoning": "d", "answer": "e", "augmented": True},
    ]
    spec = burnish.from_dspy(program)
    again = burnish.to_dspy(program, spec.configuration)
    shorter = Configuration.of(
        {
            **spec.configuration.to_json(),
            "examples": [
                {"input": {"question": "x", "label": "-"}, "output": "y"},
                {"input": {"question": "z"}, "output": '{"reasoning": "r", "answer": "w"}'},
            ],
        }
    )
    changed = burnish.to_dspy(program, shorter)

    assert spec.configuration.examples == (
        {"input": {"question": "a"}, "output": "b"},
        {"input": {"question": "c"}, "output": '{"reasoning": "d", "answer": "e"}'},
    )
    assert again.predictors["answer"].demos == program.predictors["answer"].demos
    assert changed.predictors["answer"].demos == [
        {"question": "x", "answer": "y"},
        {"question": "z", "reasoning": "r", "answer": "w"},
    ]
    assert len(program.predictors["answer"].demos) == 2


def test_demos_of_several_predictors_say_whose_they_are():
    program = Program(plan=Predictor("Plan."), answer=Predictor("Answer."))
    program.predictors["answer"].demos = [{"question": "a", "answer": "b"}]
    configuration = burnish.from_dspy(program).configuration
    unclear = {**configuration.to_json(), "examples": [{"input": {}, "output": "x"}]}
    none = {**configuration.to_json(), "examples": []}

    assert configuration.examples[0]["predictor"] == "answer.instructions"
    assert burnish.to_dspy(program, none).predictors["answer"].demos == []
    with pytest.raises(UsageError, match="of which predictor"):
        burnish.to_dspy(program, unclear)


def test_demos_that_are_no_json_stay_in_the_program():
    program = Program(answer=Predictor("Answer."))
    program.predictors["answer"].demos = [{"question": object(), "answer": "b"}]

    spec = burnish.from_dspy(program)

    assert spec.configuration.examples == ()
    assert len(burnish.to_dspy(program, spec.configuration).predictors["answer"].demos) == 1


async def test_fields_can_be_named():
    program = Program(answer=Predictor("Answer."))
    spec = burnish.from_dspy(program, input_fields=["question"], output_field="reasoning")

    assert (await run(spec, question="why?")).text == "because"
    with pytest.raises(UsageError, match="none of question"):
        await run(spec, other=1)
    with pytest.raises(UsageError, match="gave no 'nothing'"):
        await run(burnish.from_dspy(program, output_field="nothing"), question="?")


def test_only_a_known_model_makes_results_reusable():
    program = Program(answer=Predictor("Answer."))

    assert burnish.from_dspy(program).version is None
    assert burnish.from_dspy(program, version="3").version == "3"
    with pytest.raises(UsageError, match="dspy is not loaded"):
        burnish.from_dspy(program, lm="openai/gpt-4o-mini")


class Shared(Program):
    def deepcopy(self):
        return copy.copy(self)


@pytest.mark.parametrize(
    ("module", "told"),
    [
        (object(), "not a dspy.Module"),
        (Program, "not a dspy.Module"),
        (Program(), "has no predictors"),
    ],
)
def test_what_is_no_program_is_refused(module, told):
    with pytest.raises(UsageError, match=told):
        burnish.from_dspy(module)


def test_a_program_that_cannot_be_copied_is_never_changed():
    program = Shared(answer=Predictor("Answer."))

    with pytest.raises(UsageError, match="shares predictors"):
        burnish.to_dspy(program, {"sections": {"answer.instructions": "Other."}})
    assert program.predictors["answer"].signature.instructions == "Answer."


def test_a_configuration_of_another_program_is_refused():
    with pytest.raises(UsageError, match="no section 'other.instructions'"):
        burnish.to_dspy(Program(a=Predictor("A")), {"sections": {"other.instructions": "x"}})


def test_an_error_that_was_raised_from_itself_is_still_the_agents_own():
    error = KeyError("x")
    error.__cause__ = error

    assert as_ours(error, "DSPy") is error
