"""Tables of queued jobs: optimizations and evaluations that wait for whoever runs them."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, Table

from burnish.storage.engine.codec import JsonText, PlainText, SafeText
from burnish.storage.engine.columns import reference
from burnish.storage.experiments.tables import metadata

# The lease of an optimization stands in its own row.
run_queue = Table(
    "run_queue",
    metadata,
    reference("optimization_id", "optimizations.id"),
    Column("queued_at", PlainText, nullable=False),
    # Seconds since 1970 by the database's clock: not to be begun before.
    Column("ready_at", Double, nullable=False),
    Column("attempts", Integer, nullable=False),
)

evaluation_jobs = Table(
    "evaluation_jobs",
    metadata,
    reference("experiment_id", "experiments.id"),
    Column("queued_at", PlainText, nullable=False),
    # As above; null when it does not wait to be run: it has ended, or a command runs it.
    Column("ready_at", Double),
    Column("attempts", Integer, nullable=False),
    Column("lease_owner", SafeText),
    Column("lease_token", BigInteger, nullable=False),
    # Seconds since 1970 by the database's clock.
    Column("lease_expires", Double),
    Column("cancel_requested", Boolean, nullable=False),
    # What is needed to run it in any process; null where only a command can.
    Column("spec", JsonText),
    Index("ix_evaluation_jobs_ready", "ready_at"),
)
