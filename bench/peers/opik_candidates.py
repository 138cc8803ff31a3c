"""How long ``opik-optimizer`` takes to evaluate a step's candidates whose items only wait.

Run with a Python that has it (``venvs.run("opik", "opik_candidates.py", 8, 100, 100)``). Its
optimizers evaluate one candidate after the other, each with ``evaluate_prompt``, which clamps
``n_threads`` to 32 without a word; ``task_evaluator`` is the function below it, which takes
as many threads as it is told.

No server and no key: both run with ``use_evaluate_on_dict_items``, its path that makes no
experiment (the default path creates one on an Opik server first). What it would tell the server
is dropped at once, which is faster than any server; spans, analytics, crash reports and the
download of model prices are off.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

os.environ.update(
    OPIK_URL_OVERRIDE="http://127.0.0.1:9/api",
    OPIK_WORKSPACE="default",
    OPIK_TRACK_DISABLE="true",
    OPIK_ANALYTICS_ENABLE="false",
    OPIK_SENTRY_ENABLE="false",
    OPIK_OPTIMIZER_NO_BANNER="1",
    LITELLM_LOCAL_MODEL_COST_MAP="True",
)

import opik
from opik_optimizer import ChatPrompt, MetaPromptOptimizer, OptimizableAgent
from opik_optimizer.core.evaluation import evaluate as task_evaluator

opik.set_tracing_active(False)
logging.getLogger("opik").setLevel(logging.CRITICAL)


class Undelivered(opik.Opik):
    """A client that drops traces and scores instead of queueing them for a server."""

    def __internal_api__trace__(self, **_: Any) -> None:
        """Called by opik for each item."""

    def log_traces_feedback_scores(self, *_: Any, **__: Any) -> None:
        """Called by opik for each item."""


class Rows:
    """As much of a dataset as evaluation without a server asks for."""

    name = id = "rows"

    def __init__(self, items: int) -> None:
        self._rows = [
            {"id": str(n), "question": f"item {n}", "label": str(n)} for n in range(items)
        ]

    def get_items(self, nb_samples: int | None = None) -> list[dict[str, Any]]:
        """Called by opik-optimizer."""
        return [dict(row) for row in self._rows[:nb_samples]]


class Waiting(OptimizableAgent):
    """Answers right after a wait, without a model."""

    wait = 0.05

    def invoke_agent(self, prompts: Any, dataset_item: dict[str, Any], **_: Any) -> str:
        """Called by opik-optimizer."""
        time.sleep(self.wait)
        return dataset_item["label"]


def exact_match(dataset_item: dict[str, Any], llm_output: str) -> float:
    return float(llm_output == dataset_item["label"])


def seconds_of(steps: int, candidates: int, evaluate: Callable[[str], float]) -> list[float]:
    """Seconds of each step, in which all candidates are evaluated in turn."""
    seconds = []
    for step in range(steps):
        started = time.perf_counter()
        scores = [evaluate(f"candidate {step}.{number}") for number in range(candidates)]
        seconds.append(time.perf_counter() - started)
        if scores != [1.0] * candidates:
            raise SystemExit(f"opik-optimizer scored {scores}: the timing would be void")
    return seconds


def measure(candidates: int, items: int, threads: int, wait: float, steps: int) -> dict[str, Any]:
    opik.set_global_client(Undelivered(_show_misconfiguration_message=False))
    optimizer, agent, rows = MetaPromptOptimizer(model="none", verbose=0), Waiting(), Rows(items)
    agent.wait = wait
    common: dict[str, Any] = {"verbose": 0, "use_evaluate_on_dict_items": True}

    def with_prompt(text: str) -> float:
        prompt = ChatPrompt(name="system", system=text, user="{question}")
        return optimizer.evaluate_prompt(
            prompt, rows, exact_match, agent=agent, n_threads=threads, **common
        )

    def with_task(text: str) -> float:
        def task(item: dict[str, Any]) -> dict[str, Any]:
            return {"llm_output": agent.invoke_agent(text, item)}

        return task_evaluator(rows, task, exact_match, threads, **common)

    for warm_up in (with_prompt, with_task):
        warm_up("warm-up")
    return {
        "peer": "opik-optimizer",
        "version": version("opik-optimizer"),
        "evaluate_prompt_seconds": seconds_of(steps, candidates, with_prompt),
        "task_evaluator_seconds": seconds_of(steps, candidates, with_task),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("candidates", 8), ("items", 100), ("threads", 100)):
        parser.add_argument(name, nargs="?", type=int, default=default)
    parser.add_argument("--wait", type=float, default=0.05)
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    print(json.dumps(measure(**vars(options))), flush=True)
    os._exit(0)  # Its client would go on for a while to look for the server.


if __name__ == "__main__":
    main()
