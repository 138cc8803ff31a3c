"""Help is instant and complete, and a wrong word is met with the nearest right one."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from burnish.cli.app import COMMANDS as ENTRIES
from burnish.cli.app import load_command
from burnish.cli.invocation import run_command

HEAVY = ("sqlalchemy", "fastapi", "openai", "numpy", "pydantic", "xllamacpp", "pyarrow")
# typer itself reads options with pydantic, once there is a command to read them for.
OF_TYPER = ["pydantic"]
COMMANDS = (
    *("init", "validate", "eval", "optimize", "resume", "cancel", "list", "show", "diff"),
    *("compress", "tags", "worker", "serve", "image", "import"),
    *("promote", "report", "export", "doctor", "demo", "models", "bench"),
)

# Runs one command after the other: what one of them loads, all after it have, too.
PROBE = f"""
import contextlib, io, json, sys
from burnish.cli.invocation import run_command
for arguments in json.loads(sys.argv[1]):
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        code = run_command(arguments)
    heavy = [name for name in {HEAVY!r} if name in sys.modules]
    print(json.dumps({{"code": code, "heavy": heavy, "text": text.getvalue()}}))
"""


def probe(*commands):
    """For each command in turn: its code, its text, and what is loaded after it."""
    done = subprocess.run(
        [sys.executable, "-P", "-c", PROBE, json.dumps(commands)],
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_help_imports_nothing_heavy_and_shows_every_command():
    bare, asked = probe([], ["--help"])

    for seen in (bare, asked):
        assert seen["code"] == 0
        assert seen["heavy"] == []
    assert [command for command in COMMANDS if command not in bare["text"]] == []


def test_help_of_a_command_imports_nothing_heavy_of_ours():
    commands = [
        *("eval", "optimize", "compress", "worker", "serve", "show", "promote", "list", "demo"),
        "image run",
        "import",
    ]

    seen = probe(*([*command.split(), "--help"] for command in commands))

    heavy = dict(zip(commands, (set(one["heavy"]) - set(OF_TYPER) for one in seen), strict=True))
    assert heavy == {command: set() for command in commands}
    assert {one["code"] for one in seen} == {0}


@pytest.mark.parametrize("name", ENTRIES)
def test_what_is_known_of_a_command_before_it_is_loaded_is_so(name):
    command = load_command(name)

    first = " ".join(command.help.split("\n\n")[0].split())
    assert (command.name, first) == (name, ENTRIES[name].help)
    assert not command.hidden and not command.deprecated and command.short_help is None
    assert not getattr(command, "rich_help_panel", None)


def loaded_by(folder, *arguments):
    """The modules that are loaded once a command has ended well."""
    code = (
        "import contextlib, json, sys; from burnish.cli.invocation import run_command\n"
        "with contextlib.redirect_stdout(sys.stderr): code = run_command(sys.argv[1:])\n"
        "print(json.dumps([code, list(sys.modules)]))"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    code, modules = json.loads(done.stdout)
    assert code == 0
    return modules


def test_only_the_module_of_the_invoked_command_is_loaded(tmp_path):
    modules = loaded_by(tmp_path, "list", "--help")

    prefix = "burnish.cli.commands."
    assert [name for name in modules if name.startswith(prefix)] == [f"{prefix}list"]


def test_a_list_loads_neither_the_schema_nor_evaluation(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (run_command(["init", "-t", "python"]), run_command(["eval"])) == (0, 0)

    modules = loaded_by(tmp_path, "list")

    assert "sqlalchemy" in modules
    for heavy in ("pydantic", "alembic", "openai", "fastapi", "burnish.evaluation"):
        assert heavy not in modules
