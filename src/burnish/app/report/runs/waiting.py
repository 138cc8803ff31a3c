"""Batches that a run waits for: which, since when, and how many of their requests are answered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from burnish.app.wiring import Workspace
from burnish.domain import BatchRecord

_STEPS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


async def read_waiting(workspace: Workspace, run_id: str) -> list[dict[str, Any]]:
    """Those of an optimization or evaluation that its vendors are not through with, oldest first."""
    return [_waiting_json(one) for one in await workspace.batches.open_batches(run_id)]


def waiting_words(batch: Mapping[str, Any], now: datetime | None = None) -> str:
    """One of them in words."""
    since = datetime.fromisoformat(batch["since"])
    age = _span(max(((now or datetime.now(UTC)) - since).total_seconds(), 0.0))
    many = batch["requests"]
    number = f"{many:,} request{'' if many == 1 else 's'}"
    words = f"a batch of {number} of {batch['model']}, sent {age} ago"
    if batch["batch_id"] is None:
        return f"{words}, which the vendor has not confirmed yet"
    if batch["looked_at"] is None:
        return f"{words} as {batch['batch_id']}"
    done = f"{batch['answered']:,} of {batch['requests']:,} answered"
    return f"{words} as {batch['batch_id']}: {done}"


def _waiting_json(batch: BatchRecord) -> dict[str, Any]:
    looked = batch.looked_at
    return {
        "batch_id": batch.vendor_id,
        "model": batch.model,
        "requests": batch.requests,
        "answered": batch.answered,
        "since": (batch.sending_at or batch.created_at).isoformat(),
        "looked_at": None if looked is None else looked.isoformat(),
    }


def _span(seconds: float) -> str:
    """Its two largest units, such as 3 h 12 min."""
    found: list[str] = []
    left = int(seconds)
    for name, size in _STEPS:
        number, left = divmod(left, size)
        if number or (name == "s" and not found):
            found.append(f"{number} {name}")
    return " ".join(found[:2])
