"""Every experiment of a search as columns, and the log of its events."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.report.run_points import PointTable
from burnish.domain import Event, EventType, ExperimentStatus
from burnish.server.http import examples
from burnish.server.http.responses import View

Kind = Literal["baseline", "trial", "mini-batch"]


class PointColumns(BaseModel):
    """Columns of one length: the same index is the same experiment."""

    candidate_id: list[str]
    number: list[int] = Field(description="The candidate's; the baseline is 0.")
    step_index: list[int]
    parents: list[list[int]] = Field(description="Numbers of the candidates it came from.")
    kind: list[Kind]
    status: list[ExperimentStatus]
    score: list[float | None]
    ci_low: list[float | None] = Field(description="Bounds of the score's 95 % interval.")
    ci_high: list[float | None]
    items: list[int]
    passed: list[int]
    pass_rate: list[float]
    evaluations: list[int | None] = Field(
        description="Item runs of all experiments that had ended with it; None while it runs."
    )
    cost_usd: list[float | None]
    cost_so_far_usd: list[float | None]
    avg_tokens: list[float | None]
    avg_latency_ms: list[float | None]
    avg_cost_usd: list[float | None]
    created_at: list[str | None]
    finished_at: list[str | None]
    rationale: list[str | None] = Field(description="On one line, at most 160 characters.")
    error: list[str | None] = Field(description="On one line, at most 160 characters.")
    experiment_id: list[str] = Field(description="What tells rows apart.")


class Points(BaseModel):
    """All experiments of a search, by number; a trial comes before its candidate's mini-batches."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "optimization_id": examples.OPTIMIZATION_ID,
                    "last_event_id": 12,
                    "best_candidate_id": examples.CANDIDATE_ID,
                    "count": 1,
                    "columns": {
                        "candidate_id": [examples.CANDIDATE_ID],
                        "number": [4],
                        "step_index": [2],
                        "parents": [[1]],
                        "kind": ["trial"],
                        "status": ["completed"],
                        "score": [0.88],
                        "ci_low": [0.76],
                        "ci_high": [0.94],
                        "items": [50],
                        "passed": [44],
                        "pass_rate": [0.88],
                        "evaluations": [250],
                        "cost_usd": [0.0],
                        "cost_so_far_usd": [0.0],
                        "avg_tokens": [92.0],
                        "avg_latency_ms": [91.5],
                        "avg_cost_usd": [0.0],
                        "created_at": [examples.MOMENT],
                        "finished_at": [examples.MOMENT],
                        "rationale": ["name the labels in the first line"],
                        "error": [None],
                        "experiment_id": [examples.EXPERIMENT_ID],
                    },
                }
            ]
        }
    )

    optimization_id: str
    last_event_id: int = Field(description="Send it as `since` to get only what changed after it.")
    best_candidate_id: str | None
    count: int
    columns: PointColumns


def point_rows(table: PointTable) -> dict[str, Any]:
    """`Points` as plain values, of which there may be thousands."""
    return {
        "optimization_id": table.record.id,
        "last_event_id": table.position,
        "best_candidate_id": table.record.best_candidate_id,
        "count": table.count,
        "columns": table.columns,
    }


class EventView(View):
    """Something that happened; `id` is its number in its run, as on the stream."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "id": 12,
                    "type": "best_candidate_changed",
                    "created_at": examples.MOMENT,
                    "payload": {"candidate_id": examples.CANDIDATE_ID, "score": 0.88},
                }
            ]
        }
    )

    id: int
    type: EventType
    created_at: str
    payload: dict[str, Any]

    @classmethod
    def of(cls, event: Event) -> EventView:
        """From its record."""
        return cls(
            id=event.sequence,
            type=event.type,
            created_at=event.created_at,
            payload=dict(event.payload),
        )


class EventPage(BaseModel):
    """Some events; `next_cursor` is None on the last page."""

    items: list[EventView]
    next_cursor: str | None
