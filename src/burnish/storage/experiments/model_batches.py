"""Batches of model requests: recorded before they are sent, with the requests that each holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from burnish.domain import BatchClaim, BatchRecord
from burnish.storage.engine.bulk import BulkInsert, chunks, rows_of_many
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database, format_time
from burnish.storage.experiments.tables import model_batch_requests, model_batches

_batches, _requests = model_batches.c, model_batch_requests.c
_of_id = bindparam("of_id", type_=SafeText)
_keys = bindparam("keys", type_=SafeText, expanding=True)
_by_id = select(model_batches).where(_batches.id == _of_id)
_open = (
    select(model_batches)
    .where(_batches.run_id == bindparam("of_run", type_=SafeText), _batches.ended_at.is_(None))
    .order_by(_batches.created_at, _batches.id)
)
_claims = select(model_batch_requests).where(_requests.key.in_(_keys))
_claim = BulkInsert(model_batch_requests, existing="skip")
_release = delete(model_batch_requests).where(
    _requests.batch_id == _of_id, _requests.key.in_(_keys)
)
_drop = delete(model_batches).where(_batches.id == _of_id)
_sending = (
    update(model_batches)
    .where(_batches.id == _of_id, _batches.sending_at.is_(None))
    .values(sending_at=bindparam("now", type_=PlainText))
)
_sent = (
    update(model_batches)
    .where(_batches.id == _of_id)
    .values(vendor_id=bindparam("of_vendor", type_=SafeText))
)
_looked = (
    update(model_batches)
    .where(_batches.id == _of_id)
    .values(answered=bindparam("now_answered"), looked_at=bindparam("now", type_=PlainText))
)
_ended = (
    update(model_batches)
    .where(_batches.id == _of_id, _batches.ended_at.is_(None))
    .values(ended_at=bindparam("now", type_=PlainText))
)


class SqlBatchRecords:
    """Batch records on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, batch: BatchRecord, claims: Sequence[BatchClaim]) -> bool:
        """Keep a new batch; False, and nothing is kept, where another holds one of the requests."""
        # In one order, so that two who claim the same never wait for each other.
        rows = sorted((one.key, one.batch_id, one.position, one.payer) for one in claims)

        async def work(connection: AsyncConnection) -> bool:
            await connection.execute(insert(model_batches), _row(batch))
            if await _claim(connection, rows) == len(rows):
                return True
            await connection.execute(_drop, {"of_id": batch.id})
            return False

        return await self._database.write(work)

    async def claims(self, keys: Collection[str]) -> Mapping[str, BatchClaim]:
        """Those of the requests that a batch holds."""
        rows = await self._database.read(
            lambda connection: rows_of_many(connection, _claims, "keys", keys)
        )
        return {row.key: BatchClaim(row.key, row.batch_id, row.position, row.payer) for row in rows}

    async def batch(self, batch_id: str) -> BatchRecord | None:
        """A batch; None once it is forgotten."""
        row = await self._database.one_row(_by_id, {"of_id": batch_id})
        return None if row is None else _record(row)

    async def note_sending(self, batch_id: str, now: datetime) -> bool:
        """It is about to be sent; False where somebody forgot it meanwhile, so it must not be."""
        bound = {"of_id": batch_id, "now": format_time(now)}
        return await self._database.write(lambda connection: _changes(connection, _sending, bound))

    async def note_sent(self, batch_id: str, vendor_id: str) -> bool:
        """The vendor has it under this id; False where somebody forgot it meanwhile."""
        bound = {"of_id": batch_id, "of_vendor": vendor_id}
        return await self._database.write(lambda connection: _changes(connection, _sent, bound))

    async def note_look(self, batch_id: str, answered: int, now: datetime) -> None:
        """So many of its requests are answered by now, as the vendor says."""
        bound = {"of_id": batch_id, "now": format_time(now), "now_answered": answered}
        await self._database.write(lambda connection: _changes(connection, _looked, bound))

    async def forget(self, batch: BatchRecord) -> bool:
        """Drop a batch that the vendor never got, with its claims; False if it is no longer so."""
        then = None if batch.sending_at is None else format_time(batch.sending_at)
        as_seen = _drop.where(
            _batches.vendor_id.is_(None), _batches.sending_at.is_not_distinct_from(then)
        )
        bound = {"of_id": batch.id}
        return await self._database.write(lambda connection: _changes(connection, as_seen, bound))

    async def note_ended(self, batch_id: str, now: datetime) -> None:
        """The vendor is through with it."""
        bound = {"of_id": batch_id, "now": format_time(now)}
        await self._database.write(lambda connection: _changes(connection, _ended, bound))

    async def release(self, batch_id: str, keys: Collection[str]) -> None:
        """These requests are answered and kept, or free to go in another batch."""

        async def work(connection: AsyncConnection) -> None:
            for chunk in chunks(sorted(keys)):
                await connection.execute(_release, {"of_id": batch_id, "keys": chunk})

        await self._database.write(work)

    async def open_batches(self, run_id: str) -> list[BatchRecord]:
        """Those of a run that the vendor is not through with, oldest first."""
        return [_record(row) for row in await self._database.all_rows(_open, {"of_run": run_id})]


async def _changes(connection: AsyncConnection, statement: Any, bound: dict[str, Any]) -> bool:
    return (await connection.execute(statement, bound)).rowcount > 0


def _row(batch: BatchRecord) -> dict[str, Any]:
    values = {field.name: getattr(batch, field.name) for field in fields(batch)}
    return {
        name: format_time(value) if isinstance(value, datetime) else value
        for name, value in values.items()
    }


def _record(row: AnyRow) -> BatchRecord:
    values = dict(row._mapping)  # noqa: SLF001 - its public name
    for name in ("created_at", "sending_at", "ended_at", "looked_at"):
        values[name] = None if values[name] is None else datetime.fromisoformat(values[name])
    return BatchRecord(**values)
