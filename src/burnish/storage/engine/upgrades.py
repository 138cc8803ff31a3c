"""Brings a database's tables up to date, once, however many processes open it at a time.

Loads Alembic, which is slow, so it is imported only when there is something to do.
"""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from burnish.storage.engine import failures
from burnish.storage.engine.addresses import Address
from burnish.storage.engine.creation import lock_schema
from burnish.storage.engine.schema import HEAD, MIGRATIONS, stored_revision


class Upgrade:
    """Migrates to the head, in the caller's transaction: wholly or not at all.

    The transaction is the lock. Whoever comes second waits and then finds nothing left to do.
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
        lock_schema(connection)
        revision = stored_revision(connection)
        if revision == HEAD:
            return
        if revision not in self._known:
            raise failures.newer_database(self._address, str(revision))
        self._config.attributes["connection"] = connection
        command.upgrade(self._config, "head")
