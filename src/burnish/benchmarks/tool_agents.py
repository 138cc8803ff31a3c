"""Our own optimizers in the world of tool agents: real tool agents, a simulated model, known truth."""

from __future__ import annotations

import inspect
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import burnish
from burnish.benchmarks.worlds.tools import OPTIONAL, TOOLS, ToolWorld
from burnish.domain import Json, Model, ModelRequest, ModelResponse, ToolCall
from burnish.evaluation.statistics import PairedComparison, paired_permutation_test
from burnish.models.scripted import ScriptedModel, last_user_message
from burnish.optimizers.catalog import build_optimizer

PROOF_ROWS = 300


@dataclass(frozen=True, kw_only=True)
class EditProof:
    """What one changed section of a winner is worth: on held-out tasks, and by the world's truth."""

    section: str
    shown: PairedComparison
    truth: float

    @property
    def verdict(self) -> str:
        """By the held-out tasks alone."""
        if not self.shown.clear:
            return "open"
        return "proven" if self.shown.delta > 0 else "refuted"


@dataclass(frozen=True, kw_only=True)
class ToolRun:
    """One optimization: where it began and ended by the world's truth, and what it took."""

    contestant: str
    seed: int
    budget: int
    start: float
    final: float
    calls: int
    reflections: int
    seconds: float
    held_out: Mapping[str, Any] | None = None
    edits: Sequence[EditProof] = ()
    dropped: tuple[int, int] = (0, 0)
    """Edits that were tried and are not in the winner: truly no better, and truly better."""


def run_own(
    world: ToolWorld, contestant: str, budget: int, seed: int, settings: Mapping[str, Any]
) -> ToolRun:
    """`gepa` on a tool agent in a database of its own; the search may spend the budget.

    The comparison on held-out tasks at the end is paid beside it, as the peer makes none.
    """
    test = world.sample("test", len(world.validation))
    optimizer = build_optimizer("gepa", {**settings, "model": world.reflect})
    suite = burnish.Suite(
        dataset=[*world.train, *world.validation, *test],
        scorers=[{"kind": "python", "function": scorer_of(world), "fields": ["traps"]}],
        split="field",
    )
    started = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="burnish-bench-") as folder:
        result = burnish.optimize(
            agent=agent_of(world),
            suite=suite,
            optimizer=optimizer,
            budget=burnish.Budget(max_evaluations=budget + 2 * len(test)),
            seed=seed,
            db=Path(folder) / "bench.db",
            progress=False,
        )
    best = {path: result.best.configuration.sections[path] for path in world.sections}
    return ToolRun(
        contestant=contestant,
        seed=seed,
        budget=budget,
        start=world.start,
        final=world.expectation(best),
        calls=world.calls,
        reflections=world.reflections,
        seconds=time.perf_counter() - started,
        held_out=result.document.get("improvement"),
        edits=proofs(world, best),
        dropped=dropped_edits(world, result),
    )


def agent_of(world: ToolWorld) -> burnish.Agent:
    """A tool agent whose model is the world's."""
    return burnish.Agent(
        name=world.name,
        configuration={"sections": {"system": world.sections["system"], "user": "{{message}}"}},
        model=model_of(world),
        tools=[_function(name) for name in TOOLS],
    )


def model_of(world: ToolWorld) -> Model:
    """The simulated model: it knows of the tools what the request tells."""
    rows: dict[str, Mapping[str, Any]] = {}

    def row_of(message: str) -> Mapping[str, Any]:
        if message not in rows:
            for split in ("train", "validation", "test", "proof"):
                count = PROOF_ROWS if split == "proof" else len(world.validation)
                rows.update((one["message"], one) for one in world.sample(split, count))
        return rows[message]

    def answer(request: ModelRequest) -> str | ModelResponse:
        sections = texts_in(request)
        spoken = sum(1 for one in request.messages if one.role == "assistant")
        if spoken == 0:
            world.count(sections)
        steps = world.steps(sections, row_of(last_user_message(request)))
        if spoken >= len(steps):
            return "Done."
        return ModelResponse(
            text="",
            tool_calls=tuple(
                ToolCall(f"c{spoken}-{n}", one["name"], one["arguments"])
                for n, one in enumerate(steps[spoken])
            ),
        )

    model = ScriptedModel(answer, name=f"scripted/{world.key}")
    model.fingerprint = world.key
    return model


