"""The table of optimizations that wait for whoever runs them."""

from __future__ import annotations

from sqlalchemy import Column, Double, ForeignKey, Integer, Table

from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.experiments.tables import metadata

run_queue = Table(
    "run_queue",
    metadata,
    Column(
        "optimization_id",
        SafeText,
        ForeignKey("optimizations.id", ondelete="CASCADE"),
        primary_key=True,
    ),
    Column("queued_at", PlainText, nullable=False),
    # Seconds since 1970 by the database's clock: not to be begun before.
    Column("ready_at", Double, nullable=False),
    Column("attempts", Integer, nullable=False),
)
