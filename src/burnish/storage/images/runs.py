"""Image runs: as rows and back, read and written in the caller's transaction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import Select, bindparam, delete, func, select

from burnish.domain.images.runs import (
    ImageCommit,
    ImageFile,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
    ObjectivePreset,
    Pairwise,
    Preference,
    Quality,
    Suggestions,
    Variant,
    VariantStatus,
)
from burnish.domain.usage import Spending
from burnish.storage.engine.bulk import BulkInsert, row_of, rows_of_many, skipping_insert, value_of
from burnish.storage.engine.bulk import Row as BulkRow
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow
from burnish.storage.images import leases
from burnish.storage.images.commits import (
    Document,
    add_commit,
    constraints_of,
    hold_anchor,
    known_fields,
    rubric_of,
)
from burnish.storage.images.tables import image_runs, image_variants

_runs, _variants = image_runs.c, image_variants.c
_of_ids = bindparam("of_ids", type_=SafeText, expanding=True)
_add = skipping_insert(image_runs)
_put_variants = BulkInsert(image_variants, existing="replace")
_forget_others = delete(image_variants).where(
    _variants.run_id == bindparam("of_id", type_=SafeText), _variants.variant_id.not_in(_of_ids)
)
ALL_RUNS = select(image_runs)
_one = ALL_RUNS.where(_runs.id == bindparam("of_id", type_=SafeText))
_variants_of = (
    select(image_variants)
    .where(_variants.run_id.in_(_of_ids))
    .order_by(_variants.run_id, _variants.position)
)
_WRITTEN = (
    *("status", "stage", "anchor_commit_id", "degraded"),
    *("degradations", "spending", "suggestions", "error"),
)
_given = {name: bindparam(f"new_{name}", type_=_runs[name].type) for name in _WRITTEN}
_save = leases.fenced(ends=False, **_given)
_end = leases.fenced(
    ends=True,
    completed_at=func.coalesce(_runs.completed_at, bindparam("now", type_=PlainText)),
    **_given,
)


def _decided(run: ImageRun) -> Document:
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


def _request(document: Mapping[str, Any]) -> ImageRunRequest:
    known = known_fields(ImageRunRequest, document)
    limits = constraints_of(known.pop("constraints", {}))
    return ImageRunRequest(
        **known
        | {
            "objective_preset": ObjectivePreset(known["objective_preset"]),
            "quality": Quality(known["quality"]),
            "constraints": limits,
        }
    )


async def add_run(
    connection: AsyncConnection, run_id: str, request: ImageRunRequest, now: str
) -> None:
    """Write a run that waits and that nobody has taken yet, unless it is there."""
    row = {
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
        **_decided(ImageRun(run_id=run_id, request=request)),
    }
    await connection.execute(_add[connection.dialect.name], row)


async def get_run(connection: AsyncConnection, run_id: str) -> ImageRun:
    """One run with its variants."""
    found = await read_runs(connection, _one, {"of_id": run_id})
    if not found:
        raise leases.IMAGE_RUN_LEASES.not_found(run_id)
    return found[0]


async def read_runs(
    connection: AsyncConnection, statement: Select[Any], bound: Document | None = None
) -> list[ImageRun]:
    """The runs that a statement finds, each with its variants in order."""
    rows = (await connection.execute(statement, bound)).all()
    variants: dict[str, list[Variant]] = {row.id: [] for row in rows}
    for one in await rows_of_many(connection, _variants_of, "of_ids", variants):
        variants[one.run_id].append(_variant(one))
    return [_run(row, tuple(variants[row.id])) for row in rows]


def _run(row: AnyRow, variants: tuple[Variant, ...]) -> ImageRun:
    told = row.suggestions
    return value_of(
        ImageRun,
        row,
        run_id=row.id,
        request=_request(row.request),
        status=ImageRunStatus(row.status),
        stage=ImageRunStatus(row.stage),
        degradations=tuple(row.degradations),
        variants=variants,
        suggestions=None if told is None else Suggestions(**known_fields(Suggestions, told)),
        spending=Spending.of(row.spending),
    )


def _variant(row: AnyRow) -> Variant:
    return value_of(
        Variant,
        row,
        mutation_tags=tuple(row.mutation_tags),
        status=VariantStatus(row.status),
        image=None if row.image is None else ImageFile(**known_fields(ImageFile, row.image)),
        rubric=None if row.rubric is None else rubric_of(row.rubric),
        not_drawn=tuple(row.not_drawn or ()),
        pairwise=_pairwise((row.rubric or {}).get("pairwise")),
    )


def _pairwise(document: Mapping[str, Any] | None) -> Pairwise | None:
    if document is None:
        return None
    known = known_fields(Pairwise, document)
    told = [Preference(**known_fields(Preference, one)) for one in known.get("preferences", ())]
    interval = known.get("interval")
    return Pairwise(
        preferences=tuple(told),
        win_rate=known.get("win_rate"),
        interval=None if interval is None else (interval[0], interval[1]),
    )


def _rubric_document(variant: Variant) -> Document | None:
    """What the judge said of the picture, alone and beside others."""
    if variant.rubric is None:
        return None
    alone = asdict(variant.rubric)
    return alone if variant.pairwise is None else {**alone, "pairwise": asdict(variant.pairwise)}


def _variant_row(run_id: str, position: int, variant: Variant) -> BulkRow:
    row = row_of(
        image_variants,
        variant,
        run_id=run_id,
        position=position,
        mutation_tags=list(variant.mutation_tags),
        not_drawn=list(variant.not_drawn),
        image=None if variant.image is None else asdict(variant.image),
        rubric=_rubric_document(variant),
    )
    return tuple(row.values())


async def save_run(
    connection: AsyncConnection,
    run: ImageRun,
    token: int,
    commits: Sequence[ImageCommit],
    now: str,
) -> None:
    """Write the run as it stands, with its variants and new commits, for who holds its lease."""
    values = {f"new_{name}": value for name, value in _decided(run).items()}
    bound = {**values, "of_id": run.run_id, "of_token": token, "now": now}
    statement = _end if run.status.ended else _save
    if not (await connection.execute(statement, bound)).rowcount:
        raise await leases.lost(connection, run.run_id)
    # Everybody writes in the same order, so that no two wait for each other.
    for commit in sorted(commits, key=lambda one: one.commit_id):
        await add_commit(connection, commit, now)
    if run.anchor_commit_id is not None and not run.status.ended:
        await hold_anchor(connection, run.anchor_commit_id)
    ids = [one.variant_id for one in run.variants]
    await connection.execute(_forget_others, {"of_id": run.run_id, "of_ids": ids})
    rows = [_variant_row(run.run_id, place, one) for place, one in enumerate(run.variants)]
    await _put_variants(connection, rows)
