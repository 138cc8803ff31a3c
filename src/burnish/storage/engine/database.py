"""An open database: transactions with deadlines and retries, on SQLite or PostgreSQL."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NoReturn, Self, TypeVar

from sqlalchemy import Row, Select, select
from sqlalchemy.exc import SQLAlchemyError

from burnish.domain import Clock, InvariantError, SystemClock, UsageError
from burnish.storage.engine import failpoints, failures, schema
from burnish.storage.engine.connections import Address, AsyncConnection, Engines, Transactions, Work
from burnish.support.retry import RetryPolicy, retry

T = TypeVar("T")
AnyRow = Row[*tuple[Any, ...]]

_LONGEST_LOCK_SECONDS = 5.0
_BACKOFF = RetryPolicy(
    max_attempts=None, first_wait_seconds=0.05, longest_wait_seconds=2.0, deadline_seconds=None
)
_UNREACHABLE_AT_OPEN_SECONDS = 1.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class Database:
    """What repositories run on. Safe to use from many tasks at once; `close` ends it.

    Work that is given to `read` and `write` may be done more than once: a locked or restarted
    database is waited for, up to `patience_seconds`, and nothing of a failed attempt is kept. It
    awaits its connection and nothing else.
    """

    def __init__(
        self,
        address: Address,
        engines: Engines,
        clock: Clock,
        limits: RetryLimits,
        timeout: float,
    ) -> None:
        self._address = address
        self._engines = engines
        self._clock = clock
        self._retry_limits = limits
        self._timeout = timeout
        self._last_tick = 0
        self._closed = False

    @classmethod
    async def open(
        cls,
        url_or_path: str | os.PathLike[str],
        *,
        clock: Clock | None = None,
        patience_seconds: float = 20.0,
        timeout_seconds: float = 60.0,
    ) -> Self:
        """Open a database; make it first, or bring it up to date, where that is needed.

        A server that cannot be reached at all is not waited for: the address is likely wrong.
        """
        address = Address.of(url_or_path)
        _make_folder(address)
        limits = RetryLimits(busy_seconds=patience_seconds, lost_seconds=patience_seconds)
        try:
            engines = Engines.create(
                address,
                wait_seconds=timeout_seconds,
                busy_seconds=min(patience_seconds, _LONGEST_LOCK_SECONDS),
            )
        except failures.DATABASE_ERRORS as error:
            raise failures.translate(error, address) from None
        database = cls(address, engines, clock or SystemClock(), limits, timeout_seconds)
        try:
            await database._prepare(
                RetryLimits(
                    busy_seconds=patience_seconds, lost_seconds=_UNREACHABLE_AT_OPEN_SECONDS
                )
            )
        except BaseException:
            await database.close()
            raise
        return database

    @property
    def location(self) -> str:
        """Where it is, without the password."""
        return self._address.location

    @property
    def clock(self) -> Clock:
        """The time that stamps are made from."""
        return self._clock

    async def close(self) -> None:
        """Close every connection. Closing twice does no harm."""
        self._closed = True
        await self._engines.dispose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def read(self, work: Work[T]) -> T:
        """Run reads that all see the same moment."""
        return await self._run(self._engines.reader, work, self._retry_limits)

    async def all_rows(
        self, statement: Select[Any], bound: Mapping[str, Any] | None = None
    ) -> Sequence[AnyRow]:
        """Run one reading statement."""

        async def work(connection: AsyncConnection) -> Sequence[AnyRow]:
            rows: Sequence[AnyRow] = (await connection.execute(statement, bound)).all()
            return rows

        return await self.read(work)

    async def one_row(
        self, statement: Select[Any], bound: Mapping[str, Any] | None = None
    ) -> AnyRow | None:
        """Run a reading statement that finds one row or none."""

        async def work(connection: AsyncConnection) -> AnyRow | None:
            row: AnyRow | None = (await connection.execute(statement, bound)).one_or_none()
            return row

        return await self.read(work)

    async def write(self, work: Work[T]) -> T:
        """Run a transaction, which is committed when this returns and else leaves nothing."""
        failpoints.reach(work, "before")
        result = await self._run(self._engines.writer, work, self._retry_limits)
        failpoints.reach(work, "after")
        return result

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncConnection]:
        """A transaction that cannot be repeated, because its source is read only once.

        Only its start is tried again. Statements in it belong under a `deadline`.
        """
        try:
            connection, ending = await with_retries(self._begin, self._retry_limits, self._clock)
            async with ending:
                yield connection
                async with self.deadline():
                    await connection.commit()
        except SQLAlchemyError as error:
            self._raise(error)

    @asynccontextmanager
    async def deadline(self) -> AsyncIterator[None]:
        """Gives up on a database that does not answer."""
        try:
            async with asyncio.timeout(self._timeout):
                yield
        except TimeoutError as error:
            self._raise(error)

    def tick(self) -> int:
        """Microseconds since 1970. No two are equal, also when the clock is set back."""
        self._last_tick = max((self._clock.now() - _EPOCH) // _MICROSECOND, self._last_tick + 1)
        return self._last_tick

    def stamp(self) -> str:
        """A tick as the text in which times are stored."""
        return format_time(_EPOCH + self.tick() * _MICROSECOND)

    async def _prepare(self, limits: RetryLimits) -> None:
        async def revision(connection: AsyncConnection) -> str | None:
            return await connection.run_sync(schema.stored_revision)

        found = await self._run(self._engines.reader, revision, limits)
        if found is None:
            found = await self._run(
                self._engines.writer,
                lambda connection: connection.run_sync(schema.create_tables, self._address),
                limits,
            )
        if found == schema.HEAD:
            return
        upgrade = schema.Upgrade(self._address)
        await self._run(
            self._engines.writer, lambda connection: connection.run_sync(upgrade), limits
        )

    async def _run(self, transactions: Transactions, work: Work[T], limits: RetryLimits) -> T:
        async def attempt() -> T:
            self._require_open()
            async with asyncio.timeout(self._timeout):
                return await transactions.run(work)

        try:
            return await with_retries(attempt, limits, self._clock)
        except failures.DATABASE_ERRORS as error:
            self._raise(error)

    async def _begin(self) -> tuple[AsyncConnection, AsyncExitStack]:
        self._require_open()
        async with self.deadline(), AsyncExitStack() as stack:
            connection = await stack.enter_async_context(self._engines.engine.connect())
            # Whether a pooled connection still stands shows at the first statement.
            await connection.execute(select(1))
            return connection, stack.pop_all()

    def _raise(self, error: BaseException) -> NoReturn:
        translated = failures.translate(error, self._address)
        # Only our own bugs need the driver's words, and they can hold no password.
        raise translated from (error if isinstance(translated, InvariantError) else None)

    def _require_open(self) -> None:
        if self._closed:
            raise InvariantError(
                what=f"the database {self.location} cannot be used",
                why="it was closed",
                fix="please report this",
            )


def format_time(moment: datetime) -> str:
    """ISO 8601 in UTC, always as long, so that text sorts as time does."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def parse_time(text: str) -> str:
    """A given ISO 8601 time in the stored form."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(
            what=f"the time {text!r} cannot be used",
            why="it is not in ISO 8601",
            fix="write it like 2026-01-31T12:00:00Z",
            code="invalid_time",
        ) from None
    return format_time(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def _make_folder(address: Address) -> None:
    if address.path is None:
        return
    if address.path.is_dir():
        raise UsageError(
            what=f"the database {address.location} cannot be used",
            why="it is a folder",
            fix="give the path of a file, such as .burnish/burnish.db",
            code="not_a_database",
        )
    try:
        address.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise failures.translate(error, address) from None


@dataclass(frozen=True, slots=True)
class RetryLimits:
    """How long to go on by kind of failure, in seconds from the first attempt."""

    busy_seconds: float
    lost_seconds: float

    def covers(self, kind: failures.Passing | None, elapsed: float) -> bool:
        """Whether another attempt may be made."""
        if kind is None:
            return False
        return elapsed < (self.busy_seconds if kind is failures.Passing.BUSY else self.lost_seconds)


async def with_retries(work: Callable[[], Awaitable[T]], limits: RetryLimits, clock: Clock) -> T:
    """The work's result, or the error of the last attempt. The work must bear being repeated."""
    start = clock.monotonic()
    return await retry(
        lambda _: work(),
        policy=_BACKOFF,
        passing=lambda error: limits.covers(failures.passing(error), clock.monotonic() - start),
        clock=clock,
    )
