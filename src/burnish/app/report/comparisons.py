"""Two candidates of a run, item by item: what got better, what got worse, and what each said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from burnish.app.report.differences import Difference, difference
from burnish.app.wiring import Workspace
from burnish.domain import (
    Candidate,
    ExperimentType,
    ItemResult,
    OptimizationRecord,
    UsageError,
)
from burnish.domain.experiments.repositories import DatasetRow
from burnish.domain.optimizations.pages import ItemLine
from burnish.evaluation.statistics import PairedComparison, paired_permutation_test

# Means over repeats differ by rounding where they are the same in truth.
_ROUNDING = 1e-12


class On(StrEnum):
    """Which items: those of the search, or those that it never saw."""

    SEARCH = "search"
    HELD_OUT = "held_out"


class Change(StrEnum):
    """What became of an item, in the order in which they matter."""

    REGRESSED = "regressed"
    IMPROVED = "improved"
    UNCHANGED = "unchanged"


_RANKS = {change: rank for rank, change in enumerate(Change)}
Results = Mapping[str, Sequence[ItemResult]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A candidate, the experiments that count for it, and its mean score by item.

    `tried` says whether it had a trial.
    """

    candidate: Candidate
    experiments: tuple[str, ...]
    scores: Mapping[str, float]
    tried: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two sides on the items that both ran. `tested` is None when there are none."""

    record: OptimizationRecord
    on: On
    before: Side
    after: Side
    changes: Mapping[str, Change]
    tested: PairedComparison | None
    held_out_available: bool

    @property
    def counts(self) -> Counter[Change]:
        """How many items there are of each change."""
        return Counter(self.changes.values())

    @property
    def difference(self) -> Difference:
        """What the configurations differ in."""
        return difference(self.before.candidate.configuration, self.after.candidate.configuration)

    def mean(self, side: Side) -> float | None:
        """A side's mean over the items that both ran."""
        scores = [side.scores[item] for item in self.changes]
        return sum(scores) / len(scores) if scores else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedItem:
    """One item with what both sides answered."""

    item_id: str
    row: DatasetRow | None
    change: Change
    before: Sequence[ItemResult]
    after: Sequence[ItemResult]
    before_score: float
    after_score: float


async def compare(
    workspace: Workspace, optimization_id: str, before: str, after: str, on: On
) -> Comparison:
    """Two candidates of one run; UsageError `not_found` when one is not there."""
    record = await workspace.optimizations.get_optimization(optimization_id)
    held_out = await _held_out(workspace, optimization_id)
    first = await read_side(workspace, record, before, on, held_out)
    second = await read_side(workspace, record, after, on, held_out)
    if on is On.SEARCH and not (first.tried and second.tried):
        # One ran on mini-batches only: the other's mini-batches may have the same items.
        first, second = [
            await read_side(workspace, record, one, on, whole=True) for one in (before, after)
        ]
    common = sorted(first.scores.keys() & second.scores.keys())
    return Comparison(
        record=record,
        on=on,
        before=first,
        after=second,
        changes={one: change_of(second.scores[one] - first.scores[one]) for one in common},
        tested=_tested(first, second, common),
        held_out_available=before in held_out and after in held_out,
    )


async def read_side(
    workspace: Workspace,
    record: OptimizationRecord,
    candidate_id: str,
    on: On,
    held_out: Mapping[str, tuple[str, ...]] | None = None,
    *,
    whole: bool = False,
) -> Side:
    """A candidate's part: its trial, or where it never had one its mini-batches together.

    The whole is both.
    """
    candidate = await workspace.insights.candidate(record.id, candidate_id)
    if on is On.HELD_OUT:
        known = await _held_out(workspace, record.id) if held_out is None else held_out
        experiments, tried = known.get(candidate_id, ()), False
    else:
        points = await workspace.insights.points(record.id, candidate_id=candidate_id)
        trial = tuple(one.experiment_id for one in points if one.type is ExperimentType.TRIAL)
        tried = bool(trial)
        everything = tuple(one.experiment_id for one in points)
        experiments = trial if trial and not whole else everything
    found, scores = await _scores(workspace, experiments)
    return Side(candidate=candidate, experiments=found, scores=scores, tried=tried)


