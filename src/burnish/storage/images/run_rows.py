"""Image runs and their variants as rows and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from burnish.domain.images import (
    Constraints,
    ImageFile,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
    ObjectivePreset,
    Quality,
    Suggestions,
    Variant,
    VariantStatus,
)
from burnish.domain.usage import Spending
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.database import AnyRow
from burnish.storage.images.rows import Document, known_fields, rubric_of


def new_run_row(run_id: str, request: ImageRunRequest, now: str) -> Document:
    """A run that waits and that nobody has taken yet."""
    return {
        "id": run_id,
        "project_id": request.project_id,
        "created_at": now,
        "updated_at": now,
        "completed_at": None,
        "cancel_requested": False,
        "revision": 1,
        "lease_owner": None,
        "lease_expires": None,
        "lease_token": 0,
        "attempts": 0,
        "request": asdict(request),
        **run_values(ImageRun(run_id=run_id, request=request)),
    }


def run_values(run: ImageRun) -> Document:
    """As much of a run as whoever runs it decides; what was asked for stays as it is."""
    return {
        "status": run.status.value,
        "stage": run.stage.value,
        "anchor_commit_id": run.anchor_commit_id,
        "degraded": run.degraded,
        "degradations": list(run.degradations),
        "spending": run.spending.to_json()["by_purpose"],
        "suggestions": None if run.suggestions is None else asdict(run.suggestions),
        "error": run.error,
    }


def variant_rows(run: ImageRun) -> list[BulkRow]:
    """The run's variants in the order of the table's columns."""
    return [
        (
            run.run_id,
            one.variant_id,
            position,
            one.status.value,
            one.parent_commit_id,
            one.commit_id,
            one.generation_latency_ms,
            one.judge_latency_ms,
            one.composite_score,
            one.rank,
            one.variant_prompt,
            list(one.mutation_tags),
            None if one.image is None else asdict(one.image),
            None if one.rubric is None else asdict(one.rubric),
            one.error,
        )
        for position, one in enumerate(run.variants)
    ]


def read_runs(rows: Sequence[AnyRow], variants: Iterable[AnyRow]) -> list[ImageRun]:
    """The runs of rows; the rows of each one's variants come in order."""
    found: dict[str, list[Variant]] = {row.id: [] for row in rows}
    for one in variants:
        found[one.run_id].append(_variant(one))
    return [_run(row, tuple(found[row.id])) for row in rows]


def _run(row: AnyRow, variants: tuple[Variant, ...]) -> ImageRun:
    return ImageRun(
        run_id=row.id,
        request=_request(row.request),
        status=ImageRunStatus(row.status),
        stage=ImageRunStatus(row.stage),
        anchor_commit_id=row.anchor_commit_id,
        degraded=row.degraded,
        degradations=tuple(row.degradations),
        error=row.error,
        variants=variants,
        suggestions=None if row.suggestions is None else _suggestions(row.suggestions),
        spending=Spending.of(row.spending),
        cancel_requested=row.cancel_requested,
        revision=row.revision,
        created_at=row.created_at,
        updated_at=row.updated_at,
        completed_at=row.completed_at,
    )


def _request(document: Mapping[str, Any]) -> ImageRunRequest:
    known = known_fields(ImageRunRequest, document)
    limits = known.pop("constraints", {})
    return ImageRunRequest(
        **known
        | {
            "objective_preset": ObjectivePreset(known["objective_preset"]),
            "quality": Quality(known["quality"]),
            "constraints": Constraints(
                **{name: tuple(words) for name, words in known_fields(Constraints, limits).items()}
            ),
        }
    )


def _suggestions(document: Mapping[str, Any]) -> Suggestions:
    return Suggestions(**known_fields(Suggestions, document))


def _variant(row: AnyRow) -> Variant:
    return Variant(
        variant_id=row.variant_id,
        variant_prompt=row.variant_prompt,
        mutation_tags=tuple(row.mutation_tags),
        status=VariantStatus(row.status),
        parent_commit_id=row.parent_commit_id,
        commit_id=row.commit_id,
        image=None if row.image is None else ImageFile(**known_fields(ImageFile, row.image)),
        generation_latency_ms=row.generation_latency_ms,
        judge_latency_ms=row.judge_latency_ms,
        rubric=None if row.rubric is None else rubric_of(row.rubric),
        composite_score=row.composite_score,
        rank=row.rank,
        error=row.error,
    )
