"""The command line: parses, calls, prints."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence

from burnish.support.garbage import without_garbage_collection

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """The `burnish` command; ends the process with the exit code of what happened."""
    # Late, so that `import burnish.cli` costs nothing.
    with without_garbage_collection():
        from burnish.cli.invocation import run_command  # noqa: PLC0415

    code = run_command(list(sys.argv[1:] if arguments is None else arguments))
    # Else the interpreter looks through every module for garbage once more: a fifth of a list's time.
    gc.freeze()
    sys.exit(code)
