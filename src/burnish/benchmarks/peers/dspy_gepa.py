"""`dspy.GEPA` in the simulated worlds.

Run by a Python that has dspy, without Burnish: jobs as a JSON list on stdin, one JSON line out for
each job. The program has one predictor a section; an evaluation asks the world once, whatever the
number of sections, and every predictor says the answer. Settings and prompts are dspy's defaults.
"""

from __future__ import annotations

import io
import json
import logging
import re
import time
from contextlib import redirect_stdout
from types import SimpleNamespace
from typing import Any

import dspy
from peer_jobs import curve, load_world, serve

_CURRENT = re.compile(
    r"(\[\[ ## current_instruction ## \]\]\n)(.*?)(\n+\[\[ ## examples_with_feedback ## \]\])",
    re.DOTALL,
)
_FENCED = re.compile(r"```\n(.*)\n```", re.DOTALL)


class Said(dspy.BaseLM):  # type: ignore[misc, name-defined, unused-ignore]
    """A language model that says one thing."""

    def __init__(self, text: str) -> None:
        super().__init__("said", cache=False)
        self._text = text

    def forward(self, prompt: Any = None, messages: Any = None, **options: Any) -> Any:
        """Called by dspy."""
        return response(f"[[ ## answer ## ]]\n{self._text}\n\n[[ ## completed ## ]]")


class Reflecting(dspy.BaseLM):  # type: ignore[misc, name-defined, unused-ignore]
    """The world's reflection model behind dspy's own proposer.

    That proposer marks the current text by a header and wants JSON back; the world's model knows the
    text by a fence and writes one. Only that is translated.
    """

    def __init__(self, world: Any) -> None:
        super().__init__("reflecting", cache=False)
        self._world = world

    def forward(self, prompt: Any = None, messages: Any = None, **options: Any) -> Any:
        """Called by dspy."""
        shown = messages[-1]["content"]
        text = shown if isinstance(shown, str) else "".join(part["text"] for part in shown)
        fenced, found = _CURRENT.subn(r"\1```\n\2\n```\3", text)
        if not found:
            raise RuntimeError(f"dspy's reflection prompt has changed: {text[:500]!r}")
        said = _FENCED.search(self._world.reflect(fenced))
        return response(json.dumps({"new_instruction": said.group(1) if said else ""}))


class Desk(dspy.Module):  # type: ignore[misc, name-defined, unused-ignore]
    """The world's agent: one predictor a section."""

    def __init__(self, world: Any) -> None:
        super().__init__()
        self.ask = [world]
        for name, text in world.sections.items():
            setattr(self, name, dspy.Predict(dspy.Signature("message -> answer", text)))

    def forward(self, message: str) -> Any:
        """Called by dspy."""
        predictors = dict(self.named_predictors())
        sections = {name: one.signature.instructions for name, one in predictors.items()}
        answer = self.ask[0].answer(sections, {"message": message})
        with dspy.context(lm=Said(answer)):
            return [one(message=message) for one in predictors.values()][-1]

    def deepcopy(self) -> Any:
        """A copy that asks the same world, so that its calls are counted there."""
        world, self.ask = self.ask, []
        try:
            copied = super().deepcopy()
        finally:
            self.ask = world
        copied.ask = world
        return copied


def response(text: str) -> Any:
    """A reply as dspy takes it from a provider."""
    choice = SimpleNamespace(message=SimpleNamespace(content=text), finish_reason="stop")
    return SimpleNamespace(choices=[choice], usage={}, model="simulated")


def run(job: dict[str, Any]) -> dict[str, Any]:
    """One optimization."""
    world = load_world(job)

    def metric(gold: Any, pred: Any, trace: Any = None, name: Any = None, part: Any = None) -> Any:
        score, feedback = world.score(pred.answer, gold)
        return dspy.Prediction(score=score, feedback=feedback)

    optimizer = dspy.GEPA(
        metric=metric,
        reflection_lm=Reflecting(world),
        max_metric_calls=job["budget"],
        seed=job["seed"],
        num_threads=job.get("threads", 1),
        track_stats=True,
        **job.get("settings", {}),
    )
    rows = [
        [dspy.Example(**row).with_inputs("message") for row in part]
        for part in (world.train, world.validation)
    ]
    started = time.perf_counter()
    with redirect_stdout(io.StringIO()), dspy.context(disable_history=True):
        compiled = optimizer.compile(Desk(world), trainset=rows[0], valset=rows[1])
    seconds = time.perf_counter() - started
    result = compiled.detailed_results
    if result.total_metric_calls != world.calls:
        raise RuntimeError(
            f"dspy counted {result.total_metric_calls} calls, the world {world.calls}"
        )
    known = [count + len(world.validation) for count in result.discovery_eval_counts]
    texts = [
        {name: one.signature.instructions for name, one in candidate.named_predictors()}
        for candidate in result.candidates
    ]
    found = zip(known, result.val_aggregate_scores, texts, strict=True)
    made: dict[str, Any] = curve(job, world, sorted(found, key=lambda one: one[0]), seconds)
    return made


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    serve(run)
