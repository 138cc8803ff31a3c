"""Where pixels are worked on: beside the event loop, and never on all processors at once.

Many pictures often come at the same moment. In the loop's own threads their decoding would take
every processor, and whoever asks a server for anything would wait for all of it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TypeVar

from burnish.support.threads import DaemonThreads

T = TypeVar("T")
_background = DaemonThreads(max(1, (os.cpu_count() or 2) - 1))
_foreground = DaemonThreads(1)


async def on_pixels(function: Callable[..., T], *arguments: object) -> T:
    """The function's result; it waits for its turn."""
    return await _background.run(function, *arguments)


async def on_pixels_at_once(function: Callable[..., T], *arguments: object) -> T:
    """For what somebody waits for: it does not stand behind the pictures of runs."""
    return await _foreground.run(function, *arguments)
