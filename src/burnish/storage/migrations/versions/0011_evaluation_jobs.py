"""Evaluations as jobs: a lease with a token, a wish to cancel, and a place in the queue that may end.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. What waited waits on."""
    op.create_table(
        "evaluation_jobs",
        _text(
            "experiment_id", sa.ForeignKey("experiments.id", ondelete="CASCADE"), primary_key=True
        ),
        _text("queued_at", nullable=False),
        sa.Column("ready_at", sa.Double),
        sa.Column("attempts", sa.Integer, nullable=False),
        _text("lease_owner"),
        sa.Column("lease_token", sa.BigInteger, nullable=False),
        sa.Column("lease_expires", sa.Double),
        sa.Column("cancel_requested", sa.Boolean, nullable=False),
        _text("spec"),
    )
    op.create_index("ix_evaluation_jobs_ready", "evaluation_jobs", ["ready_at"])
    op.execute(
        "INSERT INTO evaluation_jobs (experiment_id, queued_at, ready_at, attempts, lease_owner, "
        "lease_token, lease_expires, cancel_requested, spec) "
        "SELECT experiment_id, queued_at, 0, attempts, owner, 1, expires, FALSE, spec "
        "FROM evaluation_queue"
    )
    op.drop_table("evaluation_queue")


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)
