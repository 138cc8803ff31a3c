"""What becomes of a run that stopped: it has ended, or goes on here, elsewhere, or later."""

from __future__ import annotations

from enum import Enum, auto

from burnish.domain import (
    BurnishError,
    ConflictError,
    OptimizationRecord,
    OptimizationRepository,
    OptimizationStatus,
    StopReason,
    UnavailableError,
)
from burnish.optimization import events, ownership

_LEASE_SECONDS = 10.0
_OWNED = ("owned", "lease_lost")


class Ending(Enum):
    """How a run left its executor."""

    ENDED = auto()
    IMPOSSIBLE = auto()
    ELSEWHERE = auto()
    LATER = auto()


def ending_of(record: OptimizationRecord, error: BurnishError | None) -> Ending:
    """From the record after the run, and what stopped it."""
    if error is None:
        return Ending.ENDED
    if isinstance(error, ConflictError) and error.code in _OWNED:
        return Ending.ELSEWHERE
    if record.status is OptimizationStatus.FAILED and record.framework_error is not None:
        return Ending.ENDED
    if record.status.final:
        return Ending.ENDED
    return Ending.LATER if isinstance(error, UnavailableError) else Ending.IMPOSSIBLE


async def end_as_failed(
    repository: OptimizationRepository, record: OptimizationRecord, error: BurnishError
) -> None:
    """Say on the record why a run could not even begin."""
    dead = record.lease_owner
    lease = await repository.acquire_lease(
        record.id,
        owner=ownership.new_owner(),
        seconds=_LEASE_SECONDS,
        replacing=dead if dead is not None and ownership.is_dead(dead) else None,
    )
    try:
        status = OptimizationStatus.FAILED
        await repository.save_status(
            lease,
            status,
            stop_reason=StopReason.ERROR.value,
            framework_error=error.to_json(),
            events=[
                events.status_changed(status, sitting=lease.token),
                events.run_finished(status, StopReason.ERROR.value, sitting=lease.token),
            ],
        )
    finally:
        await repository.release_lease(lease)


def too_many_attempts(optimization_id: str, attempts: int) -> ConflictError:
    """A run that takes its server down each time must not do so for ever."""
    return ConflictError(
        what=f"optimization {optimization_id} is not tried again",
        why=f"{attempts} servers began it, and none lived to end it",
        fix="find out in the logs what ended them, such as memory; then resume it",
        code="too_many_attempts",
    )
