"""The tables of what Opik clients send, and of what an Opik server was sent.

Migrations build them; a test holds the two equal.
"""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, Table, UniqueConstraint

from burnish.storage.engine.codec import JsonText, PlainText, SafeText
from burnish.storage.engine.columns import reference
from burnish.storage.experiments.tables import metadata

# Names that clients were given an id for; nothing else belongs to a project here.
opik_projects = Table(
    "opik_projects",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("workspace", SafeText, nullable=False),
    Column("name", SafeText, nullable=False),
)

opik_datasets = Table(
    "opik_datasets",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("workspace", SafeText, nullable=False),
    Column("name", SafeText, nullable=False),
    Column("snapshot", SafeText),
    Column("created_at", PlainText, nullable=False),
    Column("document", JsonText, nullable=False),
    UniqueConstraint("workspace", "name", name="uq_opik_datasets_name"),
)

opik_rows = Table(
    "opik_rows",
    metadata,
    reference("dataset_id", "opik_datasets.id"),
    Column("id", SafeText, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("document", JsonText, nullable=False),
    Index("ix_opik_rows_position", "dataset_id", "position"),
)

# Nothing here points at anything else: what belongs together may come in any order.
opik_traces = Table(
    "opik_traces",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("document", JsonText, nullable=False),
)

opik_spans = Table(
    "opik_spans",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("trace_id", SafeText, nullable=False),
    Column("document", JsonText, nullable=False),
    Index("ix_opik_spans_trace", "trace_id"),
)

opik_scores = Table(
    "opik_scores",
    metadata,
    Column("trace_id", SafeText, primary_key=True),
    Column("name", SafeText, primary_key=True),
    Column("document", JsonText, nullable=False),
)

opik_items = Table(
    "opik_items",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("experiment_id", SafeText, nullable=False),
    Column("item_id", SafeText, nullable=False),
    Column("trace_id", SafeText, nullable=False),
    Index("ix_opik_items_experiment", "experiment_id", "item_id"),
    Index("ix_opik_items_trace", "trace_id"),
)

# Our own optimizations on their way to an Opik server. A target is its URL and its workspace.
opik_mirrors = Table(
    "opik_mirrors",
    metadata,
    reference("optimization_id", "optimizations.id"),
    Column("url", SafeText, primary_key=True),
    Column("workspace", SafeText, primary_key=True),
    Column("project", SafeText, nullable=False),
    Column("api_key_env", SafeText, nullable=False),
    Column("open", Boolean, nullable=False),
    Column("error", SafeText),
    Column("created_at", PlainText, nullable=False),
)

opik_mirror_parts = Table(
    "opik_mirror_parts",
    metadata,
    reference("optimization_id", "optimizations.id"),
    Column("url", SafeText, primary_key=True),
    Column("workspace", SafeText, primary_key=True),
    Column("part", SafeText, primary_key=True),
    Column("mark", SafeText, nullable=False),
)
