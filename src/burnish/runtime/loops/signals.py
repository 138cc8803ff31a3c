"""SIGTERM and SIGINT for a worker: the first drains it, the second ends it at once."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Iterator

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def draining_signals(on_first: Callable[[str], None]) -> Iterator[None]:
    """Within, the first signal is handed over by its name. Threads other than the main one may not
    listen to signals: there nothing happens."""
    loop = asyncio.get_running_loop()
    heard = False

    def hear(number: signal.Signals) -> None:
        nonlocal heard
        if heard:
            # What is under way is dropped; its messages come back once their time is over.
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        heard = True
        on_first(number.name)

    listening = []
    for number in _SIGNALS:
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, hear, number)
            listening.append(number)
    try:
        yield
    finally:
        for number in listening:
            loop.remove_signal_handler(number)
