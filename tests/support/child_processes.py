"""Python programs in processes of their own, spoken to line by line."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

# Scripts import samples from `tests`, wherever they are started.
_ROOT = str(Path(__file__).parents[2])


@contextmanager
def children(
    script: str, arguments: Sequence[tuple[str, ...]]
) -> Iterator[list[subprocess.Popen[str]]]:
    """A process for each tuple of arguments; none outlives the block."""
    with ExitStack() as stack:
        started = []
        for words in arguments:
            child = subprocess.Popen(
                [sys.executable, "-W", "error", "-c", script, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": _search_path()},
            )
            started.append(stack.enter_context(child))
            stack.callback(child.kill)
        yield started


def _search_path() -> str:
    return os.pathsep.join(filter(None, (_ROOT, os.environ.get("PYTHONPATH"))))


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
