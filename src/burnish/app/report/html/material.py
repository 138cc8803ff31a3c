"""Material of a report: everything that it is made of, read once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any

from burnish.app.optimize.run_spec import ranked
from burnish.app.report.html.markup import as_text
from burnish.domain import (
    Candidate,
    Configuration,
    ExperimentStatus,
    ItemResult,
    Json,
    OptimizationRecord,
    Rejection,
    Spending,
    TrialResult,
)
from burnish.evaluation.refine.statistics import RefinementStatistics
from burnish.models import count_tokens
from burnish.optimization.objective import Point, Ranking, points_of


def prompt_tokens(candidates: Iterable[Candidate]) -> dict[str, int]:
    """Tokens of all sections and examples by candidate id; equal texts are counted once."""
    known: dict[str, int] = {}

    def size(text: str) -> int:
        if text not in known:
            known[text] = count_tokens(text)
        return known[text]

    return {one.id: sum(map(size, _texts(one.configuration))) for one in candidates}


def _texts(configuration: Configuration) -> Iterator[str]:
    yield from configuration.sections.values()
    for example in configuration.examples:
        for value in example.values():
            yield as_text(value)


class Change(StrEnum):
    """What became of an item."""

    BROKEN = "broken"
    FIXED = "fixed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One item under one candidate: its mean score, and every run of it."""

    score: float
    results: tuple[ItemResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChange:
    """One item, before and after."""

    item_id: str
    change: Change
    before: Side
    after: Side
    fields: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemComparison:
    """What changed item by item; of many items only some are shown."""

    held_out: bool
    counts: Mapping[Change, int]
    shown: tuple[ItemChange, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventTally:
    """How many events of each type there were, from when to when, and each change of status."""

    counts: Mapping[str, int] = field(default_factory=dict)
    first: Mapping[str, str] = field(default_factory=dict)
    last: Mapping[str, str] = field(default_factory=dict)
    statuses: tuple[tuple[str, str], ...] = ()
    evaluations: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefinedTrial:
    """What refinement did to the outputs of a candidate's trial."""

    candidate: Candidate
    statistics: RefinementStatistics


@dataclass(frozen=True, kw_only=True)
class Material:
    """One optimization. `subject` is what the baseline is compared with: the winner, or where
    nothing beat the baseline its strongest challenger."""

    record: OptimizationRecord
    candidates: Sequence[Candidate]
    trials: Mapping[str, TrialResult]
    mini_batches: Mapping[str, Sequence[TrialResult]] = field(default_factory=dict)
    rejections: Sequence[Rejection] = ()
    events: EventTally = field(default_factory=EventTally)
    spending: Spending = field(default_factory=Spending)
    tokens: Mapping[str, int] = field(default_factory=dict)
    items: ItemComparison | None = None
    refined: tuple[RefinedTrial, ...] = ()
    expected_fields: tuple[str, ...] = ()

    @property
    def result(self) -> Mapping[str, Any]:
        """The outcome's document; empty while there is none."""
        return self.record.result or {}

    @cached_property
    def by_id(self) -> Mapping[str, Candidate]:
        """Candidates by id."""
        return {one.id: one for one in self.candidates}

    @cached_property
    def baseline(self) -> Candidate | None:
        """The configuration as it was given; None before the run began."""
        return next((one for one in self.candidates if one.number == 0), None)

    @cached_property
    def best(self) -> Candidate | None:
        """The winner, or the best so far."""
        named = self.result.get("best") or {}
        return self.by_id.get(named.get("candidate_id") or self.record.best_candidate_id or "")

    @property
    def beaten(self) -> bool:
        """Whether a candidate beat the baseline in the search."""
        return self.best is not None and self.best.number != 0

    @cached_property
    def subject(self) -> Candidate | None:
        """What the baseline is compared with."""
        if self.beaten:
            return self.best
        strongest = self.ranking.best([one for one in self.points if one.number != 0])
        return None if strongest is None else self.by_id[strongest.candidate_id]

    @cached_property
    def points(self) -> Sequence[Point]:
        """The trials that can be best, by number."""
        return points_of(self.trials.values(), self.by_id)

    @cached_property
    def ranking(self) -> Ranking:
        """How they compare."""
        return ranked(self.record, self.points)

    def score_of(self, candidate: Candidate | None) -> float | None:
        """The score of a candidate's trial."""
        trial = None if candidate is None else self.trials.get(candidate.id)
        return None if trial is None else trial.objective_score

    def standing_of(self, candidate: Candidate) -> str:
        """One word for what became of a candidate; also its class on the page."""
        trial = self.trials.get(candidate.id)
        if trial is None:
            return "mini-batch" if self.mini_batches.get(candidate.id) else "planned"
        if trial.status is ExperimentStatus.COMPLETED or trial.status is ExperimentStatus.PRUNED:
            return trial.status.value
        return "failed" if trial.status.final else "running"
