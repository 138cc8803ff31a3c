"""A recording of what commands really print: `python docs/make_picture.py FILE.svg COMMAND …`.

Each COMMAND is a line as one types it, all in one new folder. Lines appear when they were printed, with
long pauses cut; where a viewer plays nothing, all of them stand there.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 100
LONGEST_PAUSE = 1.5
STYLE = """
@keyframes printed { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-reduced-motion: no-preference) { g text { animation: printed 1ms backwards } }
"""


def main() -> None:
    """Run the commands, and draw what they print."""
    path, commands = Path(sys.argv[1]).resolve(), sys.argv[2:]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    shown_at: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for seconds, line in _recorded(commands, Path(folder)):
            console.print(line)
            shown_at += [seconds] * len(line.wrap(console, WIDTH))
    # A plain fixed-width font: rich would fetch one from the web.
    code = console.export_svg(title="burnish", unique_id="recording").replace(
        "Fira Code", "monospace"
    )
    code = re.sub(r"@font-face\s*\{.*?\}\s*", "", code, flags=re.DOTALL)
    code = code.replace("</style>", f"{STYLE}</style>", 1)
    path.write_text(_timed(code, shown_at) + "\n", encoding="utf-8")


def _recorded(commands: list[str], folder: Path) -> Iterator[tuple[float, Text]]:
    """Each line with its second; a pause is at most LONGEST_PAUSE."""
    shown, before = 0.0, time.monotonic()
    for command in commands:
        for line in chain([Text(f"$ {command}", style="bold")], _printed(command, folder)):
            now = time.monotonic()
            shown, before = shown + min(now - before, LONGEST_PAUSE), now
            yield shown, line
        if command.startswith("cd "):
            folder /= command.removeprefix("cd ")


def _printed(command: str, folder: Path) -> Iterator[Text]:
    environment = {
        **os.environ,
        "FORCE_COLOR": "1",
        "COLUMNS": str(WIDTH),
        "TERM": "xterm-256color",
        # The commands beside this Python are those that are shown.
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    with subprocess.Popen(  # noqa: S602 - the caller's own command
        command, shell=True, cwd=folder, stdout=subprocess.PIPE, text=True, env=environment
    ) as running:
        assert running.stdout is not None
        for line in running.stdout:
            yield Text.from_ansi(line.rstrip())
    if running.returncode:
        raise SystemExit(f"{command} ended with {running.returncode}")


def _timed(code: str, shown_at: list[float]) -> str:
    """The picture with the second at which each text appears; the first ones are the frame's own."""

    def timed(found: re.Match[str]) -> str:
        seconds = shown_at[min(int(found[1]), len(shown_at) - 1)]
        return f'{found[0]} style="animation-delay: {seconds:.2f}s"'

    return re.sub(r'clip-path="url\(#recording-line-(\d+)\)"', timed, code)


main()
