"""Baselines of evaluations: an experiment or a run here, or what `burnish export` wrote to a file."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from burnish.app.evaluate.result import EvaluationResult
from burnish.app.references import BEST, find_candidate, resolve, resolve_any
from burnish.app.report.comparisons import On
from burnish.app.report.comparisons import read_side as candidate_side
from burnish.app.wiring import Workspace
from burnish.domain import (
    AgentOutput,
    Configuration,
    ErrorKind,
    Experiment,
    ExperimentRepository,
    UsageError,
)
from burnish.evaluation.broken_items import BrokenItems, Passes, broken_items
from burnish.evaluation.scorers.pairwise import TIE, StoredOutputs
from burnish.evaluation.statistics import PairedComparison, paired_permutation_test

_FILES = (".json", ".jsonl", ".ndjson")
# Where an experiment keeps how often its failing items passed when they were run again.
AGAIN = "run_again"
# Where it keeps which comparison with a baseline it was, by the baseline's id.
LOOKS = "looks"
_LOOKED_THROUGH = 1000
CHOSEN = (
    "only items that failed in the baseline were run: those that are flaky pass more often now by "
    "chance alone, so this comparison shows no gain; compare on all items"
)


class ItemOutcome(NamedTuple):
    """One item over its repeats: the mean score, and whether all of them passed."""

    score: float
    passed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What an evaluation is compared with. Items that nobody answered for outside reasons lack.

    `note` says what to beware of. `outputs` are those of each item's first run. `passes` counts the
    runs of every item that passed, with those by which failing items were told from flaky ones.
    """

    id: str
    outcomes: Mapping[str, ItemOutcome]
    outputs: Mapping[str, AgentOutput] = field(default_factory=dict)
    name: str = ""
    configuration: Configuration | None = None
    note: str | None = None
    passes: Mapping[str, Passes] = field(default_factory=dict)

    @property
    def stored_outputs(self) -> StoredOutputs:
        """What pairwise scorers compare with."""
        return StoredOutputs(self.name or self.id, self.outputs)

    def common(self, other: Baseline) -> list[str]:
        """The items that both ran."""
        return sorted(self.outcomes.keys() & other.outcomes.keys())

    def compare(self, after: Baseline) -> PairedComparison:
        """A paired test over the items that both ran."""
        before, now = self.outcomes, after.outcomes
        common = self.common(after)
        if not common:
            raise UsageError(
                what=f"{self.id} and {after.id} cannot be compared",
                why="they have no item in common",
                fix="compare experiments of the same dataset",
                code="nothing_in_common",
            )
        return paired_permutation_test(
            [before[item].score for item in common], [now[item].score for item in common], seed=0
        )

    def require_items(self, items: Collection[str]) -> None:
        """Refuse a baseline of other items, before anything is paid."""
        if self.outcomes.keys().isdisjoint(items):
            raise UsageError(
                what=f"{self.id} cannot be the baseline",
                why="it has no item of this dataset",
                fix="name an experiment of the same dataset; `burnish list` shows them",
                code="nothing_in_common",
            )

    def fixed(self, after: Baseline) -> list[str]:
        """Items that did not pass before and pass now."""
        return _turned(self, after, passed=True)

    def broken(self, after: Baseline) -> list[str]:
        """Items that passed before and do not now."""
        return _turned(self, after, passed=False)

    def broken_items(self, after: Baseline) -> BrokenItems:
        """The same, with those that are flaky told apart by how often they pass."""
        return broken_items(self.passes, after.passes)


def _turned(before: Baseline, after: Baseline, *, passed: bool) -> list[str]:
    known = before.outcomes
    return [
        item
        for item, now in after.outcomes.items()
        if item in known and now.passed is passed and known[item].passed is not passed
    ]


def is_file(reference: str) -> bool:
    """Whether a file is meant rather than something that is stored."""
    return reference.lower().endswith(_FILES)


async def read_baseline(experiments: ExperimentRepository, reference: str | Path) -> Baseline:
    """A file of `burnish export` where it ends in .json or .jsonl, else an experiment of here."""
    if is_file(str(reference)):
        return read_exported(Path(reference))
    experiment = await resolve(experiments, str(reference))
    return await outcomes_of(experiments, experiment.id)


async def read_side(workspace: Workspace, reference: str) -> Baseline:
    """As `read_baseline`, or the best of an optimization: on held-out items where it has them."""
    experiments = workspace.experiments
    if is_file(reference):
        return read_exported(Path(reference))
    found = await resolve_any(workspace, reference)
    if isinstance(found, Experiment):
        own = await outcomes_of(experiments, found.id)
        return replace(own, name=found.name, configuration=found.configuration)
    candidates = await workspace.optimizations.list_candidates(found.id)
    best = find_candidate(found, candidates, BEST)
    side, note = await candidate_side(workspace, found, best.id, On.HELD_OUT), None
    if not side.scores:
        side = await candidate_side(workspace, found, best.id, On.SEARCH)
        note = f"{found.name} was chosen on these items, so its score here flatters it"
    runs = [await outcomes_of(experiments, one) for one in side.experiments]
    return Baseline(
        id=found.id,
        outcomes={item: one for run in runs for item, one in run.outcomes.items()},
        outputs={item: one for run in runs for item, one in run.outputs.items()},
        name=found.name,
        configuration=best.configuration,
        note=note,
        passes={item: one for run in runs for item, one in run.passes.items()},
    )


