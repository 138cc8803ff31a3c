"""Brings a database's tables up to date, once, however many processes open it at a time.

Loads Alembic, which is slow, so it is imported only when there is something to do.
"""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from burnish.storage import failures
from burnish.storage.addresses import Address
from burnish.storage.schema import HEAD, MIGRATIONS, stored_revision
from burnish.storage.tables import metadata

_LOCK = 0x6275726E697368  # "burnish": an advisory lock that nobody else takes.
_LOCK_SECONDS = 30


class Upgrade:
    """Migrates to the head, in the caller's transaction: wholly or not at all.

    The transaction is the lock. On SQLite it began as a writing one; on PostgreSQL an advisory
    lock is taken in it. Whoever comes second waits and then finds nothing left to do.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._config = Config()
        self._config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        self._known = {
            script.revision for script in ScriptDirectory.from_config(self._config).walk_revisions()
        }

    def __call__(self, connection: Connection) -> None:
        """Lock, look again, migrate."""
        if connection.dialect.name == "postgresql":
            connection.execute(text(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        revision = stored_revision(connection)
        if revision == HEAD:
            return
        if revision is None:
            _refuse_foreign_tables(connection, self._address)
        elif revision not in self._known:
            raise failures.newer_database(self._address, revision)
        self._config.attributes["connection"] = connection
        command.upgrade(self._config, "head")


def _refuse_foreign_tables(connection: Connection, address: Address) -> None:
    if set(inspect(connection).get_table_names()) & set(metadata.tables):
        raise failures.foreign_tables(address)
