"""A real program of the real dspy, in the environment that `make bench` makes for it."""

import json
import subprocess
from pathlib import Path

import pytest
import rfc8785

from burnish.benchmarks.contestants import environments_folder

ROOT = Path(__file__).parents[2]
SCRIPT = """
import asyncio, json
import dspy
from dspy.utils import DummyLM
from burnish.app.wiring import build_agent
from burnish.integrations.dspy.programs import from_dspy, to_dspy
from burnish.domain import Configuration, Item


class Answer(dspy.Module):
    def __init__(self):
        super().__init__()
        self.plan = dspy.Predict("question -> plan")
        self.answer = dspy.ChainOfThought("question, plan -> answer")

    def forward(self, question):
        return self.answer(question=question, plan=self.plan(question=question).plan)


def run(module, configuration, answers):
    lm = DummyLM(answers)
    agent = build_agent(from_dspy(module, lm=lm), None)
    item = Item(id="1", data={"question": "Capital?", "label": "Lima"})
    output = asyncio.run(agent.run(configuration, item, repeat=0))
    return output, [json.dumps(one["messages"]) for one in lm.history]


program = Answer()
spec = from_dspy(program)
tried = spec.configuration.with_sections({"plan.instructions": "Plan in three steps."})
output, asked = run(program, tried, [{"plan": "look"}, {"reasoning": "r", "answer": "Lima"}])
winner = to_dspy(program, tried)

short = dspy.ChainOfThought("question -> answer")
short.predict.demos = [dspy.Example(question="q0", reasoning="r0", answer="a0")]
shown = from_dspy(short).configuration
example = {"input": {"question": "q1"}, "output": "a1"}
fewer = Configuration.of({**shown.to_json(), "examples": [example]})
_, asked_short = run(short, fewer, [{"reasoning": "r", "answer": "x"}])

print(json.dumps({
    "sections": list(spec.configuration.sections),
    "text": output.text,
    "data": output.data,
    "steps": [one["section"] for one in output.trace],
    "calls": output.spending.total.calls,
    "asked": ["Plan in three steps." in one for one in asked],
    "unchanged": "three steps" not in program.plan.signature.instructions,
    "winner": winner.plan.signature.instructions,
    "examples": [dict(one) for one in shown.examples],
    "demo_asked": "q1" in asked_short[0] and "q0" not in asked_short[0],
    "demos_kept": short.predict.demos[0].answer,
    "version": from_dspy(program, lm=dspy.LM("openai/x")).version or "",
}))
"""


def test_a_program_runs_under_configurations_and_takes_the_winner_back(tmp_path):
    python = next(
        (
            found
            for folder in (environments_folder(), ROOT / ".bench-venvs")
            if (found := folder / "dspy" / "bin" / "python").exists()
        ),
        None,
    )
    if python is None:
        pytest.skip("there is no environment with dspy: `make bench` makes one")
    # Of ours, only this is not among what dspy brings along.
    (tmp_path / "rfc8785").symlink_to(Path(rfc8785.__file__).parent)
    done = subprocess.run(
        [python, "-c", SCRIPT],
        env={"PYTHONPATH": f"{ROOT / 'src'}:{tmp_path}", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr

    seen = json.loads(done.stdout.splitlines()[-1])

    assert seen["version"].startswith("dspy-")
    del seen["version"]
    assert seen == {
        "sections": ["plan.instructions", "answer.predict.instructions"],
        "text": "Lima",
        "data": {"reasoning": "r", "answer": "Lima"},
        "steps": ["plan.instructions", "answer.predict.instructions"],
        "calls": 2,
        "asked": [True, False],
        "unchanged": True,
        "winner": "Plan in three steps.",
        "examples": [
            {"input": {"question": "q0"}, "output": '{"reasoning": "r0", "answer": "a0"}'}
        ],
        "demo_asked": True,
        "demos_kept": "a0",
    }
