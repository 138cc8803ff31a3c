"""Python programs in processes of their own, spoken to line by line.

They are forked from the process of the tests, which has loaded everything already: an interpreter
that loads it again takes a second.
"""

from __future__ import annotations

import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import NoReturn

# Scripts import samples from `tests`, wherever they are started.
_ROOT = str(Path(__file__).parents[2])


class Child:
    """A process that runs a script; its ends of the pipes are in text."""

    def __init__(self, script: str, words: Sequence[str]) -> None:
        (theirs_in, ours_in), (ours_out, theirs_out), (ours_err, theirs_err) = (
            os.pipe() for _ in range(3)
        )
        self.returncode: int | None = None
        self.pid = os.fork()
        if not self.pid:
            for end in (ours_in, ours_out, ours_err):
                os.close(end)
            _run(script, words, (theirs_in, theirs_out, theirs_err))
        for end in (theirs_in, theirs_out, theirs_err):
            os.close(end)
        self.stdin = os.fdopen(ours_in, "w")
        self.stdout = os.fdopen(ours_out)
        self.stderr = os.fdopen(ours_err)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless its end is known."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def wait(self, timeout: float = 600.0) -> int:
        """The exit code, negative for a signal."""
        deadline = time.monotonic() + timeout
        while self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
            else:
                assert time.monotonic() < deadline, "it goes on"
                time.sleep(0.005)
        return self.returncode

    def close(self) -> None:
        """End it, however far it is."""
        self.send_signal(signal.SIGKILL)
        self.wait()
        for end in (self.stdin, self.stdout, self.stderr):
            end.close()


def _run(script: str, words: Sequence[str], ends: Sequence[int]) -> NoReturn:
    """Be the script's process; nothing of the tests goes on in it."""
    code: object = 1
    try:
        for number, end in enumerate(ends):
            os.dup2(end, number)
            os.close(end)
        sys.stdin, sys.stdout, sys.stderr = map(os.fdopen, range(3), "rww")
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        sys.argv = ["-c", *words]
        if _ROOT not in sys.path:
            sys.path.insert(0, _ROOT)
        exec(compile(script, "<script>", "exec"), {"__name__": "__main__"})
        code = 0
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


@contextmanager
def children(script: str, arguments: Sequence[tuple[str, ...]]) -> Iterator[list[Child]]:
    """A process for each tuple of arguments; none outlives the block.

    No connection to a file of SQLite may be open here while they begin: see `worker_for_later`.
    """
    with ExitStack() as stack:
        yield [stack.enter_context(closing(Child(script, words))) for words in arguments]


def tell(child: Child, words: str) -> None:
    """Write a line to the child."""
    child.stdin.write(f"{words}\n")
    child.stdin.flush()


def line(child: Child) -> str:
    """The child's next line, or its errors when there is none."""
    said = child.stdout.readline()
    if not said:
        raise AssertionError(child.stderr.read())
    return said.strip()
