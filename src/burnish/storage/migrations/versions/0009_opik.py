"""What Opik clients send, and which of our optimizations an Opik server was sent.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one."""
    op.create_table(
        "opik_projects",
        _text("id", primary_key=True),
        _text("workspace", nullable=False),
        _text("name", nullable=False),
    )
    op.create_table(
        "opik_datasets",
        _text("id", primary_key=True),
        _text("workspace", nullable=False),
        _text("name", nullable=False),
        _text("snapshot"),
        _text("created_at", nullable=False),
        _text("document", nullable=False),
        sa.UniqueConstraint("workspace", "name", name="uq_opik_datasets_name"),
    )
    op.create_table(
        "opik_rows",
        _text(
            "dataset_id", sa.ForeignKey("opik_datasets.id", ondelete="CASCADE"), primary_key=True
        ),
        _text("id", primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        _text("document", nullable=False),
    )
    op.create_index("ix_opik_rows_position", "opik_rows", ["dataset_id", "position"])
    op.create_table("opik_traces", _text("id", primary_key=True), _text("document", nullable=False))
    op.create_table(
        "opik_spans",
        _text("id", primary_key=True),
        _text("trace_id", nullable=False),
        _text("document", nullable=False),
    )
    op.create_index("ix_opik_spans_trace", "opik_spans", ["trace_id"])
    op.create_table(
        "opik_scores",
        _text("trace_id", primary_key=True),
        _text("name", primary_key=True),
        _text("document", nullable=False),
    )
    op.create_table(
        "opik_items",
        _text("id", primary_key=True),
        _text("experiment_id", nullable=False),
        _text("item_id", nullable=False),
        _text("trace_id", nullable=False),
    )
    op.create_index("ix_opik_items_experiment", "opik_items", ["experiment_id", "item_id"])
    op.create_index("ix_opik_items_trace", "opik_items", ["trace_id"])
    _create_mirrors()


def _create_mirrors() -> None:
    op.create_table(
        "opik_mirrors",
        _of_optimization(),
        _text("url", primary_key=True),
        _text("workspace", primary_key=True),
        _text("project", nullable=False),
        _text("api_key_env", nullable=False),
        sa.Column("open", sa.Boolean, nullable=False),
        _text("error"),
        _text("created_at", nullable=False),
    )
    op.create_table(
        "opik_mirror_parts",
        _of_optimization(),
        _text("url", primary_key=True),
        _text("workspace", primary_key=True),
        _text("part", primary_key=True),
        _text("mark", nullable=False),
    )


def _of_optimization() -> sa.Column[str]:
    owner = sa.ForeignKey("optimizations.id", ondelete="CASCADE")
    return _text("optimization_id", owner, primary_key=True)


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)
