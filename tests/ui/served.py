"""`burnish serve` in a folder, as a user starts it."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_BURNISH = [sys.executable, "-P", "-c", "from burnish.cli import main; main()"]
_STOP_SECONDS = 30.0


@contextlib.contextmanager
def serving(folder: Path, port: int, key: str | None = None) -> Iterator[str]:
    """The address of `burnish serve` in a folder; it is ended with this."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("BURNISH_")}
    process = subprocess.Popen(
        [*_BURNISH, "serve", "--port", str(port), "--log-format", "json"],
        cwd=folder,
        env=kept | ({} if key is None else {"BURNISH_API_KEY": key}),
        stdout=subprocess.PIPE,
        stderr=(folder / "serve.log").open("a"),
        text=True,
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if " at http" not in line:
            raise RuntimeError(f"the server does not start: see {folder / 'serve.log'}")
        yield line.strip().rpartition(" ")[2]
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
