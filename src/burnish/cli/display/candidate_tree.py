"""Which candidate came from which, as a tree or as nodes and edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from burnish.cli.display.trials import TRIAL_STYLES, score_words
from burnish.cli.wording import rationale_words
from burnish.domain import Candidate, ExperimentType, OptimizationRecord, TrialResult


def tree_json(
    record: OptimizationRecord, candidates: Sequence[Candidate], trials: Sequence[TrialResult]
) -> dict[str, Any]:
    """Nodes are candidates; an edge goes from each parent to its child."""
    by_candidate = _trials_of(trials)
    return {
        "nodes": [_node(record, one, by_candidate.get(one.id)) for one in candidates],
        "edges": [
            {"source": parent, "target": one.id}
            for one in candidates
            for parent in one.parent_candidate_ids
        ],
    }


def print_tree(
    console: Console,
    record: OptimizationRecord,
    candidates: Sequence[Candidate],
    trials: Sequence[TrialResult],
) -> None:
    """Each candidate below its first parent; further parents are named beside it."""
    by_candidate = _trials_of(trials)
    by_id = {one.id: one for one in candidates}
    root = Tree("", hide_root=True, guide_style="dim")
    branches: dict[str, Tree] = {}
    # In order of number: a parent is always there before its children.
    for one in candidates:
        known = [parent for parent in one.parent_candidate_ids if parent in branches]
        place = branches[known[0]] if known else root
        others = [by_id[parent].number for parent in known[1:]]
        label = _label(record, one, by_candidate.get(one.id), others)
        branches[one.id] = place.add(label)
    console.print(root, soft_wrap=not console.is_terminal)


def _node(
    record: OptimizationRecord, candidate: Candidate, trial: TrialResult | None
) -> dict[str, Any]:
    return {
        "id": candidate.id,
        "number": candidate.number,
        "step_index": candidate.step_index,
        "parent_candidate_ids": list(candidate.parent_candidate_ids),
        "status": None if trial is None else trial.status.value,
        "score": None if trial is None else trial.objective_score,
        "baseline": candidate.number == 0,
        "best": candidate.id == record.best_candidate_id,
        "rationale": candidate.rationale,
        "experiment_id": None if trial is None else trial.experiment_id,
    }


def _label(
    record: OptimizationRecord,
    candidate: Candidate,
    trial: TrialResult | None,
    others: Sequence[int],
) -> Text:
    best = candidate.id == record.best_candidate_id
    text = Text(f"{candidate.number}", style="bold")
    if trial is not None:
        text.append(f"  {score_words(trial) or '–'}", style="bold cyan" if best else "")
        style = TRIAL_STYLES.get(trial.status, "red")
        text.append(f"  {trial.status.value}", style=style)
    if best:
        text.append("  best", style="bold green")
    if others:
        text.append(f"  also from {', '.join(map(str, others))}", style="dim")
    text.append(f"  {rationale_words(candidate.rationale, 90)}", style="dim")
    return text


def _trials_of(trials: Sequence[TrialResult]) -> dict[str, TrialResult]:
    return {one.candidate_id: one for one in trials if one.type is ExperimentType.TRIAL}
