"""Lines of Python that some work runs: a measure of effort that is the same on every machine."""

import sys
from collections.abc import Callable


def lines_run(work: Callable[[], object]) -> int:
    """How many lines the work runs through, in all that it calls."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count
