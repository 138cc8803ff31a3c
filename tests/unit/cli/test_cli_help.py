"""Help is instant and complete, and a wrong word is met with the nearest right one."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from burnish.cli.app import COMMANDS as ENTRIES
from burnish.cli.app import load_command

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


@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_known_of_a_command_before_it_is_loaded_is_so(name):
    command = load_command(name)

    first = " ".join(command.help.split("\n\n")[0].split())
    assert (command.name, first) == (name, ENTRIES[name].help)
    assert not command.hidden and not command.deprecated and command.short_help is None
    assert not getattr(command, "rich_help_panel", None)


def test_only_the_module_of_the_invoked_command_is_loaded():
    code = (
        "import sys; from burnish.cli.invocation import run_command; "
        "run_command(['list', '--help']); prefix = 'burnish.cli.commands.'; "
        "print([name for name in sys.modules if name.startswith(prefix)])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "['burnish.cli.commands.list']"


def test_a_list_loads_no_schema_and_no_migrations(tmp_path):
    code = (
        "import sys; from burnish.cli.invocation import run_command; "
        "code = run_command(['list']); "
        "heavy = ('pydantic', 'alembic', 'openai', 'fastapi', 'burnish.evaluation', 'burnish.config'); "
        "print(code, [name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.splitlines()[-1] == "0 []"
