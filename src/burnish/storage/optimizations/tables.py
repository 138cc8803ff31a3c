"""The tables of optimizations. Migrations build them; a test holds the two equal."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    Table,
    UniqueConstraint,
)

from burnish.storage.engine.codec import JsonText, PlainText, SafeText
from burnish.storage.engine.columns import reference
from burnish.storage.experiments.tables import metadata

# A row is rewritten with almost every write of a run, so nothing long stands in it.
optimizations = Table(
    "optimizations",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("name", SafeText, nullable=False),
    Column("status", PlainText, nullable=False),
    Column("objective_name", SafeText, nullable=False),
    Column("agent_name", SafeText, nullable=False),
    Column("suite_name", SafeText, nullable=False),
    Column("optimizer_name", SafeText, nullable=False),
    Column("dataset_id", SafeText, ForeignKey("datasets.id")),
    Column("seed", BigInteger, nullable=False),
    Column("stop_reason", SafeText),
    Column("framework_error", JsonText),
    Column("cancel_requested", Boolean, nullable=False),
    Column("best_candidate_id", SafeText),
    Column("best_score", Double),
    Column("baseline_score", Double),
    Column("lease_owner", SafeText),
    # Grows with every new holder and never shrinks, so an old one is known by it for ever.
    Column("lease_token", BigInteger, nullable=False),
    # Seconds since 1970 by the database's clock.
    Column("lease_expires", Double),
    Column("created_at", PlainText, nullable=False),
    Column("updated_at", PlainText, nullable=False),
    Index("ix_optimizations_created", "created_at", "id"),
)

# What only a run itself and its details read, by name: spec, checkpoint, result.
optimization_documents = Table(
    "optimization_documents",
    metadata,
    reference("optimization_id", "optimizations.id"),
    Column("name", PlainText, primary_key=True),
    Column("document", JsonText, nullable=False),
)

candidates = Table(
    "candidates",
    metadata,
    reference("optimization_id", "optimizations.id"),
    Column("candidate_id", SafeText, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("step_index", Integer, nullable=False),
    Column("configuration_hash", PlainText, nullable=False),
    Column("mask_id", SafeText, nullable=False),
    Column("parent_candidate_ids", JsonText, nullable=False),
    Column("rationale", SafeText),
    Column("configuration", JsonText, nullable=False),
    # What its proposal carried for the optimizer; NULL is nothing.
    Column("metadata", JsonText),
    UniqueConstraint("optimization_id", "number", name="uq_candidates_number"),
)

# A candidate has one trial, whose slot is empty, and any number of mini-batches, each in the slot
# that its experiment names.
trials = Table(
    "trials",
    metadata,
    reference("optimization_id", "optimizations.id"),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("slot", SafeText, primary_key=True),
    Column("candidate_id", SafeText, nullable=False),
    Column("mask_id", SafeText, nullable=False),
    Column("experiment_id", SafeText, nullable=False),
    Column("type", PlainText, nullable=False),
    Column("status", PlainText, nullable=False),
    Column("objective_score", Double),
    Column("total_items", Integer, nullable=False),
    Column("passed_items", Integer, nullable=False),
    Column("failed_items", Integer, nullable=False),
    Column("pass_rate", Double, nullable=False),
    Column("total_cost", Double),
    Column("avg_latency_ms", Double),
    Column("avg_ttft_ms", Double),
    Column("error", SafeText),
    Column("avg_tokens", Double),
    Column("avg_cost_usd", Double),
    Column("error_items", Integer, nullable=False, server_default="0"),
    Column("missing_items", Integer, nullable=False, server_default="0"),
)

validation_rejections = Table(
    "validation_rejections",
    metadata,
    reference("optimization_id", "optimizations.id"),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("step_index", Integer, nullable=False),
    Column("proposed_index", Integer, nullable=False),
    Column("reason_code", SafeText, nullable=False),
    Column("message", SafeText, nullable=False),
    Column("configuration_hash", SafeText),
    Column("created_at", PlainText, nullable=False),
    Column("proposal", JsonText),
)

optimization_events = Table(
    "optimization_events",
    metadata,
    reference("optimization_id", "optimizations.id"),
    Column("sequence", Integer, primary_key=True, autoincrement=False),
    Column("key", SafeText, nullable=False),
    Column("type", PlainText, nullable=False),
    Column("created_at", PlainText, nullable=False),
    Column("payload", JsonText, nullable=False),
    UniqueConstraint("optimization_id", "key", name="uq_optimization_events_key"),
    sqlite_with_rowid=False,
)

# The primary key is also what finds the tags that start with something.
overrides = Table(
    "overrides",
    metadata,
    Column("namespace", SafeText, primary_key=True),
    Column("prompt_key", SafeText, primary_key=True),
    Column("tag", SafeText, primary_key=True),
    Column("document", JsonText, nullable=False),
)
