"""Makes the tables of a new database at once, without loading Alembic and walking its history."""

from __future__ import annotations

from functools import cache

from sqlalchemy import (
    Column,
    Connection,
    ExecutableDDLElement,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    create_mock_engine,
    insert,
    inspect,
    text,
)

from burnish.storage.engine import failures
from burnish.storage.engine.addresses import Address
from burnish.storage.engine.schema import HEAD, VERSION_TABLE, stored_revision
from burnish.storage.experiments.tables import metadata
from burnish.storage.images import tables as image_tables
from burnish.storage.jobs import tables as queue_tables
from burnish.storage.opik import tables as opik_tables
from burnish.storage.optimizations import tables as optimization_tables
from burnish.storage.registry import agent_tables
from burnish.storage.registry import tables as registry_tables

# Tables are known to the metadata once their module is loaded.
_MODULES = (
    optimization_tables,
    agent_tables,
    queue_tables,
    registry_tables,
    image_tables,
    opik_tables,
)
_LOCK = 0x6275726E697368  # "burnish": an advisory lock that nobody else takes.
_LOCK_SECONDS = 30

# As Alembic itself would make it, so that later migrations find it.
_version = Table(
    VERSION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)


def lock_schema(connection: Connection) -> None:
    """Keep other processes from changing the tables until the transaction ends.

    On SQLite the transaction began as a writing one and is the lock itself.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'"))
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})


def create_tables(connection: Connection, address: Address) -> str:
    """The revision that the tables are at; they are made when there are none."""
    lock_schema(connection)
    revision = stored_revision(connection)
    if revision is not None:
        return revision
    if set(inspect(connection).get_table_names()) & set(metadata.tables):
        raise failures.foreign_tables(address)
    for statement in _statements(connection.dialect.name):
        connection.exec_driver_sql(statement)
    connection.execute(insert(_version), {"version_num": HEAD})
    return HEAD


@cache
def _statements(dialect: str) -> tuple[str, ...]:
    """What makes the tables, written once a process: that takes longer than to run it."""
    written: list[str] = []

    def write(ddl: ExecutableDDLElement, *_: object, **__: object) -> None:
        written.append(str(ddl.compile(dialect=engine.dialect)))

    engine = create_mock_engine(f"{dialect}://", write)
    metadata.create_all(engine, checkfirst=False)
    _version.create(engine, checkfirst=False)
    return tuple(written)
