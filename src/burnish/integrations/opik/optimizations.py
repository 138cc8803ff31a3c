"""Optimizations that an Opik client runs, among our own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.app.optimize.client_lease import CLIENT, OpikLease, is_of_client
from burnish.app.wiring import Workspace
from burnish.domain import (
    ConflictError,
    Lease,
    OptimizationRecord,
    OptimizationStatus,
    StopReason,
    UsageError,
)
from burnish.integrations.opik.datasets import named_dataset, snapshot
from burnish.optimization import events

_STATUSES = {
    "initialized": OptimizationStatus.INITIALIZED,
    "running": OptimizationStatus.RUNNING,
    "completed": OptimizationStatus.COMPLETED,
    "cancelled": OptimizationStatus.CANCELLED,
    "error": OptimizationStatus.FAILED,
}
_NAMES = {status: name for name, status in _STATUSES.items()}
_REASONS = {
    OptimizationStatus.COMPLETED: StopReason.ALGORITHM_SPECIFIC.value,
    OptimizationStatus.CANCELLED: StopReason.CANCELLED.value,
    OptimizationStatus.FAILED: StopReason.ERROR.value,
}


def status_name(record: OptimizationRecord) -> str:
    """Where it stands, in Opik's words. One that somebody wants to end is cancelled."""
    if record.cancel_requested and not record.status.final:
        return "cancelled"
    return _NAMES[record.status]


class OpikOptimizations:
    """Makes and ends optimizations for a client. Whatever is said twice counts once."""

    def __init__(self, workspace: Workspace, lease: OpikLease) -> None:
        self._workspace = workspace
        self._lease = lease

    async def get(self, optimization_id: str) -> OptimizationRecord:
        """One that a client runs; ConflictError for one of our own."""
        record = await self._workspace.optimizations.get_optimization(optimization_id)
        if not is_of_client(record):
            raise ConflictError(
                what=f"optimization {optimization_id} cannot be used by an Opik client",
                why="Burnish itself runs it",
                fix="let the client make one of its own",
                code="not_of_client",
            )
        return record

    async def create(
        self,
        place: str,
        optimization_id: str,
        *,
        dataset_name: str,
        objective_name: str,
        status: str,
        project: str,
        name: str | None,
        metadata: Mapping[str, Any],
    ) -> None:
        """A new one; with an id that is there already, its status is taken over."""
        begun = _status(status)
        dataset = await named_dataset(self._workspace, place, dataset_name)
        optimizer = str(metadata.get("optimizer") or "unknown")
        seed = metadata.get("seed")
        record = OptimizationRecord(
            id=optimization_id,
            name=name or f"{optimizer} of {dataset_name}",
            status=OptimizationStatus.INITIALIZED,
            objective_name=objective_name,
            agent_name=str(metadata.get("agent_name") or "Opik client"),
            suite_name=str(metadata.get("suite_name") or dataset_name),
            optimizer_name=optimizer,
            dataset_id=await snapshot(self._workspace, dataset),
            seed=seed if isinstance(seed, int) and abs(seed) < 2**63 else 0,
            spec={
                "client": CLIENT,
                "opik": {
                    "name": name,
                    "project": project,
                    "dataset_name": dataset_name,
                    "opik_dataset_id": dataset.id,
                    "metadata": dict(metadata),
                },
            },
        )
        try:
            await self._workspace.optimizations.create_optimization(record)
        except ConflictError:
            await self.get(optimization_id)
        await self._move(optimization_id, begun, None)

    async def update(
        self, optimization_id: str, status: str | None, error: Mapping[str, Any] | None = None
    ) -> None:
        """What the client says about how it stands."""
        await self.get(optimization_id)
        if status is not None:
            await self._move(optimization_id, _status(status), error)

    async def _move(
        self, optimization_id: str, status: OptimizationStatus, error: Mapping[str, Any] | None
    ) -> None:
        repository = self._workspace.optimizations

        async def work(lease: Lease) -> None:
            record = await repository.get_optimization(optimization_id)
            # Who cancelled it here wants it to stay so, whatever the client makes of it.
            if record.status is status or (record.cancel_requested and record.status.final):
                return
            if record.cancel_requested and status.final:
                await self._save(lease, OptimizationStatus.CANCELLED, None)
            else:
                await self._save(lease, status, error)

        await self._lease.write(optimization_id, work)

    async def _save(
        self, lease: Lease, status: OptimizationStatus, error: Mapping[str, Any] | None
    ) -> None:
        reason = _REASONS.get(status)
        told = [events.status_changed(status, attempt=lease.token)]
        if status.final:
            told.append(events.run_finished(status, reason, attempt=lease.token))
        failed = status is OptimizationStatus.FAILED
        await self._workspace.optimizations.save_status(
            lease,
            status,
            stop_reason=reason,
            framework_error=_failure(error or {}) if failed else None,
            events=told,
        )


def _status(name: str) -> OptimizationStatus:
    if name not in _STATUSES:
        raise UsageError(
            what=f"the status {name!r} cannot be used",
            why=f"an optimization is one of {', '.join(_STATUSES)}",
            fix="send one of these",
            code="invalid_status",
        )
    return _STATUSES[name]


def _failure(error: Mapping[str, Any]) -> dict[str, Any]:
    told = [str(error[name]) for name in ("exception_type", "message") if error.get(name)]
    return {
        "code": "opik_client",
        "message": ": ".join(told) or "the Opik client said that it failed, and not why",
        "fix": "see the client's own log",
        "retryable": False,
    }