def texts_in(request: ModelRequest) -> dict[str, str]:
    """The sections as they arrive at a model."""
    found = {"system": request.messages[0].content}
    for tool in request.tools:
        found[f"tools.{tool.name}.description"] = tool.description
        fields = cast("Mapping[str, Mapping[str, str]]", tool.parameters["properties"])
        for name, field in fields.items():
            found[f"tools.{tool.name}.parameters.{name}"] = field.get("description", "")
    return found


def scorer_of(world: ToolWorld) -> Callable[..., burnish.Score]:
    """The world's scorer, over the calls of a transcript."""

    def score(output: burnish.AgentOutput, item: Mapping[str, Any]) -> burnish.Score:
        value, reason = world.score(json.dumps(calls_in(output.trace)), item)
        return burnish.Score(value=value, reason=reason)

    return score


def calls_in(trace: Json) -> list[Json]:
    """The calls of a transcript, in their order."""
    transcript = cast("dict[str, list[dict[str, Any]]]", trace)["transcript"]
    return [
        {"name": call["name"], "arguments": call["arguments"]}
        for entry in transcript
        for call in entry.get("tool_calls", ())
    ]


def proofs(world: ToolWorld, best: Mapping[str, str]) -> list[EditProof]:
    """Each changed section taken back by itself, on tasks that no search has seen."""
    rows = world.sample("proof", PROOF_ROWS)

    def scores(sections: Mapping[str, str]) -> list[float]:
        made = [[c for step in world.steps(sections, row) for c in step] for row in rows]
        return [world.score(json.dumps(one), row)[0] for one, row in zip(made, rows, strict=True)]

    whole, found = scores(best), []
    for path, text in world.sections.items():
        if best[path] == text:
            continue
        without = {**best, path: text}
        shown = paired_permutation_test(scores(without), whole, seed=world.seed)
        truth = world.expectation(best) - world.expectation(without)
        found.append(EditProof(section=path, shown=shown, truth=truth))
    return found


def dropped_edits(world: ToolWorld, result: burnish.OptimizationResult) -> tuple[int, int]:
    """Edits beside the winner's line: those truly no better than their parents, and those that are."""
    line, waiting = set(), [result.best.candidate_id]
    while waiting:
        one = waiting.pop()
        if one in line:
            continue
        line.add(one)
        waiting += result.candidates[one].parent_candidate_ids

    def truth(candidate: str) -> float:
        sections = result.candidates[candidate].configuration.sections
        return world.expectation({path: sections[path] for path in world.sections})

    worse = better = 0
    for identity, candidate in result.candidates.items():
        parents = candidate.parent_candidate_ids
        if identity in line or not parents:
            continue
        gain = truth(identity) - max(map(truth, parents))
        worse, better = worse + (gain <= 0), better + (gain > 0)
    return worse, better


def _function(name: str) -> Callable[..., str]:
    """A Python function with the parameters of a tool; what it returns matters to nobody."""
    text, fields = TOOLS[name]

    def tool(**_: str) -> str:
        return "done"

    parameters = []
    hints: dict[str, Any] = {}
    for field, codes in fields.items():
        hints[field] = Literal[codes] if codes else str
        optional = field in OPTIONAL
        parameters.append(
            inspect.Parameter(
                field,
                inspect.Parameter.KEYWORD_ONLY,
                default="" if optional else inspect.Parameter.empty,
                annotation=hints[field],
            )
        )
    tool.__name__, tool.__doc__ = name, text
    tool.__annotations__ = hints
    cast("Any", tool).__signature__ = inspect.Signature(parameters)
    return tool
