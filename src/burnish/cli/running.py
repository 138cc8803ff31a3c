"""Async work under signals: Ctrl-C and SIGTERM stop it, and it saves its state first."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(Exception):  # noqa: N818 - it is no error: somebody wanted this
    """The work was stopped from outside; `note` says what is kept and how to go on."""

    def __init__(self, note: str | None = None) -> None:
        super().__init__("interrupted")
        self.note = note


def run(work: Coroutine[Any, Any, T], *, note: Callable[[], str | None] = lambda: None) -> T:
    """The work's result. Whatever stops it carries the note: what is kept and how to go on."""
    try:
        return asyncio.run(_until_signalled(work))
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise Interrupted(note()) from None
    except Exception as error:
        if text := note():
            error.add_note(text)
        raise


@contextlib.contextmanager
def termination_interrupts() -> Iterator[None]:
    """Within, and outside of `run`, SIGTERM ends the program as Ctrl-C does."""
    if threading.current_thread() is not threading.main_thread():  # Others may not set handlers.
        yield
        return
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


async def _until_signalled(work: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)

    def restore() -> None:
        for number in _SIGNALS:
            # Windows has no such handlers; there Ctrl-C cancels through asyncio.run itself.
            with contextlib.suppress(NotImplementedError, RuntimeError):
                loop.remove_signal_handler(number)

    def stop() -> None:
        # A second signal, while the first is still being served, ends the program at once.
        restore()
        task.cancel()

    for number in _SIGNALS:
        with contextlib.suppress(NotImplementedError, RuntimeError):
            loop.add_signal_handler(number, stop)
    try:
        return await task
    finally:
        restore()
