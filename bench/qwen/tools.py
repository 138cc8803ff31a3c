"""`python -m bench qwen-tools`: the embedded model calls tools by grammar; does optimizing help?"""

from __future__ import annotations

from collections.abc import Sequence

import burnish
from bench.qwen.library import QUESTIONS, SYSTEM, TOOLS
from bench.qwen.runs import measure, open_kept, parse, shuffled

_SHARES = {"train": 20, "validation": 20, "test": 20}
_EVALUATIONS = 120


def main(arguments: Sequence[str]) -> None:
    """Measure before and after."""
    options = parse("qwen-tools", arguments)
    rows = [{"question": question, "expected": answer} for question, answer in QUESTIONS]
    agent = burnish.Agent(
        name="desk",
        configuration={
            "sections": {"system": SYSTEM, "user": "{{question}}"},
            "parameters": {"temperature": 0, "max_tokens": 96},
        },
        model=open_kept("qwen-tools"),
        tools=[{"run": tool, "version": "1"} for tool in TOOLS],
        max_steps=4,
        concurrency=1,
        timeout_seconds=None,
    )
    suite = burnish.Suite(
        dataset=shuffled(rows, _SHARES),
        scorers=[{"kind": "contains", "field": "expected", "ignore_case": True}],
        split="field",
    )
    title = "Qwen2.5-Coder-1.5B as an agent with tools"
    measure("qwen-tools", title, agent, suite, options, _EVALUATIONS)
