"""Sync calls of async work, in a script as in a notebook, where an event loop runs already."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, Generic, TypeVar

T = TypeVar("T")


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """The work's result, under the caller's context variables.

    Where an event loop runs in this thread, the work gets a thread with a loop of its own, and the
    caller's loop stands still meanwhile. Ctrl-C cancels the work and lets it save its state first; a
    second one gives up at once.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    elsewhere: _Elsewhere[T] = _Elsewhere(work)
    return elsewhere.result()


class _Elsewhere(Generic[T]):
    """Work on a thread with an event loop of its own."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self._work = work
        self._context = contextvars.copy_context()
        self._runner = asyncio.Runner()
        self._ended: Future[T] = Future()
        self._task: asyncio.Task[Any] | None = None
        self._stopped = False

    def result(self) -> T:
        # A daemon: what a second Ctrl-C left behind does not keep the program alive.
        thread = threading.Thread(target=self._run, name="burnish-call", daemon=True)
        with _interrupts(self._stop):
            thread.start()
            return self._ended.result()

    def _run(self) -> None:
        try:
            with self._runner as runner:
                found = runner.run(self._cancellable(), context=self._context)
        except BaseException as error:  # noqa: BLE001 - the caller gets it, whatever it is
            self._ended.set_exception(error)
        else:
            self._ended.set_result(found)

    async def _cancellable(self) -> T:
        self._task = asyncio.current_task()
        if self._stopped:
            self._work.close()
            raise asyncio.CancelledError
        return await self._work

    def _stop(self) -> None:
        self._stopped = True
        if self._task is not None:
            with contextlib.suppress(RuntimeError):  # The loop may have closed in the meantime.
                self._runner.get_loop().call_soon_threadsafe(self._task.cancel)


@contextlib.contextmanager
def _interrupts(stop: Callable[[], None]) -> Iterator[None]:
    """Within, the first Ctrl-C calls `stop`; whoever listened before hears of it at the end.

    So a notebook raises KeyboardInterrupt and a server shuts down, each after the work has ended.
    """
    previous = signal.getsignal(signal.SIGINT)
    if not callable(previous) or threading.current_thread() is not threading.main_thread():
        yield  # Other threads hear no signals, and may set no handlers.
        return
    heard: list[Any] = []

    def hear(number: int, frame: Any) -> None:
        if heard:
            raise KeyboardInterrupt
        heard.append((number, frame))
        stop()

    signal.signal(signal.SIGINT, hear)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if heard:
            _pass_on(previous, *heard[0])


def _pass_on(previous: Callable[[int, Any], Any], number: int, frame: Any) -> None:
    try:
        previous(number, frame)
    except KeyboardInterrupt:
        # Nobody wants to read how the work was cancelled.
        raise KeyboardInterrupt from None
