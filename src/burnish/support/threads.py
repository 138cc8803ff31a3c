"""Daemon threads for blocking user code: a hung function cannot keep the program alive."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_Job = tuple[Callable[[], Any], "asyncio.Future[Any]", asyncio.AbstractEventLoop]


class DaemonThreads:
    """Runs functions off the event loop, at most `limit` at once.

    The standard executor joins its threads at the end: one agent that hangs would hang the program.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._jobs: deque[_Job | None] = deque()
        self._threads = self._waiting = 0
        # Jobs and who waits for one change together, or else a job would be left to a thread that
        # has just taken another.
        self._changed = threading.Condition()

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """The function's result, under the caller's context variables."""
        if self._process != os.getpid():  # A fork has none of the threads.
            self._begin()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        context = contextvars.copy_context()
        self._give((lambda: context.run(function, *arguments), future, loop))
        return await future

    def close(self) -> None:
        """Let idle threads end; a hung one is left behind."""
        with self._changed:
            self._jobs.extend([None] * self._threads)
            self._changed.notify_all()

    def _give(self, job: _Job) -> None:
        with self._changed:
            self._jobs.append(job)
            if len(self._jobs) <= self._waiting or self._threads >= self._limit:
                self._changed.notify()
                return
            self._threads += 1
        threading.Thread(target=self._work, name="burnish-work", daemon=True).start()

    def _work(self) -> None:
        while (job := self._take()) is not None:
            _finish(job)

    def _take(self) -> _Job | None:
        with self._changed:
            self._waiting += 1
            while not self._jobs:
                self._changed.wait()
            self._waiting -= 1
            job = self._jobs.popleft()
            if job is None:
                self._threads -= 1
            return job


def _finish(job: _Job) -> None:
    call, future, loop = job
    try:
        result = call()
    except BaseException as error:  # noqa: BLE001 - it travels to the caller whatever it is
        _hand_over(loop, future, None, error)
    else:
        _hand_over(loop, future, result, None)


def _hand_over(
    loop: asyncio.AbstractEventLoop,
    future: asyncio.Future[Any],
    result: Any,
    error: BaseException | None,
) -> None:
    def settle() -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        elif isinstance(error, (StopIteration, SystemExit, KeyboardInterrupt)):
            # Futures refuse the first, and the others must not end the loop from a user's function.
            future.set_exception(RuntimeError(f"{type(error).__name__}: {error}"))
        else:
            future.set_exception(error)

    try:
        loop.call_soon_threadsafe(settle)
    except RuntimeError:
        return  # The loop ended while the function was still running: nobody waits any more.
