"""Cache of model calls, up to a size, and records of tool calls, until their experiment is completed.

Calls that come together are read and written together.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Generic, TypeVar

from sqlalchemy import BigInteger, bindparam, delete, func, select, update

from burnish.storage.engine.bulk import BulkInsert, rows_of_many
from burnish.storage.engine.codec import PlainText, SafeText, decode_json, encode_json
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database, format_time
from burnish.storage.experiments.tables import call_cache, tool_calls

A = TypeVar("A")
R = TypeVar("R")

DEFAULT_MAX_BYTES = 512 * 1024 * 1024

# A use is noted when the last note is this old: reading must not mean writing.
_NOTE_AFTER = timedelta(hours=1)
_NOTES_AT_ONCE = 500
# Pruning goes this far below the limit, and looks again after as much has been added.
_SLACK = 0.1
# Small batches let the first go on while the next are done; a long queue is worth a large one.
_BATCH = 16
_LONGEST_QUEUE = 4

_get = select(call_cache.c.key, call_cache.c.value, call_cache.c.last_used).where(
    call_cache.c.key.in_(bindparam("keys", type_=SafeText, expanding=True))
)
_put = BulkInsert(call_cache, existing="replace")
_note = (
    update(call_cache)
    .where(call_cache.c.key.in_(bindparam("keys", type_=SafeText, expanding=True)))
    .values(last_used=bindparam("now", type_=PlainText))
)
_total = select(func.sum(call_cache.c.size))
_newest_first = (call_cache.c.last_used.desc(), call_cache.c.key)
_running = select(
    call_cache.c.key,
    func.sum(call_cache.c.size).over(order_by=_newest_first, rows=(None, 0)).label("running"),
).subquery()
_prune = delete(call_cache).where(
    call_cache.c.key.in_(
        select(_running.c.key).where(_running.c.running > bindparam("keep", type_=BigInteger))
    )
)
_of_experiment = tool_calls.c.experiment_id == bindparam("of_experiment", type_=SafeText)
_load_tools = select(tool_calls.c.call, tool_calls.c.value).where(
    _of_experiment, tool_calls.c.work == bindparam("of_work", type_=SafeText)
)
_add_tools = BulkInsert(tool_calls, existing="replace")
_forget_tools = delete(tool_calls).where(_of_experiment)


class SqlCallCache:
    """A CallCache on an open database. The least recently used entries go when it is full."""

    def __init__(self, database: Database, *, max_bytes: int = DEFAULT_MAX_BYTES) -> None:
        self._database = database
        self._max_bytes = max_bytes
        self._used: set[str] = set()
        self._reading = CallBatcher(self._read)
        self._writing = CallBatcher(self._write)
        self._unchecked = max_bytes  # The first write looks how full it is.

    async def get(self, key: str) -> Mapping[str, Any] | None:
        """What was put under the key, if it is still there."""
        # Keys that are asked for while others are being read go together.
        row = (await self._reading.ask(key, None)).get(key)
        if row is None:
            return None
        if row.last_used < format_time(self._database.clock.now() - _NOTE_AFTER):
            await self._note(key)
        value: Mapping[str, Any] = decode_json(row.value)
        return value

    async def _read(self, asked: dict[str, None]) -> dict[str, AnyRow]:
        rows = await self._database.read(
            lambda connection: rows_of_many(connection, _get, "keys", asked)
        )
        return {row.key: row for row in rows}

    async def put(self, key: str, value: Mapping[str, Any]) -> None:
        """Keep a value. Those that come while another is being written go together."""
        await self._writing.ask(key, encode_json(dict(value)) or "{}")

    async def _note(self, key: str) -> None:
        self._used.add(key)
        if len(self._used) >= _NOTES_AT_ONCE:
            await self._writing.ask("", None)

    async def _write(self, entries: dict[str, str | None]) -> None:
        """Entries, and which others were used."""
        now = self._database.stamp()
        texts = sorted((key, text) for key, text in entries.items() if text is not None)
        rows = [(key, len(text), now, now, text) for key, text in texts]
        used, self._used = self._used - {key for key, _ in texts}, set()
        unchecked = self._unchecked + sum(row[1] for row in rows)
        due = unchecked >= self._max_bytes * _SLACK

        async def work(connection: AsyncConnection) -> None:
            await _put(connection, rows)
            if used:
                await connection.execute(_note, {"keys": sorted(used), "now": now})
            if due:
                await self._prune(connection)

        await self._database.write(work)
        self._unchecked = 0 if due else unchecked

    async def _prune(self, connection: AsyncConnection) -> None:
        total = await connection.scalar(_total)
        if total is not None and total > self._max_bytes:
            await connection.execute(_prune, {"keep": int(self._max_bytes * (1 - _SLACK))})


@dataclass(slots=True)
class _Batch(Generic[A, R]):
    asked: dict[str, A] = field(default_factory=dict)
    answer: asyncio.Future[R] = field(
        default_factory=lambda: asyncio.get_running_loop().create_future()
    )


class CallBatcher(Generic[A, R]):
    """Does work for many tasks at once. All of a batch are woken together by its end.

    Of one key in a batch the last value counts. Somebody who goes away takes nothing with them:
    the batch is done for the others.
    """

    def __init__(self, work: Callable[[dict[str, A]], Awaitable[R]]) -> None:
        self._work = work
        self._waiting: deque[_Batch[A, R]] = deque()
        self._task: asyncio.Task[None] | None = None

    async def ask(self, key: str, value: A) -> R:
        """What the work returns for the batch that this becomes part of; its failure is raised."""
        if not self._waiting or len(self._waiting[-1].asked) >= _BATCH:
            self._waiting.append(_Batch())
        batch = self._waiting[-1]
        batch.asked[key] = value
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await asyncio.shield(batch.answer)

    async def _run(self) -> None:
        while self._waiting:
            together = max(1, len(self._waiting) // _LONGEST_QUEUE)
            batches = [self._waiting.popleft() for _ in range(together)]
            asked = {key: value for batch in batches for key, value in batch.asked.items()}
            answers = [batch.answer for batch in batches]
            try:
                found = await self._work(asked)
            except asyncio.CancelledError:
                for answer in answers:
                    answer.cancel()
                raise
            except BaseException as error:  # noqa: BLE001 - it is raised where it was asked for
                for answer in answers:
                    answer.set_exception(error)
                    answer.exception()  # Read once: nobody complains when no one waits.
            else:
                for answer in answers:
                    answer.set_result(found)


class SqlToolCalls:
    """ToolCallRecords on an open database. The first part of a work's name is its experiment's id."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writing = CallBatcher(self._write)

    async def load(self, work: str) -> Mapping[str, Mapping[str, Any]]:
        """Everything of one piece of work, by call."""
        key = {"of_experiment": _experiment_of(work), "of_work": work}

        async def read(connection: AsyncConnection) -> dict[str, Mapping[str, Any]]:
            rows = await connection.execute(_load_tools, key)
            return {row.call: row.value for row in rows}

        return await self._database.read(read)

    async def add(self, work: str, call: str, value: Mapping[str, Any]) -> None:
        """Keep what one call came to; those that come together are written together."""
        row = (_experiment_of(work), work, call, dict(value))
        await self._writing.ask(f"{work}\n{call}", row)

    async def _write(self, rows: dict[str, tuple[Any, ...]]) -> None:
        async def work(connection: AsyncConnection) -> None:
            await _add_tools(connection, sorted(rows.values(), key=lambda row: row[:3]))

        await self._database.write(work)


async def forget_tool_calls(connection: AsyncConnection, experiment_id: str) -> None:
    """Those of an experiment that is completed: its results hold what came of them."""
    await connection.execute(_forget_tools, {"of_experiment": experiment_id})


def _experiment_of(work: str) -> str:
    return work.partition("/")[0]
