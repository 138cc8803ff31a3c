"""`python -m bench qwen-judge`: the embedded model as a judge, its criteria optimized on labels."""

from __future__ import annotations

import random
from collections.abc import Sequence

import burnish
from bench.qwen.runs import Rows, measure, open_kept, parse, shuffled
from bench.real.tasks import Task, load_task

_TASK = "banking77_eight"
_SHARES = {"train": 18, "validation": 18, "test": 24}
_EVALUATIONS = 220


def main(arguments: Sequence[str]) -> None:
    """Measure agreement before and after."""
    options = parse("qwen-judge", arguments, data=True)
    agent = burnish.Agent(
        name="judge",
        configuration={"sections": {"criteria": "The intent is right."}},
        model=open_kept("qwen-judge"),
        judge={"output": "intent", "fields": ["message"], "score_only": True},
        concurrency=1,
        timeout_seconds=None,
    )
    suite = burnish.Suite(
        dataset=shuffled(labelled(load_task(options.data, _TASK)), _SHARES),
        scorers=["agreement"],
        split="field",
    )
    title = "Qwen2.5-Coder-1.5B as a judge by score alone, on 60 labelled answers"
    measure("qwen-judge", title, agent, suite, options, _EVALUATIONS)


def labelled(task: Task) -> Rows:
    """Messages with an intent, the right one in half of them."""
    rng = random.Random(0)
    chosen = rng.sample(list(task.rows), sum(_SHARES.values()))
    rows: Rows = []
    for number, row in enumerate(chosen):
        right = number % 2 == 0
        others = [name for name in task.labels if name != row["label"]]
        intent = row["label"] if right else rng.choice(others)
        label = "pass" if right else "fail"
        rows.append({"message": row["message"], "intent": intent, "label": label})
    return rows
