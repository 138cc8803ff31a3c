"""Mirrors of optimizations: which parts of them an Opik server was sent."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, select, update

from burnish.domain.opik import Mirror, MirrorTarget
from burnish.storage.engine.bulk import BulkInsert, by_dialect, row_of, value_of
from burnish.storage.engine.codec import SafeText
from burnish.storage.engine.database import Database
from burnish.storage.opik.tables import opik_mirror_parts, opik_mirrors

_mirrors, _parts = opik_mirrors.c, opik_mirror_parts.c
_KEY = ("optimization_id", "url", "workspace")
_of_mirror = [_mirrors[name] == bindparam(f"of_{name}", type_=SafeText) for name in _KEY]
_of_parts = [_parts[name] == bindparam(f"of_{name}", type_=SafeText) for name in _KEY]
_open = (
    select(opik_mirrors)
    .where(_mirrors.open.is_(True))
    .order_by(_mirrors.created_at, _mirrors.optimization_id)
)
_delivered = select(_parts.part, _parts.mark).where(*_of_parts)
_close = update(opik_mirrors).where(*_of_mirror).values(open=False, error=None)
_note = update(opik_mirrors).where(*_of_mirror).values(error=bindparam("new_error", type_=SafeText))
_mark = BulkInsert(opik_mirror_parts, existing="replace")


def _enrolment(insert: Any) -> Any:
    statement = insert(opik_mirrors)
    return statement.on_conflict_do_update(
        index_elements=[_mirrors[name] for name in _KEY],
        set_={
            "open": True,
            "project": statement.excluded.project,
            "api_key_env": statement.excluded.api_key_env,
        },
    )


_enrol = by_dialect(_enrolment)


class SqlMirrorBook:
    """Remembers what was delivered. Optimizations are their own backlog: nothing is kept twice.

    A mirror is open from its enrolment until `close`. Marks belong to parts of it, by name.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def enrol(self, optimization_id: str, target: MirrorTarget) -> None:
        """Open it, also one that was closed; what was delivered stays marked."""
        row = row_of(
            opik_mirrors,
            target,
            optimization_id=optimization_id,
            open=True,
            error=None,
            created_at=self._database.stamp(),
        )
        await self._database.write(
            lambda connection: connection.execute(_enrol[connection.dialect.name], row)
        )

    async def open_mirrors(self) -> list[Mirror]:
        """Those with something left to deliver, the oldest first."""
        rows = await self._database.all_rows(_open)
        return [value_of(Mirror, row, target=value_of(MirrorTarget, row)) for row in rows]

    async def delivered(self, mirror: Mirror) -> dict[str, str]:
        """Marks by part."""
        rows = await self._database.all_rows(_delivered, _bound(mirror))
        return {row.part: row.mark for row in rows}

    async def mark(self, mirror: Mirror, part: str, mark: str) -> None:
        """A part was delivered."""
        row = (mirror.optimization_id, mirror.target.url, mirror.target.workspace, part, mark)
        await self._database.write(lambda connection: _mark(connection, [row]))

    async def note_error(self, mirror: Mirror, error: str | None) -> None:
        """What went wrong, or that nothing did."""
        bound = {**_bound(mirror), "new_error": error}
        await self._database.write(lambda connection: connection.execute(_note, bound))

    async def close(self, mirror: Mirror) -> None:
        """All of it is there."""
        await self._database.write(lambda connection: connection.execute(_close, _bound(mirror)))


def _bound(mirror: Mirror) -> dict[str, str]:
    return {
        "of_optimization_id": mirror.optimization_id,
        "of_url": mirror.target.url,
        "of_workspace": mirror.target.workspace,
    }
