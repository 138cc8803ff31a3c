"""Two candidates item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.report.comparisons import Change, ComparedItem, Comparison, On, Side
from burnish.app.report.html.markup import as_text
from burnish.app.report.run_points import shortened
from burnish.domain import ItemResult, Json
from burnish.domain.read_models import ItemLine
from burnish.server.agents.schemas import DifferenceView
from burnish.server.http import examples
from burnish.server.http.responses import View
from burnish.server.optimizations.trial_schemas import ItemView

_PREVIEW = 200
_MOST_FIELDS = 8


class ComparedCandidate(BaseModel):
    """A side of a comparison; its score is over the items that both ran."""

    candidate_id: str
    number: int
    score: float | None


class ComparisonView(BaseModel):
    """Two candidates on the items that both ran. Without any, there are no numbers."""

    before: ComparedCandidate
    after: ComparedCandidate
    on: On
    items: int
    before_score: float | None
    after_score: float | None
    delta: float | None
    ci_low: float | None = Field(description="Bounds of the difference's 95 % interval.")
    ci_high: float | None
    p_value: float | None
    improved: int
    regressed: int
    unchanged: int
    held_out_available: bool = Field(description="Whether both ran on held-out items.")
    difference: DifferenceView

    @classmethod
    def of(cls, comparison: Comparison) -> ComparisonView:
        """From what was compared."""
        tested, counts = comparison.tested, comparison.counts
        return cls(
            before=_candidate(comparison, comparison.before),
            after=_candidate(comparison, comparison.after),
            on=comparison.on,
            items=len(comparison.changes),
            before_score=comparison.mean(comparison.before),
            after_score=comparison.mean(comparison.after),
            delta=None if tested is None else tested.delta,
            ci_low=None if tested is None else tested.ci_low,
            ci_high=None if tested is None else tested.ci_high,
            p_value=None if tested is None else tested.p_value,
            improved=counts[Change.IMPROVED],
            regressed=counts[Change.REGRESSED],
            unchanged=counts[Change.UNCHANGED],
            held_out_available=comparison.held_out_available,
            difference=DifferenceView.of(comparison.difference),
        )


class ComparedSide(View):
    """What a candidate made of an item: the beginning of its first answer, and the mean score."""

    score: float
    passed: bool = Field(description="In all runs.")
    runs: int
    output: str
    error: str | None

    @classmethod
    def of(cls, score: float, results: Sequence[ItemResult]) -> ComparedSide:
        """From all runs of an item."""
        answered = next((one.output for one in results if one.output is not None), None)
        failed = next((one.error for one in results if one.error is not None), None)
        return cls(
            score=score,
            passed=bool(results) and all(one.passed for one in results),
            runs=len(results),
            output="" if answered is None else shortened(answered.text, _PREVIEW) or "",
            error=None if failed is None else shortened(failed.message, _PREVIEW),
        )


class ComparedItemView(View):
    """An item and what became of it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "item_id": "r7",
                    "split": "validation",
                    "preview": "a dull film, and far too long",
                    "change": "improved",
                    "delta": 1.0,
                    "before": {
                        "score": 0.0,
                        "passed": False,
                        "runs": 1,
                        "output": "positive",
                        "error": None,
                    },
                    "after": {
                        "score": 1.0,
                        "passed": True,
                        "runs": 1,
                        "output": "negative",
                        "error": None,
                    },
                }
            ]
        }
    )

    item_id: str
    split: str | None
    preview: str = Field(description="The beginning of the row, on one line.")
    change: Literal["improved", "regressed", "unchanged"]
    delta: float
    before: ComparedSide
    after: ComparedSide

    @classmethod
    def of(cls, one: ComparedItem) -> ComparedItemView:
        """From what was compared."""
        return cls(
            item_id=one.item_id,
            split=None if one.row is None else one.row.item.split,
            preview="" if one.row is None else preview_of(one.row.item.data),
            change=one.change.value,
            delta=one.after_score - one.before_score,
            before=ComparedSide.of(one.before_score, one.before),
            after=ComparedSide.of(one.after_score, one.after),
        )


class ComparedItemPage(BaseModel):
    """Some items: those that got worse first, then better ones; `total` is of all that fit."""

    items: list[ComparedItemView]
    next_cursor: str | None
    total: int


class ItemSide(BaseModel):
    """What one candidate made of an item, run by run."""

    candidate_id: str
    number: int
    score: float | None
    runs: list[ItemView]


class ItemDetail(View):
    """One item in full, with what each candidate answered and how that was judged."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "item_id": "r7",
                    "split": "validation",
                    "input": {"review": "a dull film", "label": "negative"},
                    "expected": {"label": "negative"},
                    "sides": [
                        {
                            "candidate_id": examples.CANDIDATE_ID,
                            "number": 4,
                            "score": None,
                            "runs": [],
                        }
                    ],
                }
            ]
        }
    )

    item_id: str
    split: str | None
    input: dict[str, Any] | None = Field(description="The row of the dataset; None if not stored.")
    expected: dict[str, Any] = Field(description="The fields of it that scorers compare with.")
    sides: list[ItemSide]


def item_side(side: Side, lines: Sequence[ItemLine]) -> ItemSide:
    """A side of an item from its runs."""
    scores = [one.result.score for one in lines]
    return ItemSide(
        candidate_id=side.candidate.id,
        number=side.candidate.number,
        score=sum(scores) / len(scores) if scores else None,
        runs=[ItemView.of(one) for one in lines],
    )


def preview_of(data: Mapping[str, Json]) -> str:
    """A row on one line."""
    if len(data) == 1:
        return shortened(as_text(next(iter(data.values()))), _PREVIEW) or ""
    parts = (f"{name}: {as_text(value)[:_PREVIEW]}" for name, value in data.items())
    shown = [part for part, _ in zip(parts, range(_MOST_FIELDS), strict=False)]
    return shortened(" · ".join(shown), _PREVIEW) or ""


def _candidate(comparison: Comparison, side: Side) -> ComparedCandidate:
    return ComparedCandidate(
        candidate_id=side.candidate.id,
        number=side.candidate.number,
        score=comparison.mean(side),
    )
