"""Tables of agent versions, configured objects and optimizer runs."""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    Integer,
    Table,
    UniqueConstraint,
)

from burnish.storage.engine.codec import JsonText, PlainText, SafeText
from burnish.storage.engine.columns import reference
from burnish.storage.experiments.tables import metadata

# Which version is active stands here and nowhere else: so there is never more than one.
objects = Table(
    "configured_objects",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("kind", PlainText, nullable=False),
    Column("scope", SafeText, nullable=False),
    Column("name", SafeText, nullable=False),
    Column("active_version", Integer, nullable=False),
    Column("last_version", Integer, nullable=False),
    UniqueConstraint("kind", "scope", "name", name="uq_configured_objects_name"),
)

object_versions = Table(
    "configured_object_versions",
    metadata,
    reference("object_id", "configured_objects.id"),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("document_hash", PlainText, nullable=False),
    Column("author", SafeText, nullable=False),
    Column("created_at", PlainText, nullable=False),
    Column("document", JsonText, nullable=False),
)

# A due time of a schedule belongs to one run: whoever writes it first has claimed it.
optimizer_runs = Table(
    "optimizer_runs",
    metadata,
    reference("id", "optimizations.id"),
    reference("optimizer_id", "configured_objects.id", key=False),
    Column("agent_name", SafeText, nullable=False),
    Column("optimizer_name", SafeText, nullable=False),
    Column("optimizer_version", Integer, nullable=False),
    Column("base_config_version", Integer, nullable=False),
    Column("suite_id", SafeText, nullable=False),
    Column("suite_version", Integer, nullable=False),
    Column("due_at", PlainText),
    Column("started_at", PlainText, nullable=False),
    Column("settled", Boolean, nullable=False),
    Column("promotion", JsonText),
    UniqueConstraint("optimizer_id", "due_at", name="uq_optimizer_runs_due"),
    Index("ix_optimizer_runs_started", "optimizer_id", "started_at", "id"),
)


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
    reference("agent_name", "agents.name"),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("configuration_hash", PlainText, nullable=False),
    Column("author", SafeText, nullable=False),
    Column("note", SafeText, nullable=False),
    Column("origin", JsonText, nullable=False),
    Column("created_at", PlainText, nullable=False),
    Column("configuration", JsonText, nullable=False),
)
