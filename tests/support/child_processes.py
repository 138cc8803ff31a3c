"""Python programs in processes of their own, spoken to line by line."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager


@contextmanager
def children(
    script: str, arguments: Sequence[tuple[str, ...]]
) -> Iterator[list[subprocess.Popen[str]]]:
    """A process for each tuple of arguments; none outlives the block."""
    with ExitStack() as stack:
        started = []
        for words in arguments:
            child = subprocess.Popen(  # noqa: S603 - our own script
                [sys.executable, "-W", "error", "-c", script, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            started.append(stack.enter_context(child))
            stack.callback(child.kill)
        yield started


def tell(child: subprocess.Popen[str], words: str) -> None:
    """Write a line to the child."""
    assert child.stdin is not None
    child.stdin.write(f"{words}\n")
    child.stdin.flush()


def line(child: subprocess.Popen[str]) -> str:
    """The child's next line, or its errors when there is none."""
    assert child.stdout is not None
    said = child.stdout.readline()
    if not said:
        raise AssertionError(child.communicate()[1])
    return said.strip()
