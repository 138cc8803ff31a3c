"""Saves item results."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import ItemResult
from burnish.storage.engine.bulk import BulkInsert, chunks
from burnish.storage.experiments.result_rows import Origin, item_row, score_rows
from burnish.storage.experiments.tables import experiment_items, experiments, feedback_scores

_insert_new = BulkInsert(experiment_items, existing="skip")
_replace = BulkInsert(experiment_items, existing="replace")
_insert_scores = BulkInsert(feedback_scores)
_forget_scores = delete(feedback_scores).where(
    feedback_scores.c.experiment_id == bindparam("of_experiment"),
    tuple_(feedback_scores.c.item_id, feedback_scores.c.repeat).in_(
        bindparam("of_keys", expanding=True)
    ),
)
_note_agent = (
    update(experiments)
    .where(experiments.c.id == bindparam("of_experiment"))
    .where(experiments.c.agent_fingerprint.is_(None))
    .values(agent_fingerprint=bindparam("fingerprint"))
)


async def save(
    connection: AsyncConnection,
    experiment_id: str,
    results: Sequence[ItemResult],
    origin: Origin,
) -> None:
    """Write results in the caller's transaction, over those of the same item and repeat."""
    latest = {(result.item_id, result.repeat): result for result in results}
    # Everybody writes in the same order, so that no two wait for each other.
    ordered = [latest[key] for key in sorted(latest)]
    rows = [item_row(experiment_id, result, origin) for result in ordered]
    # Results are new as a rule; only when some are not, their old scores have to go.
    if await _insert_new(connection, rows) < len(rows):
        await _replace(connection, rows)
        for keys_now in chunks(sorted(latest)):
            bound = {"of_experiment": experiment_id, "of_keys": keys_now}
            await connection.execute(_forget_scores, bound)
    await _insert_scores(connection, score_rows(experiment_id, ordered))


async def note_agent(connection: AsyncConnection, experiment_id: str, fingerprint: str) -> None:
    """Keep with the experiment which agent it ran; the first one told stays."""
    await connection.execute(
        _note_agent, {"of_experiment": experiment_id, "fingerprint": fingerprint}
    )
