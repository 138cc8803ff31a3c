"""What an optimization keeps: itself, candidates, trials, rejections, events, overrides.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one."""
    _create_optimizations()
    _create_candidates()
    _create_trials()
    _create_rejections()
    _create_events()
    _create_overrides()
    _create_cache_scopes()


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)


def _of_optimization() -> sa.Column[str]:
    owner = sa.ForeignKey("optimizations.id", ondelete="CASCADE")
    return _text("optimization_id", owner, primary_key=True)


def _create_optimizations() -> None:
    op.create_table(
        "optimizations",
        _text("id", primary_key=True),
        _text("name", nullable=False),
        _text("status", nullable=False),
        _text("objective_name", nullable=False),
        _text("agent_name", nullable=False),
        _text("suite_name", nullable=False),
        _text("optimizer_name", nullable=False),
        _text("dataset_id", sa.ForeignKey("datasets.id")),
        sa.Column("seed", sa.BigInteger, nullable=False),
        _text("stop_reason"),
        _text("framework_error"),
        sa.Column("cancel_requested", sa.Boolean, nullable=False),
        _text("best_candidate_id"),
        sa.Column("best_score", sa.Double),
        sa.Column("baseline_score", sa.Double),
        _text("lease_owner"),
        sa.Column("lease_token", sa.BigInteger, nullable=False),
        sa.Column("lease_expires", sa.Double),
        _text("created_at", nullable=False),
        _text("updated_at", nullable=False),
    )
    op.create_index("ix_optimizations_created", "optimizations", ["created_at", "id"])
    op.create_table(
        "optimization_documents",
        _of_optimization(),
        _text("name", primary_key=True),
        _text("document", nullable=False),
    )


def _create_candidates() -> None:
    op.create_table(
        "candidates",
        _of_optimization(),
        _text("candidate_id", primary_key=True),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("step_index", sa.Integer, nullable=False),
        _text("configuration_hash", nullable=False),
        _text("mask_id", nullable=False),
        _text("parent_candidate_ids", nullable=False),
        _text("rationale"),
        _text("configuration", nullable=False),
        sa.UniqueConstraint("optimization_id", "number", name="uq_candidates_number"),
    )


def _create_trials() -> None:
    op.create_table(
        "trials",
        _of_optimization(),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        _text("slot", primary_key=True),
        _text("candidate_id", nullable=False),
        _text("mask_id", nullable=False),
        _text("experiment_id", nullable=False),
        _text("type", nullable=False),
        _text("status", nullable=False),
        sa.Column("objective_score", sa.Double),
        sa.Column("total_items", sa.Integer, nullable=False),
        sa.Column("passed_items", sa.Integer, nullable=False),
        sa.Column("failed_items", sa.Integer, nullable=False),
        sa.Column("pass_rate", sa.Double, nullable=False),
        sa.Column("total_cost", sa.Double),
        sa.Column("avg_latency_ms", sa.Double),
        sa.Column("avg_ttft_ms", sa.Double),
        _text("error"),
    )


def _create_rejections() -> None:
    op.create_table(
        "validation_rejections",
        _of_optimization(),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("step_index", sa.Integer, nullable=False),
        sa.Column("proposed_index", sa.Integer, nullable=False),
        _text("reason_code", nullable=False),
        _text("message", nullable=False),
        _text("configuration_hash"),
        _text("created_at", nullable=False),
    )


def _create_events() -> None:
    op.create_table(
        "optimization_events",
        _of_optimization(),
        sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
        _text("key", nullable=False),
        _text("type", nullable=False),
        _text("created_at", nullable=False),
        _text("payload", nullable=False),
        sa.UniqueConstraint("optimization_id", "key", name="uq_optimization_events_key"),
        sqlite_with_rowid=False,
    )


def _create_overrides() -> None:
    op.create_table(
        "overrides",
        _text("namespace", primary_key=True),
        _text("prompt_key", primary_key=True),
        _text("tag", primary_key=True),
        _text("document", nullable=False),
    )


def _create_cache_scopes() -> None:
    op.create_table(
        "cache_scopes",
        _text("agent_fingerprint", primary_key=True),
        _text("configuration_hash", primary_key=True),
        sqlite_with_rowid=False,
    )
    # What earlier versions kept stays known as reusable.
    op.execute(
        "INSERT INTO cache_scopes (agent_fingerprint, configuration_hash)"
        " SELECT DISTINCT agent_fingerprint, configuration_hash FROM experiments"
        " WHERE agent_fingerprint IS NOT NULL AND EXISTS ("
        "SELECT 1 FROM experiment_items WHERE experiment_items.experiment_id = experiments.id"
        " AND experiment_items.cache_key IS NOT NULL)"
    )
