"""Child process that ends with its parent, however the parent goes.

Run by its file name it becomes the command that it is given, on the standard library alone.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

_PR_SET_PDEATHSIG = 1


def ending_with_us(command: Sequence[str]) -> list[str]:
    """A command as a child that the kernel kills once the thread that started it is gone.

    A kill -9 of ours leaves nothing behind then. Where the kernel cannot do that, it just runs.
    """
    if sys.platform != "linux":
        return list(command)
    return [sys.executable, "-I", "-S", __file__, str(os.getpid()), *command]


def _main() -> None:
    import ctypes  # noqa: PLC0415 - only the child needs it

    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    parent, *command = sys.argv[1:]
    if os.getppid() != int(parent):
        sys.exit(1)  # It went before we had asked.
    os.execvp(command[0], command)  # noqa: S606 - what the parent runs


if __name__ == "__main__":
    _main()
