"""A picture of what a command really prints: `python docs/make_picture.py FILE.svg COMMAND …`."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 100


def main() -> None:
    """Run the command, and draw its standard output."""
    path, command = Path(sys.argv[1]), sys.argv[2:]
    environment = {
        **os.environ,
        "FORCE_COLOR": "1",
        "COLUMNS": str(WIDTH),
        "TERM": "xterm-256color",
    }
    printed = subprocess.run(  # noqa: S603 - the caller's own command
        command, stdout=subprocess.PIPE, text=True, env=environment, check=True
    )
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ " + " ".join(command), style="bold"))
    console.print(Text.from_ansi(printed.stdout.rstrip()))
    # A plain fixed-width font: rich would fetch one from the web.
    code = console.export_svg(title="burnish").replace("Fira Code", "monospace")
    code = re.sub(r"@font-face\s*\{.*?\}\s*", "", code, flags=re.DOTALL)
    path.write_text(code + "\n", encoding="utf-8")


main()
