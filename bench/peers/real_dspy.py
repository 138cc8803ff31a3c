"""dspy's BootstrapFewShotWithRandomSearch and MIPROv2 on a task, asking our endpoint.

The program is one `dspy.Predict`. Its adapter writes what our agent sends: the instructions as the
system message, demos as turns, the message alone as the user's. The endpoint lets the model answer with
labels only, so no output format has to be kept, which so small a model could not. What the proposer of
MIPROv2 asks goes through dspy's own `ChatAdapter`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import dspy
from dspy.teleprompt import BootstrapFewShotWithRandomSearch, MIPROv2
from real_job import ANSWERS, REFLECTOR, found, serve

# Bootstrapping asks until so many answers of the teacher are right: about so many calls a candidate.
_BOOTSTRAP_CALLS = 8
_OURS = {"message", "label"}
# As `auto="light"` sets them for instructions with demos.
_DEMO_SETS, _INSTRUCTIONS = 6, 3


class PlainAdapter(dspy.ChatAdapter):
    """Messages as our agent sends them, for the task's signature only."""

    def format(self, signature: Any, demos: Any, inputs: Any) -> list[dict[str, Any]]:
        """Called by dspy."""
        if set(signature.fields) != _OURS:
            return super().format(signature, demos, inputs)
        turns = [
            {"role": role, "content": str(demo[name])}
            for demo in demos
            for role, name in (("user", "message"), ("assistant", "label"))
        ]
        said = [{"role": "system", "content": signature.instructions}] * bool(
            signature.instructions
        )
        return [*said, *turns, {"role": "user", "content": str(inputs["message"])}]

    def parse(self, signature: Any, completion: str) -> dict[str, Any]:
        """Called by dspy."""
        if set(signature.fields) != _OURS:
            return super().parse(signature, completion)
        return {"label": completion.strip()}


def exact_match(example: dspy.Example, prediction: dspy.Prediction, trace: object = None) -> bool:
    return bool(str(example.label).casefold() == str(prediction.label).casefold())


def run(job: dict[str, Any]) -> dict[str, Any]:
    """The optimizer that the job names."""
    common = {"api_base": job["url"], "api_key": "none", "num_retries": 0}
    answers = dspy.LM(f"openai/{ANSWERS}", temperature=0.0, max_tokens=64, **common)
    dspy.configure(lm=answers, adapter=PlainAdapter())
    student = dspy.Predict(dspy.Signature("message -> label", job["seed_prompt"]))
    rows = {
        name: [dspy.Example(**row).with_inputs("message") for row in job[name]]
        for name in ("train", "validation")
    }
    if job["optimizer"] == "bootstrap":
        return bootstrap(job, student, rows)
    asked = dspy.LM(
        f"openai/{REFLECTOR}", temperature=1.0, max_tokens=1_024, timeout=3_600, **common
    )
    return mipro(job, student, rows, asked)


def bootstrap(job: dict[str, Any], student: Any, rows: dict[str, list[Any]]) -> dict[str, Any]:
    """Defaults, with as many candidates as the calls pay for."""
    size = len(rows["validation"])
    # Without examples, with labels only, and the unshuffled one come before the candidates.
    count = (job["evaluations"] - 3 * size - _BOOTSTRAP_CALLS) // (size + _BOOTSTRAP_CALLS)
    optimizer = BootstrapFewShotWithRandomSearch(
        metric=exact_match,
        num_candidate_programs=max(count, 1),
        num_threads=1,
        max_errors=10_000,
    )
    best = optimizer.compile(student, trainset=rows["train"], valset=rows["validation"])
    scores = {one["seed"]: one["score"] / 100 for one in best.candidate_programs}
    return told(best, [scores[-3], max(scores.values())], note=f"{count} candidates")


def mipro(
    job: dict[str, Any], student: Any, rows: dict[str, list[Any]], asked: Any
) -> dict[str, Any]:
    """As many sets of demos and instructions as `auto="light"` takes, all rows in each trial."""
    size = len(rows["validation"])
    # Trials of the same pair are remembered, so more of them are made than would be paid else.
    trials = 2 * (job["evaluations"] - _DEMO_SETS * _BOOTSTRAP_CALLS - size) // size
    optimizer = MIPROv2(
        metric=exact_match,
        prompt_model=asked,
        auto=None,
        num_candidates=_DEMO_SETS,
        num_threads=1,
        max_errors=10_000,
        seed=job["seed"] + 1,
    )
    optimizer.num_instruct_candidates = _INSTRUCTIONS
    best = optimizer.compile(
        student,
        trainset=rows["train"],
        valset=rows["validation"],
        num_trials=trials,
        minibatch=False,
    )
    scores = [one["score"] / 100 for one in best.candidate_programs]
    first = best.trial_logs[1]["full_eval_score"] / 100 if 1 in best.trial_logs else 0.0
    texts = best.signature.instructions != job["seed_prompt"]
    return told(best, [first, max(scores)], note=f"{trials} trials", usable=int(texts))


def told(best: Any, validation: list[float], *, note: str, usable: int = 0) -> dict[str, Any]:
    """The program as texts."""
    return found(
        system=best.signature.instructions,
        examples=[(str(one["message"]), str(one["label"])) for one in best.demos],
        validation=validation,
        usable=usable,
        note=note,
    )


serve(run)
