"""Image runs: as rows and back, read and written in the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, bindparam, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain.images.runs import (
    Constraints,
    ImageCommit,
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
from burnish.domain.pages import Page
from burnish.domain.usage import Spending
from burnish.storage.engine.bulk import BulkInsert, chunks
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.database import AnyRow
from burnish.storage.engine.listing import sorted_page
from burnish.storage.images import commits as image_commits
from burnish.storage.images import leases as image_leases
from burnish.storage.images.commits import Document, known_fields, rubric_of
from burnish.storage.images.tables import image_runs, image_variants

_runs, _variants = image_runs.c, image_variants.c
_of_ids = bindparam("of_ids", type_=SafeText, expanding=True)
_add = {
    name: make(image_runs).on_conflict_do_nothing()
    for name, make in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}
_put_variants = BulkInsert(image_variants, existing="replace")
_forget_others = delete(image_variants).where(
    _variants.run_id == bindparam("of_id", type_=SafeText), _variants.variant_id.not_in(_of_ids)
)
_all = select(image_runs)
_one = _all.where(_runs.id == bindparam("of_id", type_=SafeText))
_variants_of = (
    select(image_variants)
    .where(_variants.run_id.in_(_of_ids))
    .order_by(_variants.run_id, _variants.position)
)
_revisions = select(_runs.id, _runs.revision).where(_runs.id.in_(_of_ids))
_WRITTEN = (
    *("status", "stage", "anchor_commit_id", "degraded"),
    *("degradations", "spending", "suggestions", "error"),
)
_given = {name: bindparam(f"new_{name}", type_=_runs[name].type) for name in _WRITTEN}
_save = image_leases.fenced(ends=False, **_given)
_end = image_leases.fenced(
    ends=True,
    completed_at=func.coalesce(_runs.completed_at, bindparam("now", type_=PlainText)),
    **_given,
)


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


async def create(
    connection: AsyncConnection, run_id: str, request: ImageRunRequest, now: str
) -> None:
    """Write a run that waits, unless it is there."""
    await image_commits.ensure_project(connection, request.project_id, now)
    await connection.execute(_add[connection.dialect.name], new_run_row(run_id, request, now))


async def get(connection: AsyncConnection, run_id: str) -> ImageRun:
    """One run with its variants."""
    found = await _read(connection, _one, {"of_id": run_id})
    if not found:
        raise image_leases.not_found(run_id)
    return found[0]


async def page(
    connection: AsyncConnection,
    *,
    project_id: str | None,
    status: ImageRunStatus | None,
    limit: int,
    after: Sequence[Any] | None,
) -> Page[ImageRun]:
    """The newest first."""
    wanted = _all
    if project_id is not None:
        wanted = wanted.where(_runs.project_id == project_id)
    if status is not None:
        wanted = wanted.where(_runs.status == status.value)
    keys = [_runs.created_at, _runs.id]
    found = await _read(
        connection, sorted_page(wanted, keys, down=True, limit=limit, after=after), {}
    )
    last = found[limit - 1] if len(found) > limit else None
    place = None if last is None else (last.created_at, last.run_id)
    return Page(items=found[:limit], next=place)


async def revisions(connection: AsyncConnection, run_ids: Sequence[str]) -> dict[str, int]:
    """The revision of each that is there."""
    found: dict[str, int] = {}
    for ids in chunks(list(dict.fromkeys(run_ids))):
        found |= {
            row.id: row.revision for row in await connection.execute(_revisions, {"of_ids": ids})
        }
    return found


async def save(
    connection: AsyncConnection,
    run: ImageRun,
    token: int,
    commits: Sequence[ImageCommit],
    now: str,
) -> None:
    """Write the run as it stands, with its variants and new commits, for who holds its lease."""
    values = {f"new_{name}": value for name, value in run_values(run).items()}
    bound = {**values, "of_id": run.run_id, "of_token": token, "now": now}
    statement = _end if run.status.ended else _save
    if not (await connection.execute(statement, bound)).rowcount:
        raise await image_leases.lost(connection, run.run_id)
    # Everybody writes in the same order, so that no two wait for each other.
    for commit in sorted(commits, key=lambda one: one.commit_id):
        await image_commits.add(connection, commit, now)
    if run.anchor_commit_id is not None and not run.status.ended:
        await image_commits.hold_anchor(connection, run.anchor_commit_id)
    ids = [one.variant_id for one in run.variants]
    await connection.execute(_forget_others, {"of_id": run.run_id, "of_ids": ids})
    await _put_variants(connection, variant_rows(run))


async def _read(
    connection: AsyncConnection, statement: Select[Any], bound: dict[str, Any]
) -> list[ImageRun]:
    rows = (await connection.execute(statement, bound)).all()
    variants: list[Any] = []
    for ids in chunks([row.id for row in rows]):
        variants += await connection.execute(_variants_of, {"of_ids": ids})
    return read_runs(rows, variants)
