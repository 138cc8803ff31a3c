"""opik-optimizer's FewShotBayesianOptimizer on a task, asking our endpoint, without an Opik server.

Its client here refuses to make an optimization, which the library takes for a server that is away: it
goes on without tracking, and evaluates with `use_evaluate_on_dict_items`, its path without experiments.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import urllib.request
from pathlib import Path
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
sys.path.insert(0, str(Path(__file__).parent))

import opik
from opik_optimizer import ChatPrompt, FewShotBayesianOptimizer, OptimizableAgent, constants
from real_job import ANSWERS, REFLECTOR, SLOT, found, serve

opik.set_tracing_active(False)
logging.getLogger("opik").setLevel(logging.CRITICAL)
constants.ENABLE_EVALUATE_ON_DICT_ITEMS = True
_MESSAGE = "{message}"


class Undelivered(opik.Opik):
    """A client that drops traces and scores, and makes no optimization."""

    def __internal_api__trace__(self, **_: Any) -> None:
        """Called by opik for each item."""

    def log_traces_feedback_scores(self, *_: Any, **__: Any) -> None:
        """Called by opik for each item."""

    def create_optimization(self, *_: Any, **__: Any) -> None:
        """Called by opik-optimizer."""
        raise RuntimeError("there is no server")


class Rows(opik.Dataset):
    """As much of a dataset as the optimizer asks for without a server."""

    def __init__(self, name: str, rows: list[dict[str, str]]) -> None:
        self._called = name
        self._rows = [{"id": f"{name}-{n}", **row} for n, row in enumerate(rows)]

    @property
    def name(self) -> str:
        """Called by opik-optimizer."""
        return self._called

    id = name

    def get_items(self, nb_samples: int | None = None) -> list[dict[str, Any]]:
        """Called by opik-optimizer."""
        return [dict(row) for row in self._rows[:nb_samples]]


class Asking(OptimizableAgent):
    """Sends the prompt's messages to the endpoint, as they are."""

    url = ""

    def invoke_agent(self, prompts: Any, dataset_item: dict[str, Any], **_: Any) -> str:
        """Called by opik-optimizer."""
        messages = next(iter(prompts.values())).get_messages(dataset_item)
        body = json.dumps({"model": ANSWERS, "messages": messages}).encode()
        request = urllib.request.Request(
            f"{self.url}/chat/completions", body, {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request) as response:
            return str(json.load(response)["choices"][0]["message"]["content"])


class WithoutServer(FewShotBayesianOptimizer):
    """Evaluates its trials as the library evaluates first prompts where dict items are enabled."""

    def _evaluate_custom_task(self, **options: Any) -> float:
        return super()._evaluate_custom_task(**{**options, "use_evaluate_on_dict_items": True})


def exact_match(dataset_item: dict[str, Any], llm_output: str) -> float:
    return float(llm_output.strip().casefold() == dataset_item["label"].casefold())


def shown_by_example(first: str) -> str:
    """Its question for a template, with our columns and prompt in its example: small models copy it."""
    asked = FewShotBayesianOptimizer.DEFAULT_PROMPTS["system_prompt_template"]
    return asked.replace("{text}", _MESSAGE).replace("Instructions...", json.dumps(first)[1:-1])


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Defaults, with as many trials as the calls pay for."""
    opik.set_global_client(Undelivered(_show_misconfiguration_message=False))
    agent = Asking()
    agent.url = job["url"]
    trials = job["evaluations"] // len(job["validation"]) - 1
    optimizer = WithoutServer(
        model=f"openai/{REFLECTOR}",
        model_parameters={
            "api_base": job["url"],
            "api_key": "none",
            "max_tokens": 1_024,
            "timeout": 7_200,
        },
        n_threads=1,
        prompt_overrides={"system_prompt_template": shown_by_example(job["seed_prompt"])},
        verbose=0,
        seed=job["seed"] + 1,
    )
    opik.Opik = Undelivered  # The optimizer opens a client of its own.
    result = optimizer.optimize_prompt(
        ChatPrompt(name="system", system=job["seed_prompt"], user=_MESSAGE),
        Rows("train", job["train"]),
        exact_match,
        agent=agent,
        validation_dataset=Rows("validation", job["validation"]),
        max_trials=trials,
    )
    prompt = result.prompt
    prompt = next(iter(prompt.values())) if isinstance(prompt, dict) else prompt
    texts = {"system": "", "user": ""}
    for message in prompt.get_messages():
        joined = [texts.get(message["role"], ""), str(message["content"])]
        texts[message["role"]] = "\n\n".join(filter(None, joined))
    return found(
        system=texts["system"],
        user=texts["user"].replace(_MESSAGE, SLOT),
        validation=[result.initial_score or 0.0, result.score or 0.0],
        usable=int(texts["system"] != job["seed_prompt"]),
        note=f"{trials} trials",
    )


if __name__ == "__main__":
    serve(run)
    os._exit(0)  # Its client would go on for a while to look for the server.
