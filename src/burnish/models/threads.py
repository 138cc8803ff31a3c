"""Blocking calls off the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

T = TypeVar("T")


async def run_in_thread(function: Callable[[str], T], prompt: str) -> T:
    """The function's result, from a thread of its own.

    The thread is a daemon: the pool behind `asyncio.to_thread` is joined at exit, so a function
    that never returns would keep the program alive. The caller bounds how many run at once.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            result = context.run(function, prompt)
        except BaseException as error:  # noqa: BLE001 - it travels to the caller whatever it is
            _settle(loop, future, partial(future.set_exception, _portable(error)))
        else:
            _settle(loop, future, partial(future.set_result, result))

    threading.Thread(target=work, name="burnish-model", daemon=True).start()
    return await future


def _portable(error: BaseException) -> BaseException:
    # Futures refuse the first, and the others must not end the loop from a user's function.
    if isinstance(error, (StopIteration, SystemExit, KeyboardInterrupt)):
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


def _settle(
    loop: asyncio.AbstractEventLoop, future: asyncio.Future[T], outcome: Callable[[], None]
) -> None:
    def finish() -> None:
        if not future.done():
            outcome()

    # The loop may have ended while the function was still running: then nobody waits any more.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(finish)
