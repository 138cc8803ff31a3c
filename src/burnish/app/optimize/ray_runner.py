"""Makes adapters whose shards run on a Ray cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from burnish.app.optimize.runners import place_of
from burnish.domain import ExperimentRepository, Lease, UnavailableError, UsageError
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.experiments.block_adapter import BlockExperimentAdapter, Workbench
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.runtime.shards import ShardSettings
from burnish.runtime.shards.ray_adapter import RayExperimentAdapter
from burnish.runtime.shards.ray_transport import RayCarrier

_RETRIES = 5


class RayRunner:
    """Makes adapters on the cluster at an address; `auto` is the one of this machine.

    Nodes have burnish, the project's folder at the same path, and reach the database: by its address,
    or where that holds a password, by their own BURNISH_DB.
    """

    def __init__(
        self, address: str, database: str, folder: Path, settings: ShardSettings | None = None
    ) -> None:
        self._address = address
        self._database = database
        self._folder = folder
        self._settings = settings or ShardSettings()
        self._ray = _ray()

    def __call__(
        self,
        workbench: Workbench,
        experiments: ExperimentRepository,
        materializer: CandidateMaterializer,
        gate: BudgetGate,
        lease: Lease,
    ) -> BlockExperimentAdapter:
        """An adapter; the connection to the cluster is this process's, made once."""
        self._connect()
        tasks = _Tasks(
            self._ray,
            database=_without_password(self._database),
            folder=str(self._folder.absolute()),
            concurrency=workbench.options.concurrency,
        )
        return RayExperimentAdapter(
            workbench,
            experiments,
            materializer,
            gate,
            lease,
            carrier=RayCarrier(tasks, where=f"the Ray cluster at {self._address}"),
            settings=self._settings,
        )

    def _connect(self) -> None:
        if self._ray.is_initialized():
            return
        try:
            self._ray.init(address=self._address, log_to_driver=False, logging_level="ERROR")
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            raise UnavailableError(
                what="the Ray cluster cannot be reached",
                why=f"{self._address}: {type(error).__name__}",
                fix="start one with `ray start --head`, or correct --ray-address",
                code="ray_unavailable",
            ) from error


class _Tasks:
    """Ray tasks that evaluate shards."""

    def __init__(self, ray: Any, *, database: str, folder: str, concurrency: int) -> None:
        from burnish.app.optimize.ray_task import evaluate_shard  # noqa: PLC0415 - with ray only

        self._ray = ray
        self._settings = (database, folder, concurrency)
        self._remote = ray.remote(max_retries=_RETRIES)(evaluate_shard)

    def submit(self, payload: bytes) -> Any:
        """One task."""
        return self._remote.remote(payload, *self._settings)

    def cancel(self, task: Any) -> None:
        """Stop it if it has not begun; what runs finds out by itself that nobody waits."""
        self._ray.cancel(task, force=False)


def _ray() -> Any:
    # Telling Ray's makers that it is used is not ours to decide.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray  # noqa: PLC0415 - an extra
    except ImportError:
        raise UsageError(
            what="the runner ray cannot be used",
            why="the package ray is not installed",
            fix="pip install 'burnish[ray]'",
            code="missing_extra",
        ) from None
    return ray


def _without_password(database: str) -> str:
    return place_of(database) if "@" in database else str(database)
