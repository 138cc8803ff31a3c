"""Objects from before a run, kept out of the garbage collector's way while it lasts."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

# Counting what is frozen looks at each of the objects: once is enough to know of somebody else.
_frozen = {"by us": False, "by others": False}


@contextlib.contextmanager
def settled_memory() -> Iterator[None]:
    """Within, a full collection looks only at what came since.

    Modules alone are some ninety thousand objects: looking through them stops every call under
    way for 50 ms. Where somebody froze objects already, nothing is done, nor undone.
    """
    if not any(_frozen.values()):
        _frozen["by others"] = gc.get_freeze_count() > 0
    if any(_frozen.values()):
        yield
        return
    gc.freeze()
    _frozen["by us"] = True
    try:
        yield
    finally:
        _frozen["by us"] = False
        gc.unfreeze()