async def compared_items(
    workspace: Workspace, comparison: Comparison, item_ids: Sequence[str]
) -> list[ComparedItem]:
    """Items of a comparison, in the order given, with what was answered."""
    before = await results_of(workspace, comparison.before, item_ids)
    after = await results_of(workspace, comparison.after, item_ids)
    dataset_id = comparison.record.dataset_id
    rows = (
        {} if dataset_id is None else await workspace.dataset_pages.find_rows(dataset_id, item_ids)
    )
    return [
        ComparedItem(
            item_id=one,
            row=rows.get(one),
            change=comparison.changes[one],
            before=before.get(one, ()),
            after=after.get(one, ()),
            before_score=comparison.before.scores[one],
            after_score=comparison.after.scores[one],
        )
        for one in item_ids
    ]


async def chosen_items(
    workspace: Workspace,
    comparison: Comparison,
    *,
    changes: Sequence[Change] = (),
    text: str | None = None,
) -> list[tuple[int, str]]:
    """Items by what became of them and then by id; `text` is looked for in their rows."""
    dataset_id = comparison.record.dataset_id
    matching: set[str] | None = None
    if text:
        matching = (
            set()
            if dataset_id is None
            else await workspace.dataset_pages.matching(dataset_id, text)
        )
    return sorted(
        (_RANKS[change], item)
        for item, change in comparison.changes.items()
        if (not changes or change in changes) and (matching is None or item in matching)
    )


async def results_of(workspace: Workspace, side: Side, item_ids: Sequence[str]) -> Results:
    """Every run of some items."""
    found: dict[str, list[ItemResult]] = {}
    for experiment in side.experiments:
        for one in await workspace.experiments.get_results(experiment, item_ids=item_ids):
            found.setdefault(one.item_id, []).append(one)
    return found


async def item_lines(
    workspace: Workspace, side: Side, item_id: str, row: DatasetRow | None
) -> list[ItemLine]:
    """Every run of one item with its rounds."""
    lines = []
    for experiment in side.experiments:
        rounds = await workspace.experiments.get_rounds(experiment, item_ids=[item_id])
        for one in await workspace.experiments.get_results(experiment, item_ids=[item_id]):
            line = ItemLine(
                result=one,
                data=None if row is None else row.item.data,
                split=None if row is None else row.item.split,
                rounds=tuple(rounds.get((one.item_id, one.repeat), ())),
            )
            lines.append(line)
    return lines


def change_of(difference: float) -> Change:
    """What a difference of scores means."""
    if abs(difference) <= _ROUNDING:
        return Change.UNCHANGED
    return Change.IMPROVED if difference > 0 else Change.REGRESSED


async def _held_out(workspace: Workspace, optimization_id: str) -> dict[str, tuple[str, ...]]:
    """The newest experiment on held-out items, by candidate."""
    runs = await workspace.insights.held_out(optimization_id)
    return {one.candidate_id: (one.experiment_id,) for one in runs}


async def _scores(
    workspace: Workspace, experiments: Sequence[str]
) -> tuple[tuple[str, ...], dict[str, float]]:
    """The experiments that have begun, and the mean of their scores by item."""
    begun: list[str] = []
    found: dict[str, list[float]] = {}
    for one in experiments:
        try:
            scores = await workspace.experiments.item_scores(one)
        except UsageError as error:
            if error.code != "not_found":
                raise
            continue  # It was planned, and nothing of it was run yet.
        begun.append(one)
        for item, score in scores.items():
            found.setdefault(item, []).append(score)
    return tuple(begun), {item: sum(scores) / len(scores) for item, scores in found.items()}


def _tested(before: Side, after: Side, common: Sequence[str]) -> PairedComparison | None:
    if not common:
        return None
    old = [before.scores[one] for one in common]
    return paired_permutation_test(old, [after.scores[one] for one in common], seed=0)
