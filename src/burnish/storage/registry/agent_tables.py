"""The tables of agents and their versions. Migrations build them; a test holds the two equal."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Integer, Table

from burnish.storage.engine.codec import JsonText, PlainText, SafeText
from burnish.storage.experiments.tables import metadata

# Which version is active stands here and nowhere else: so there is never more than one.
agents = Table(
    "agents",
    metadata,
    Column("name", SafeText, primary_key=True),
    Column("active_version", Integer, nullable=False),
    Column("last_version", Integer, nullable=False),
)

agent_versions = Table(
    "agent_versions",
    metadata,
    Column("agent_name", SafeText, ForeignKey("agents.name", ondelete="CASCADE"), primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("configuration_hash", PlainText, nullable=False),
    Column("author", SafeText, nullable=False),
    Column("note", SafeText, nullable=False),
    Column("origin", JsonText, nullable=False),
    Column("created_at", PlainText, nullable=False),
    Column("configuration", JsonText, nullable=False),
)
