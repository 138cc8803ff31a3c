"""What the tables are at: cheap to ask, so that an up-to-date database opens at once."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, column, select, table

from burnish.storage.engine.codec import PlainText

MIGRATIONS = Path(__file__).parents[1] / "migrations"
VERSION_TABLE = "burnish_version"
# Migrations are named by their revision, so the newest is known without loading Alembic.
HEAD = max(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))

_version = table(VERSION_TABLE, column("version_num", PlainText))


def stored_revision(connection: Connection) -> str | None:
    """What the tables were last migrated to; None when there are none yet."""
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    return connection.execute(select(_version.c.version_num)).scalar()
