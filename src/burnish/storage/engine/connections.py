"""Addresses, connections, transactions: on a server as they come, on SQLite in one visit to a thread.

A driver that visits a thread for every statement, fetch and close spends most of its time on the
way. Work awaits its connection and nothing else, so all of it can be run where the connection is:
every method of `ThreadConnection` is done when it returns. Passwords of addresses are never shown.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, cast
from urllib.parse import quote, quote_plus

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from burnish.domain import InvariantError, UsageError

if TYPE_CHECKING:
    from sqlalchemy.ext import asyncio as sqlalchemy_asyncio

_SQLITE = ("sqlite", "sqlite+aiosqlite")
_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")
_SECRET_OPTIONS = ("password", "sslpassword", "passfile")
_URL_FORM = "postgresql://USER:PASSWORD@HOST:5432/NAME, special characters percent-encoded"

T = TypeVar("T")
# For type checkers; with the real one comes the ORM, which takes longer to load than a list to read.
AsyncConnection: TypeAlias = "sqlalchemy_asyncio.AsyncConnection"
Work = Callable[[AsyncConnection], Awaitable[T]]

_SQLITE_READERS = 4
_POSTGRES_CONNECTIONS = 10
_POSTGRES_CONNECT_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Address:
    """A checked address. `location` is the form for people and holds no secret."""

    url: URL = field(repr=False)
    path: Path | None
    location: str

    @classmethod
    def of(cls, value: str | os.PathLike[str]) -> Address:
        """From a path, `sqlite:///PATH` or `postgresql://…`."""
        text = os.fspath(value)
        scheme, separator, rest = text.partition("://")
        if not separator:
            return _file(text)
        if scheme in _SQLITE:
            return _file(_sqlite_path(rest))
        if scheme in _POSTGRES:
            return _server(text)
        raise UsageError(
            what="the database address cannot be used",
            why=f"{scheme!r} is not a kind of database that Burnish knows",
            fix="give a file path, sqlite:///PATH, or postgresql://USER:PASSWORD@HOST/NAME",
            code="unsupported_database",
        )

    def hide(self, text: str) -> str:
        """The text with every form of the password blotted out."""
        for secret in _secrets(self.url):
            text = text.replace(secret, "***")
        return text


def _file(text: str) -> Address:
    if text in ("", ":memory:"):
        raise UsageError(
            what="the database address cannot be used",
            why="it names no file, and results that only live in memory would be lost",
            fix="give a file path such as .burnish/burnish.db",
            code="unsupported_database",
        )
    path = Path(text).expanduser().absolute()
    return Address(
        url=URL.create("sqlite+aiosqlite", database=str(path)), path=path, location=str(path)
    )


def _sqlite_path(rest: str) -> str:
    if "?" in rest:
        raise UsageError(
            what="the database address cannot be used",
            why="a SQLite address takes no options",
            fix="leave out everything from the question mark on",
            code="unsupported_database",
        )
    return rest.removeprefix("/")


def _server(text: str) -> Address:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        # The parser's own words may quote the password.
        raise _malformed() from None
    if "@" in (url.host or ""):
        raise _malformed() from None
    url = url.set(drivername="postgresql+psycopg")
    shown = URL.create(
        "postgresql", username=url.username, host=url.host, port=url.port, database=url.database
    )
    return Address(url=url, path=None, location=shown.render_as_string())


def _malformed() -> UsageError:
    return UsageError(
        what="the database address cannot be used",
        why="it is not a well-formed PostgreSQL URL",
        fix=f"write {_URL_FORM}",
        code="unsupported_database",
    )


def _secrets(url: URL) -> list[str]:
    values = [url.password or ""]
    for option in _SECRET_OPTIONS:
        given = url.query.get(option, "")
        values.extend([given] if isinstance(given, str) else given)
    forms = {form for value in values for form in (value, quote(value, safe=""), quote_plus(value))}
    return sorted(filter(None, forms), key=len, reverse=True)


class Transactions(Protocol):
    """Runs each work in a transaction of its own, committed when `run` returns."""

    async def run(self, work: Work[T]) -> T:
        """The work's result."""
        ...

    async def close(self) -> None:
        """End it, when nothing is under way any more."""
        ...


class ServerTransactions:
    """On an engine whose driver waits by itself."""

    def __init__(self, engine: sqlalchemy_asyncio.AsyncEngine) -> None:
        self._engine = engine

    async def run(self, work: Work[T]) -> T:
        """The work's result."""
        async with self._engine.begin() as connection:
            return await work(connection)

    async def close(self) -> None:
        """Close every connection that is not in use."""
        await self._engine.dispose()


