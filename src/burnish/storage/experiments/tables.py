"""Tables of datasets, experiments and results. Migrations build them; a test holds the two equal."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    UniqueConstraint,
)

from burnish.storage.engine.codec import JsonText, PlainText, SafeText
from burnish.storage.engine.columns import reference

metadata = MetaData()

datasets = Table(
    "datasets",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("name", SafeText, nullable=False),
    Column("fingerprint", SafeText, nullable=False),
    Column("items", Integer, nullable=False),
    Column("created_at", PlainText, nullable=False),
    UniqueConstraint("name", "fingerprint", name="uq_datasets_content"),
)

dataset_items = Table(
    "dataset_items",
    metadata,
    reference("dataset_id", "datasets.id"),
    Column("position", Integer, primary_key=True),
    Column("item_id", SafeText, nullable=False),
    Column("item_hash", SafeText, nullable=False),
    Column("split", SafeText),
    Column("data", JsonText, nullable=False),
)

experiments = Table(
    "experiments",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("name", SafeText, nullable=False),
    Column("type", PlainText, nullable=False),
    Column("status", PlainText, nullable=False),
    Column("agent_name", SafeText, nullable=False),
    Column("agent_fingerprint", SafeText),
    Column("configuration_hash", PlainText, nullable=False),
    Column("suite_name", SafeText, nullable=False),
    Column("dataset_id", SafeText, ForeignKey("datasets.id")),
    Column("planned_items", Integer),
    Column("optimization_id", SafeText),
    Column("created_at", PlainText, nullable=False),
    Column("updated_at", PlainText, nullable=False),
    Column("configuration", JsonText, nullable=False),
    Column("metadata", JsonText, nullable=False),
    Index("ix_experiments_created", "created_at", "id"),
    Index("ix_experiments_name", "name", "created_at", "id"),
    Index("ix_experiments_optimization", "optimization_id", "created_at", "id"),
)

# What summaries read stands first and the long texts last: a row whose output fills several
# pages is then summed up from its first one.
experiment_items = Table(
    "experiment_items",
    metadata,
    reference("experiment_id", "experiments.id"),
    Column("item_id", SafeText, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("item_hash", SafeText, nullable=False),
    Column("score", Double, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("cached", Boolean, nullable=False),
    Column("error_kind", PlainText),
    Column("latency_ms", Double, nullable=False),
    Column("ttft_ms", Double),
    Column("spending", JsonText, nullable=False),
    Column("cache_key", PlainText),
    Column("scorers_fingerprint", SafeText),
    # Microseconds since 1970: in the cache's index each byte of a row counts.
    Column("created_at", BigInteger, nullable=False),
    Column("error_message", SafeText),
    Column("output", JsonText),
    # Of outputs that were refined in rounds; the rounds are in `item_rounds`.
    Column("outcome", PlainText),
    Column("ended", PlainText),
    Column("refinement", JsonText),
)

_cacheable = experiment_items.c.cache_key.is_not(None)
Index(
    "ix_experiment_items_cache",
    experiment_items.c.cache_key,
    experiment_items.c.created_at,
    sqlite_where=_cacheable,
    info={"where": _cacheable},
)

feedback_scores = Table(
    "feedback_scores",
    metadata,
    Column("experiment_id", SafeText, primary_key=True),
    Column("item_id", SafeText, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", SafeText, nullable=False),
    Column("value", Double, nullable=False),
    Column("passed", Boolean),
    Column("reason", SafeText, nullable=False),
    Column("error", SafeText),
    Column("step", Integer),
    ForeignKeyConstraint(
        ["experiment_id", "item_id", "repeat"],
        ["experiment_items.experiment_id", "experiment_items.item_id", "experiment_items.repeat"],
        name="fk_feedback_scores_item",
        ondelete="CASCADE",
    ),
    sqlite_with_rowid=False,
)

# Written while an output is being refined, so they do not wait for the item's own row.
item_rounds = Table(
    "item_rounds",
    metadata,
    reference("experiment_id", "experiments.id"),
    Column("item_id", SafeText, primary_key=True),
    Column("repeat", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("item_hash", SafeText, nullable=False),
    Column("score", Double, nullable=False),
    Column("passed", Boolean, nullable=False),
    Column("judged", Boolean, nullable=False),
    Column("cached", Boolean, nullable=False),
    Column("ended", PlainText),
    Column("latency_ms", Double, nullable=False),
    Column("spending", JsonText, nullable=False),
    Column("cache_key", PlainText),
    Column("scorers_fingerprint", SafeText),
    Column("created_at", BigInteger, nullable=False),
    Column("model", SafeText, nullable=False),
    Column("ended_why", SafeText, nullable=False),
    Column("scores", JsonText, nullable=False),
    Column("output", JsonText, nullable=False),
)

_round_cacheable = item_rounds.c.cache_key.is_not(None)
Index(
    "ix_item_rounds_cache",
    item_rounds.c.cache_key,
    item_rounds.c.created_at,
    sqlite_where=_round_cacheable,
    info={"where": _round_cacheable},
)

call_cache = Table(
    "call_cache",
    metadata,
    Column("key", SafeText, primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("created_at", PlainText, nullable=False),
    Column("last_used", PlainText, nullable=False),
    # JSON too, but encoded by the cache, which has to know its size.
    Column("value", PlainText, nullable=False),
    Index("ix_call_cache_last_used", "last_used"),
)

# Batches at a vendor's batch endpoint, each recorded before it is sent.
model_batches = Table(
    "model_batches",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("model", SafeText, nullable=False),
    Column("fingerprint", SafeText, nullable=False),
    Column("requests", Integer, nullable=False),
    Column("run_id", SafeText),
    Column("created_at", PlainText, nullable=False),
    Column("sending_at", PlainText),
    Column("vendor_id", SafeText),
    Column("ended_at", PlainText),
    Column("answered", Integer, nullable=False, server_default="0"),
    Column("looked_at", PlainText),
    Index("ix_model_batches_run", "run_id"),
)

# The requests that a batch holds and nobody has an answer of yet: the key lets no other have them.
model_batch_requests = Table(
    "model_batch_requests",
    metadata,
    Column("key", SafeText, primary_key=True),
    reference("batch_id", "model_batches.id", key=False),
    Column("position", Integer, nullable=False),
    Column("payer", SafeText),
    Index("ix_model_batch_requests_batch", "batch_id"),
)

# What tools answered within runs of items that have not ended.
tool_calls = Table(
    "tool_calls",
    metadata,
    Column("experiment_id", SafeText, primary_key=True),
    Column("work", SafeText, primary_key=True),
    Column("call", SafeText, primary_key=True),
    Column("value", JsonText, nullable=False),
    sqlite_with_rowid=False,
)

dataset_origins = Table(
    "dataset_origins",
    metadata,
    reference("dataset_id", "datasets.id"),
    Column("item_id", SafeText, primary_key=True),
    Column("origin", JsonText, nullable=False),
)

# Under which agents and configurations there is a result that can be used again.
cache_scopes = Table(
    "cache_scopes",
    metadata,
    Column("agent_fingerprint", SafeText, primary_key=True),
    Column("configuration_hash", SafeText, primary_key=True),
    sqlite_with_rowid=False,
)
