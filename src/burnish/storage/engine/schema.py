"""Schema of a database: its revision, the tables of a new one, and the migrations of an older one."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path

from sqlalchemy import (
    Column,
    Connection,
    ExecutableDDLElement,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    column,
    create_mock_engine,
    insert,
    inspect,
    select,
    table,
    text,
)

from burnish.storage.engine import failures
from burnish.storage.engine.codec import PlainText
from burnish.storage.engine.connections import Address

MIGRATIONS = Path(__file__).parents[1] / "migrations"
VERSION_TABLE = "burnish_version"
# Migrations are named by their revision, so the newest is known without loading Alembic.
HEAD = max(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))

_version = table(VERSION_TABLE, column("version_num", PlainText))
# Tables are known to the metadata once their module is loaded: seldom, since that takes time.
_TABLE_FOLDERS = (
    *("experiments", "images", "jobs", "labels", "opik", "optimizations", "registry"),
)
_LOCK = 0x6275726E697368  # "burnish": an advisory lock that nobody else takes.
_LOCK_SECONDS = 30

# As Alembic itself would make it, so that later migrations find it.
_version_table = Table(
    VERSION_TABLE,
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name=f"{VERSION_TABLE}_pkc"),
)


def stored_revision(connection: Connection) -> str | None:
    """What the tables were last migrated to; None when there are none yet."""
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    return connection.execute(select(_version.c.version_num)).scalar()


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
    if set(inspect(connection).get_table_names()) & set(_all_tables().tables):
        raise failures.foreign_tables(address)
    for statement in _statements(connection.dialect.name):
        connection.exec_driver_sql(statement)
    connection.execute(insert(_version_table), {"version_num": HEAD})
    return HEAD


def _all_tables() -> MetaData:
    for folder in _TABLE_FOLDERS:
        module = import_module(f"burnish.storage.{folder}.tables")
    return module.metadata  # type: ignore[no-any-return]


@cache
def _statements(dialect: str) -> tuple[str, ...]:
    """What makes the tables, written once a process: that takes longer than to run it."""
    written: list[str] = []

    def write(ddl: ExecutableDDLElement, *_: object, **__: object) -> None:
        written.append(str(ddl.compile(dialect=engine.dialect)))

    engine = create_mock_engine(f"{dialect}://", write)
    tables = _all_tables()
    # Said here and not with the index: there it would load the dialect, also for who only reads.
    for index in (one for each in tables.tables.values() for one in each.indexes):
        if dialect == "postgresql" and "where" in index.info:
            index.dialect_options[dialect]["where"] = index.info["where"]
    tables.create_all(engine, checkfirst=False)
    _version_table.create(engine, checkfirst=False)
    return tuple(written)


class Upgrade:
    """Migrates to the head, in the caller's transaction: wholly or not at all.

    The transaction is the lock. Whoever comes second waits and then finds nothing left to do.
    """

    def __init__(self, address: Address) -> None:
        from alembic.config import Config  # noqa: PLC0415 - slow to load, and seldom needed
        from alembic.script import ScriptDirectory  # noqa: PLC0415

        self._address = address
        self._config = Config()
        self._config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        self._known = {
            script.revision for script in ScriptDirectory.from_config(self._config).walk_revisions()
        }

    def __call__(self, connection: Connection) -> None:
        """Lock, look again, migrate."""
        lock_schema(connection)
        revision = stored_revision(connection)
        if revision == HEAD:
            return
        if revision not in self._known:
            raise failures.newer_database(self._address, str(revision))
        from alembic import command  # noqa: PLC0415

        self._config.attributes["connection"] = connection
        command.upgrade(self._config, "head")
