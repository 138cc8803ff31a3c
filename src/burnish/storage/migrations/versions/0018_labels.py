"""Label sets: what people are to label, what they said with its history, and versions.

Columns are spelt out and not taken from the tables, which move on while this file must not.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    """Forwards only: a newer program never serves an older one. Nobody labelled before."""
    op.create_table(
        "label_sets",
        _text("id", primary_key=True),
        _text("name", nullable=False),
        sa.Column("items", sa.Integer, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        _text("author", nullable=False),
        _text("created_at", nullable=False),
        sa.Column("last_version", sa.Integer, nullable=False),
        _text("rules", nullable=False),
        _text("source", nullable=False),
        sa.UniqueConstraint("name", name="uq_label_sets_name"),
    )
    op.create_table(
        "label_items",
        _of_set(),
        _text("id", primary_key=True),
        sa.Column("position", sa.Integer, nullable=False),
        _text("data", nullable=False),
        _text("output"),
        _text("other"),
        _text("origin", nullable=False),
    )
    op.create_table(
        "labels",
        _of_set(),
        _text("item_id", primary_key=True),
        _text("person", primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        _text("state", nullable=False),
        _text("value"),
        _text("comment", nullable=False),
        sa.Column("output_left", sa.Boolean),
        sa.Column("current", sa.Boolean, nullable=False),
        _text("created_at", nullable=False),
    )
    op.create_index("ix_labels_person", "labels", ["label_set_id", "person", "current"])
    op.create_table(
        "label_versions",
        _of_set(),
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        _text("digest", nullable=False),
        _text("dataset_id", nullable=False),
        sa.Column("rows", sa.Integer, nullable=False),
        sa.Column("labels", sa.Integer, nullable=False),
        sa.Column("undecided", sa.Integer, nullable=False),
        _text("people", nullable=False),
        _text("author", nullable=False),
        _text("note", nullable=False),
        _text("created_at", nullable=False),
        _text("given", nullable=False),
    )
    op.create_index("ix_label_versions_dataset", "label_versions", ["dataset_id"])


def _of_set() -> sa.Column[str]:
    owner = sa.ForeignKey("label_sets.id", ondelete="CASCADE")
    return _text("label_set_id", owner, primary_key=True)


def _text(name: str, *arguments: Any, **options: Any) -> sa.Column[str]:
    # The C collation sorts by code point, as SQLite does, whatever the server's locale.
    kind = sa.Text().with_variant(postgresql.TEXT(collation="C"), "postgresql")
    return sa.Column(name, kind, *arguments, **options)
