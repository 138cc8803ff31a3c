"""Databases as earlier versions of the program left them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine, text

from burnish.storage.engine.connections import Address
from burnish.storage.engine.schema import MIGRATIONS


def make_old_database(address: str, revision: str, rows: Sequence[str] = ()) -> None:
    """Migrate an empty database to a revision, and put rows in by SQL."""
    where = Address.of(address)
    if where.path is not None:
        where.path.parent.mkdir(parents=True, exist_ok=True)
    url = where.url if where.path is None else where.url.set(drivername="sqlite")
    engine = create_engine(url)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        attributes: dict[Any, Any] = config.attributes
        attributes["connection"] = connection
        command.upgrade(config, revision)
        for row in rows:
            connection.execute(text(row))
    engine.dispose()
