"""Tables of label sets: their items, what people said with its history, and versions."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Table, UniqueConstraint

from burnish.storage.engine.codec import JsonText, PlainText, SafeText
from burnish.storage.engine.columns import reference
from burnish.storage.experiments.tables import metadata

label_sets = Table(
    "label_sets",
    metadata,
    Column("id", SafeText, primary_key=True),
    Column("name", SafeText, nullable=False),
    Column("items", Integer, nullable=False),
    Column("seed", BigInteger, nullable=False),
    Column("author", SafeText, nullable=False),
    Column("created_at", PlainText, nullable=False),
    Column("last_version", Integer, nullable=False),
    Column("rules", JsonText, nullable=False),
    Column("source", JsonText, nullable=False),
    UniqueConstraint("name", name="uq_label_sets_name"),
)

label_items = Table(
    "label_items",
    metadata,
    reference("label_set_id", "label_sets.id"),
    Column("id", SafeText, primary_key=True),
    Column("position", Integer, nullable=False),
    Column("data", JsonText, nullable=False),
    Column("output", SafeText),
    Column("other", SafeText),
    Column("origin", JsonText, nullable=False),
)

# Never changed but for `current`: a label that is given anew is another row.
labels = Table(
    "labels",
    metadata,
    reference("label_set_id", "label_sets.id"),
    Column("item_id", SafeText, primary_key=True),
    Column("person", SafeText, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("state", PlainText, nullable=False),
    Column("value", JsonText),
    Column("comment", SafeText, nullable=False),
    Column("output_left", Boolean),
    Column("current", Boolean, nullable=False),
    Column("created_at", PlainText, nullable=False),
    Index("ix_labels_person", "label_set_id", "person", "current"),
)

# The labels themselves too, so that a version is what it was whatever is said later.
label_versions = Table(
    "label_versions",
    metadata,
    reference("label_set_id", "label_sets.id"),
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("digest", PlainText, nullable=False),
    Column("dataset_id", SafeText, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("labels", Integer, nullable=False),
    Column("undecided", Integer, nullable=False),
    Column("people", JsonText, nullable=False),
    Column("author", SafeText, nullable=False),
    Column("note", SafeText, nullable=False),
    Column("created_at", PlainText, nullable=False),
    Column("given", JsonText, nullable=False),
    Index("ix_label_versions_dataset", "dataset_id"),
)
