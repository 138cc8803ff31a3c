"""Ray runner: experiments of an optimization as shards on a Ray cluster."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from pathlib import Path
from typing import Any

from burnish.app.optimize.runners import WorkerRunner, place_of
from burnish.app.wiring import Workspace
from burnish.app.worker.shard_worker import shard_evaluator
from burnish.domain import ExperimentRepository, Lease, UnavailableError, UsageError
from burnish.optimization.budget_gate import BudgetGate
from burnish.optimization.experiments.block_adapter import BlockExperimentAdapter, ExperimentInputs
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.runtime.shards.blocks import ShardSettings
from burnish.runtime.shards.evaluator import ShardEvaluator
from burnish.runtime.shards.messages import read_request, written
from burnish.runtime.shards.ray import RayExperimentAdapter, RayTransport

_Key = tuple[str, str, int]
_services: dict[_Key, _Service] = {}
_lock = threading.Lock()


def evaluate_shard(payload: bytes, database: str, folder: str, concurrency: int) -> bytes:
    """The reply to a request, both as they travel: JSON of declared types."""
    location = os.environ.get("BURNISH_DB") or database
    with _lock:
        key = (location, folder, concurrency)
        service = _services.get(key)
        if service is None:
            service = _services[key] = _Service(location, Path(folder), concurrency)
    return service.evaluate(payload)


class _Service:
    """An evaluator on an event loop of its own, open as long as the process lives."""

    def __init__(self, location: str, folder: Path, concurrency: int) -> None:
        self._location = location
        self._folder = folder
        self._concurrency = concurrency
        self._evaluator: ShardEvaluator | None = None
        # Never closed: Ray ends its processes without asking.
        self._open = contextlib.AsyncExitStack()
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True).start()

    def evaluate(self, payload: bytes) -> bytes:
        """Run one shard and wait for it."""
        return asyncio.run_coroutine_threadsafe(self._evaluate(payload), self._loop).result()

    async def _evaluate(self, payload: bytes) -> bytes:
        request = read_request(payload)
        if self._evaluator is None:
            workspace = await self._open.enter_async_context(Workspace.open(self._location))
            self._evaluator = shard_evaluator(
                workspace, self._folder, concurrency=self._concurrency
            )
        reply = await self._evaluator.evaluate(request)
        return written(reply)


_RETRIES = 5


class RayRunner(WorkerRunner):
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
        workbench: ExperimentInputs,
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
            transport=RayTransport(tasks, where=f"the Ray cluster at {self._address}"),
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
