"""What a Ray node runs: one shard, with an evaluator that its process keeps."""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from pathlib import Path

from burnish.app.wiring import Workspace
from burnish.app.worker.shard_worker import shard_evaluator
from burnish.runtime.shards import ShardEvaluator
from burnish.runtime.shards.messages import read_request, written

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
