"""Help is instant and complete, and a wrong word is met with the nearest right one."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("sqlalchemy", "fastapi", "openai", "numpy", "pydantic", "xllamacpp", "pyarrow")
# typer itself reads options with pydantic, once there is a command to read them for.
OF_TYPER = ["pydantic"]
COMMANDS = (
    *("init", "validate", "eval", "optimize", "resume", "cancel", "list", "show", "diff"),
    *("compress", "tags", "worker", "serve", "image", "import"),
    *("promote", "report", "export", "doctor", "demo", "models", "bench"),
)

PROBE = f"""
import contextlib, io, json, sys
from burnish.cli.invocation import run_command
text = io.StringIO()
with contextlib.redirect_stdout(text):
    code = run_command(sys.argv[1:])
heavy = [name for name in {HEAVY!r} if name in sys.modules]
print(json.dumps({{"code": code, "heavy": heavy, "text": text.getvalue()}}))
"""


def probe(*arguments):
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROBE, *arguments], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


@pytest.mark.parametrize("arguments", [("--help",), ()])
def test_help_imports_nothing_heavy(arguments):
    seen = probe(*arguments)

    assert seen["code"] == 0
    assert seen["heavy"] == []


@pytest.mark.parametrize(
    "command",
    [
        *("eval", "optimize", "compress", "worker", "serve", "show", "promote", "list", "demo"),
        "image run",
        "import",
    ],
)
def test_help_of_a_command_imports_nothing_heavy_of_ours(command):
    assert set(probe(*command.split(), "--help")["heavy"]) <= set(OF_TYPER)


def test_no_arguments_show_every_command():
    text = probe()["text"]

    assert [command for command in COMMANDS if command not in text] == []
