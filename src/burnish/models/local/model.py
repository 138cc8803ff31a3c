"""A real language model inside the program: llama.cpp in worker processes, no key, no server."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import weakref
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnish.domain import Model, ModelRequest, ModelResponse, UsageError, canonical_hash
from burnish.models.local import worker as local_worker
from burnish.models.local.chat import (
    chat_payload,
    chat_response,
    decided_label,
    leading_text,
    may_stop_early,
)
from burnish.models.local.digest import model_digest
from burnish.models.local.pool import Pool
from burnish.models.local.pull import path_of

if TYPE_CHECKING:
    from burnish.models.settings import ModelSettings

# Raise it when equal requests may be answered otherwise for a reason that the settings don't show.
_DECODING_VERSION = 1
_MOST_WORKERS_BY_DEFAULT = 2
_MAGIC = b"GGUF"


def open_local(name: str, settings: ModelSettings) -> Model:
    """The model of a pulled name (`smollm2-135m`) or of a path that ends in `.gguf`.

    Checks that file and engine are there; the processes start with the first request.
    """
    engine = _engine_version()
    path = _given_file(name) if name.lower().endswith(".gguf") else path_of(name)
    return LocalModel(
        name=f"local/{name}",
        path=path,
        fingerprint=canonical_hash(
            {
                "file": model_digest(path),
                "settings": local_worker.SETTINGS,
                "decoding": _DECODING_VERSION,
                "engine": engine,
            }
        ),
        workers=settings.workers or min(_MOST_WORKERS_BY_DEFAULT, os.cpu_count() or 1),
        timeout_seconds=settings.timeout_seconds,
    )


class LocalModel:
    """Answers on worker processes of its own, from any event loop, one after another or mixed.

    Equal requests get equal answers bit for bit, whatever the order and whoever answers. A
    request's time counts from when a worker takes it. After `close` the next request starts anew.
    """

    def __init__(
        self, *, name: str, path: Path, fingerprint: str, workers: int, timeout_seconds: float
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._command = (sys.executable, "-P", local_worker.__file__, str(path))
        self._workers = workers
        self._timeout_seconds = timeout_seconds
        self._pool: Pool | None = None
        self._unclosed: weakref.finalize[[Pool], LocalModel] | None = None

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer: a label, JSON by the schema, or text."""
        payload = chat_payload(request)
        if not may_stop_early(request):
            return chat_response(request, await self._ask(request, payload))
        # One token mostly tells which label it will be, and the rest of it costs as much again.
        begun = await self._ask(request, {**payload, "max_tokens": 1})
        decided = decided_label(request, begun)
        if decided is not None:
            return decided
        return chat_response(request, await self._ask(request, payload))

    async def _ask(self, request: ModelRequest, payload: dict[str, Any]) -> dict[str, Any]:
        pool = self._open_pool()
        job = pool.submit(
            payload,
            lead=leading_text(request),
            timeout=request.timeout_seconds or self._timeout_seconds,
        )
        try:
            return await asyncio.wrap_future(job.answer)
        except asyncio.CancelledError:
            pool.abandon(job)
            raise

    async def close(self) -> None:
        """End the worker processes; requests under way fail."""
        pool, self._pool = self._pool, None
        if pool and self._unclosed:
            self._unclosed.detach()
            await asyncio.to_thread(pool.close)

    def worker_pids(self) -> list[int]:
        """Of the worker processes that run now."""
        return self._pool.pids() if self._pool else []

    def _open_pool(self) -> Pool:
        if self._pool is None:
            self._pool = Pool(self._command, size=self._workers)
            self._unclosed = weakref.finalize(self, _finish, self._pool)
        return self._pool


def _finish(pool: Pool) -> None:
    """For a model that nobody closed. At the program's end, which the main thread sees, wait until
    the processes are gone; a garbage collection in another thread must not wait."""
    pool.stop()
    if threading.current_thread() is threading.main_thread():
        pool.join()


def _engine_version() -> str:
    try:
        return metadata.version("xllamacpp")
    except metadata.PackageNotFoundError as error:
        raise UsageError(
            what="local models cannot run",
            why="the engine xllamacpp is not installed",
            fix="pip install 'burnish[local]'",
            code="engine_missing",
        ) from error


def _given_file(name: str) -> Path:
    path = Path(name).expanduser().absolute()
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if magic != _MAGIC:
        raise _unreadable(path, "it does not start like a GGUF file")
    return path


def _unreadable(path: Path, why: str) -> UsageError:
    return UsageError(
        what=f"the model file {path} cannot be used",
        why=why,
        fix="give the path of a GGUF model file, or use local/smollm2-135m",
        code="model_missing",
    )