async def outcomes_of(experiments: ExperimentRepository, experiment_id: str) -> Baseline:
    """What became of each item of an experiment."""
    experiment = await experiments.get_experiment(experiment_id)
    runs = []
    outputs: dict[str, AgentOutput] = {}
    asked: set[str] = set()
    async for one in experiments.stream_results(experiment_id):
        asked.add(one.item_id)
        if one.error is None or one.error.kind.scored:
            runs.append((one.item_id, one.score, one.passed))
        if one.output is not None:
            outputs.setdefault(one.item_id, one.output)
    return Baseline(
        id=experiment_id,
        outcomes=_by_item(runs),
        outputs=outputs,
        passes=_passes(runs, experiment.metadata, asked),
    )


async def compared_with(
    experiments: ExperimentRepository, result: EvaluationResult, baseline: Baseline
) -> EvaluationResult:
    """A result with its comparison; where outputs were scored against its own, it scores 0.5 itself."""
    after = await outcomes_of(experiments, result.experiment_id)
    baseline = scored_against(baseline, result.experiment)
    look = await _look(experiments, result, baseline.id)
    result = replace(result, baseline_id=baseline.id)
    warnings = result.warnings
    if result.chosen_by_baseline:
        warnings = (*warnings, CHOSEN)
    return replace(
        result,
        warnings=warnings,
        look=look,
        comparison=baseline.compare(after),
        broken=baseline.broken_items(after),
    )


async def _look(
    experiments: ExperimentRepository, result: EvaluationResult, baseline_id: str
) -> int:
    """Which comparison of the agent with a baseline this is, the first being 1; kept with it.

    What a cache answered throughout was seen before, and is no other look.
    """
    own = result.experiment
    seen = own.metadata.get(LOOKS) or {}
    if baseline_id in seen:
        return int(seen[baseline_id])
    looks = [
        int(one.metadata[LOOKS][baseline_id])
        for one in await experiments.list_experiments(limit=_LOOKED_THROUGH, standalone=True)
        if one.agent_name == own.agent_name and baseline_id in (one.metadata.get(LOOKS) or {})
    ]
    known = bool(looks) and result.summary.cached == result.summary.runs
    look = max(looks, default=0) + (0 if known else 1)
    told = {LOOKS: {**seen, baseline_id: look}}
    await experiments.update_experiment(own.id, metadata=told)
    return look


def scored_against(baseline: Baseline, experiment: Experiment) -> Baseline:
    """The baseline as an experiment counts it whose scores compare with it: a tie with itself."""
    if not experiment.metadata.get("against_baseline"):
        return baseline
    return replace(
        baseline,
        outcomes={item: ItemOutcome(TIE, passed=True) for item in baseline.outputs},
        passes={item: Passes(1, 1) for item in baseline.outputs},
    )


def read_exported(path: Path) -> Baseline:
    """The evaluation that `burnish export` wrote as JSON or JSON Lines."""
    try:
        text = path.expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _unusable(path, getattr(error, "strerror", None) or str(error)) from error
    try:
        head, rows = _rows(path, text)
        configuration = head.get("configuration")
        runs = [
            (str(row["item_id"]), float(row["score"]), row["passed"] is True)
            for row in rows
            if _is_scored(row["error"])
        ]
        outputs = {
            str(row["item_id"]): AgentOutput.of(row["output"])
            for row in reversed(rows)
            if isinstance(row.get("output"), Mapping)
        }
    except (ValueError, KeyError, TypeError) as error:
        raise _unusable(path, f"it is no evaluation that Burnish wrote ({error!r})") from error
    if not runs:
        raise _unusable(path, "no item of it has a score")
    return Baseline(
        id=str(head["id"]),
        outcomes=_by_item(runs),
        outputs=outputs,
        name=path.name,
        configuration=configuration and Configuration.of(configuration),
        passes=_passes(runs, head.get("metadata") or {}, ()),
    )


def _rows(path: Path, text: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    if path.suffix.lower() != ".json":
        return {"id": path.name}, [json.loads(line) for line in text.splitlines() if line.strip()]
    document = json.loads(text)
    return document["experiment"], document["results"]


def _is_scored(error: Mapping[str, Any] | None) -> bool:
    return error is None or ErrorKind(error["kind"]).scored


def _by_item(runs: Iterable[tuple[str, float, bool]]) -> dict[str, ItemOutcome]:
    found: dict[str, list[tuple[float, bool]]] = {}
    for item, score, passed in runs:
        found.setdefault(item, []).append((score, passed))
    return {
        item: ItemOutcome(
            math.fsum(score for score, _ in all_) / len(all_), all(passed for _, passed in all_)
        )
        for item, all_ in found.items()
    }


def _passes(
    runs: Iterable[tuple[str, float, bool]], metadata: Mapping[str, Any], asked: Iterable[str]
) -> dict[str, Passes]:
    """How often each item passed that was asked for; what was run again counts too."""
    found = dict.fromkeys(asked, Passes(0, 0))
    for item, _, passed in runs:
        found[item] = found.get(item, Passes(0, 0)).plus(Passes(int(passed), 1))
    again = (metadata.get(AGAIN) or {}).get("passes") or {}
    for item, (passed, many) in again.items():
        found[item] = found.get(item, Passes(0, 0)).plus(Passes(int(passed), int(many)))
    return found


def _unusable(path: Path, why: str) -> UsageError:
    return UsageError(
        what=f"{path} cannot be the baseline",
        why=why,
        fix="write one with `burnish export EXPERIMENT -o baseline.json`",
        code="invalid_baseline",
    )
