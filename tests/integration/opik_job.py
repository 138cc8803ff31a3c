"""Runs opik-optimizer's GEPA and parameter optimizers, unmodified, against the server it is told of.

Run with a Python that has them (`make opik-venv`). No model is called: litellm's answers are ours. The
last line on stdout is what both came to.
"""

from __future__ import annotations

import gc
import json
import os
import sys

# What these packages load stays: looking at it again and again takes a fifth of the time.
gc.disable()
os.environ.update(
    LITELLM_LOCAL_MODEL_COST_MAP="True",
    OPIK_ANALYTICS_ENABLE="false",
    OPIK_SENTRY_ENABLE="false",
    OPIK_OPTIMIZER_NO_BANNER="1",
    OPIK_CONSOLE_LOGGING_LEVEL="WARNING",
)

import litellm  # noqa: E402 - it reads the settings above

LABELS = {"refund": "billing", "invoice": "billing", "crash": "technical", "login": "technical"}
BETTER = "Read the ticket word by word, then answer billing or technical."


def answer(messages):
    """A model that reads only the first kinds of tickets, until it is told to read them all."""
    text = "\n".join(str(one.get("content", "")) for one in messages)
    if "TICKET:" not in text or "```" in text:
        return f"```\n{BETTER}\n```"
    ticket = text.rpartition("TICKET:")[2]
    label = next(label for word, label in LABELS.items() if word in ticket)
    return label if "word by word" in text or "refund" in ticket else "no idea"


def completion(*_, messages, **__):
    return litellm.ModelResponse(
        model="scripted",
        choices=[
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": answer(messages)},
            }
        ],
        usage={"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
    )


async def acompletion(*arguments, **options):
    return completion(*arguments, **options)


# Before opik-optimizer is loaded, which takes them over as it finds them.
litellm.completion, litellm.acompletion = completion, acompletion

import opik  # noqa: E402
from opik.evaluation.metrics.score_result import ScoreResult  # noqa: E402
from opik_optimizer import ChatPrompt, GepaOptimizer, ParameterOptimizer  # noqa: E402
from opik_optimizer.algorithms.parameter_optimizer import ParameterSearchSpace  # noqa: E402

MODEL = "openai/scripted"


def label_match(dataset_item, llm_output):
    right = dataset_item["label"] in llm_output
    reason = "right" if right else f"the label is {dataset_item['label']}"
    return ScoreResult(name="label_match", value=float(right), reason=reason)


def told(result):
    return {
        "optimization_id": result.optimization_id,
        "score": result.score,
        "initial_score": result.initial_score,
        "messages": result.prompt.get_messages(),
    }


def main():
    client = opik.Opik()
    client.create_dataset("tickets").insert(
        [{"ticket": f"{word} {n}", "label": label} for n in "12" for word, label in LABELS.items()]
    )
    dataset = client.get_or_create_dataset("tickets")
    prompt = ChatPrompt(
        name="router", system="Route the ticket.", user="TICKET: {ticket}", model=MODEL
    )
    common = {"prompt": prompt, "dataset": dataset, "metric": label_match}
    # One thread: with more, opik's executor returns its results when the last task has ended and not
    # when that one's result has been added to them, and the score is then that of the others.
    gepa = GepaOptimizer(model=MODEL, n_threads=1, verbose=0, seed=7).optimize_prompt(
        **common, max_trials=4, reflection_minibatch_size=3
    )
    space = {"name": "temperature", "distribution": "float", "low": 0.0, "high": 1.0}
    parameters = ParameterOptimizer(
        model=MODEL, default_n_trials=2, n_threads=1, verbose=0, seed=7
    ).optimize_parameter(
        **common, parameter_space=ParameterSearchSpace(parameters=[space]), max_trials=2
    )
    opik.flush_tracker()
    # As the program would read them back.
    statuses = [
        client.get_optimization_by_id(one.optimization_id).fetch_content().status
        for one in (gepa, parameters)
    ]
    client.end()
    results = {"gepa": told(gepa), "parameters": told(parameters), "statuses": statuses}
    sys.stdout.write(f"\n{json.dumps(results)}\n")


main()