class SqliteThreads:
    """On so many threads. Work that was begun is finished, also when nobody waits any more."""

    def __init__(self, engine: Engine, count: int) -> None:
        self._engine = engine
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="burnish-sqlite")

    async def run(self, work: Work[T]) -> T:
        """The work's result."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._do, work)

    async def close(self) -> None:
        """Wait for what runs, and close every connection."""
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()

    def _do(self, work: Work[T]) -> T:
        with self._engine.begin() as connection:
            return _result_of(work(cast("AsyncConnection", ThreadConnection(connection))))


class ThreadConnection:
    """As much of an AsyncConnection as work uses, over a plain connection."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect

    async def execute(self, statement: Any, parameters: Any = None) -> Any:
        """As of an AsyncConnection."""
        return self._connection.execute(statement, parameters)

    async def exec_driver_sql(self, statement: str, parameters: Any = None) -> Any:
        """As of an AsyncConnection."""
        return self._connection.exec_driver_sql(statement, parameters)

    async def scalar(self, statement: Any, parameters: Any = None) -> Any:
        """As of an AsyncConnection."""
        return self._connection.scalar(statement, parameters)

    async def scalars(self, statement: Any, parameters: Any = None) -> Any:
        """As of an AsyncConnection."""
        return self._connection.scalars(statement, parameters)

    async def run_sync(self, function: Callable[..., T], *arguments: Any) -> T:
        """As of an AsyncConnection."""
        return function(self._connection, *arguments)

    @asynccontextmanager
    async def stream(self, statement: Any, parameters: Any = None) -> AsyncIterator[Any]:
        """As of an AsyncConnection, to be read in partitions."""
        options = {"stream_results": True}
        with self._connection.execute(statement, parameters, execution_options=options) as result:
            yield _Stream(result)


class _Stream:
    def __init__(self, result: Any) -> None:
        self._result = result

    async def partitions(self, size: int) -> AsyncIterator[Sequence[Any]]:
        for batch in self._result.partitions(size):
            yield batch


def _result_of(work: Awaitable[T]) -> T:
    """What work comes to that never really waits."""
    steps = work.__await__()
    try:
        next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    raise InvariantError(
        what="a transaction was given up",
        why="its work waited for something other than its connection",
        fix="please report this",
    )


@dataclass(frozen=True)
class Engines:
    """Where reads and writes go. Writers on SQLite queue for one connection, so they never clash."""

    writer: Transactions
    reader: Transactions
    make_engine: Callable[[], sqlalchemy_asyncio.AsyncEngine]

    @classmethod
    def create(cls, address: Address, *, wait_seconds: float, busy_seconds: float) -> Engines:
        """Nothing is connected yet.

        A task waits `wait_seconds` for a connection, and SQLite `busy_seconds` for a lock.
        """
        if address.path is None:
            return _postgres(address, wait_seconds)

        settings: dict[str, Any] = {
            "max_overflow": 0,
            "pool_timeout": wait_seconds,
            # Whoever takes a connection ends its transaction: none is left to roll back.
            "pool_reset_on_return": None,
            "hide_parameters": True,
        }
        connecting = {"timeout": busy_seconds}

        def make_engine() -> sqlalchemy_asyncio.AsyncEngine:
            engine = _create_async_engine(
                address.url, pool_size=1, connect_args=connecting, **settings
            )
            _prepare_sqlite(engine.sync_engine, "BEGIN IMMEDIATE")
            return engine

        def threads(count: int, begin: str) -> SqliteThreads:
            made = create_engine(
                address.url.set(drivername="sqlite"),
                pool_size=count,
                # A connection serves one thread at a time, but not always the same one.
                connect_args={**connecting, "check_same_thread": False},
                **settings,
            )
            _prepare_sqlite(made, begin)
            return SqliteThreads(made, count)

        return cls(
            writer=threads(1, "BEGIN IMMEDIATE"),
            reader=threads(_SQLITE_READERS, "BEGIN"),
            make_engine=make_engine,
        )

    @cached_property
    def engine(self) -> sqlalchemy_asyncio.AsyncEngine:
        """For transactions that cannot be given as work; SQLite needs it for nothing else."""
        return self.make_engine()

    async def dispose(self) -> None:
        """Close every connection that is not in use."""
        await self.reader.close()
        await self.writer.close()
        if "engine" in self.__dict__:
            await self.engine.dispose()


def _create_async_engine(url: URL, **settings: Any) -> sqlalchemy_asyncio.AsyncEngine:
    from sqlalchemy.ext.asyncio import create_async_engine  # noqa: PLC0415 - slow to load

    return create_async_engine(url, **settings)


def _postgres(address: Address, wait_seconds: float) -> Engines:
    defaults = {"connect_timeout": _POSTGRES_CONNECT_SECONDS, "application_name": "burnish"}
    engine = _create_async_engine(
        address.url,
        pool_size=_POSTGRES_CONNECTIONS,
        max_overflow=0,
        pool_timeout=wait_seconds,
        hide_parameters=True,
        connect_args={
            name: value for name, value in defaults.items() if name not in address.url.query
        },
    )
    # A read of several statements sees one moment, as it does on SQLite.
    return Engines(
        writer=ServerTransactions(engine),
        reader=ServerTransactions(engine.execution_options(isolation_level="REPEATABLE READ")),
        make_engine=lambda: engine,
    )


def _prepare_sqlite(engine: Engine, begin: str) -> None:
    def prepare(connection: Any, _record: object) -> None:
        # Without this sqlite3 opens transactions on its own, later than `begin` would.
        connection.isolation_level = None
        cursor = connection.cursor()
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = NORMAL")
        cursor.close()

    def start(connection: Connection) -> None:
        connection.exec_driver_sql(begin)

    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", start)
