"""Page of the command line: every command with its arguments and options, from the program itself."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import typer
from tests.reference.markdown import NONE, table

from burnish.cli.app import COMMANDS, app, load_command
from burnish.cli.parser import keep_defaults


def made(_: str) -> str:
    """Every command."""
    parts = ["## Before a command\n", _options(program())]
    for path, command in every_command():
        parts += [f"## burnish {path}\n", _help(command), _usage(path, command), _options(command)]
    return "\n".join(part for part in parts if part)


def undescribed() -> list[str]:
    """Options without help."""
    return [
        f"burnish {path} {one.opts[0]}"
        for path, command in every_command()
        for one in shown(command)
        if not one.help and one.param_type_name == "option"
    ]


def program() -> Any:
    """The program itself, with the options that stand before a command."""
    command = typer.main.get_command(app)
    keep_defaults(command)
    return command


def every_command() -> Iterator[tuple[str, Any]]:
    """Every command by its words, those of groups too."""
    for name in COMMANDS:
        yield from _within(name, load_command(name))


def shown(command: Any) -> list[Any]:
    """Arguments and options but for hidden ones."""
    return [one for one in command.params if not getattr(one, "hidden", False)]


def names(parameter: Any) -> list[str]:
    """How a parameter is written: an option's names, or an argument's word."""
    if parameter.param_type_name == "argument":
        return [parameter.metavar or parameter.name.upper()]
    return [*parameter.opts, *parameter.secondary_opts]


def _within(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if not inner or command.params:
        yield path, command
    for name, one in (inner or {}).items():
        yield from _within(f"{path} {name}", one)


def _help(command: Any) -> str:
    return (command.help or "").split("\f")[0].strip() + "\n"


def _usage(path: str, command: Any) -> str:
    arguments = [one for one in shown(command) if one.param_type_name == "argument"]
    words = [names(one)[0] if one.required else f"[{names(one)[0]}]" for one in arguments]
    options = ["[OPTIONS]"] if len(shown(command)) > len(arguments) else []
    return f"`{' '.join(['burnish', path, *options, *words])}`\n"


def _options(command: Any) -> str:
    rows = [_row(one) for one in shown(command)]
    return table(["option", "takes", "unless said", "what it does"], rows) if rows else ""


def _row(one: Any) -> list[str]:
    written = ", ".join(f"`{name}`" for name in names(one))
    return [written, _takes(one), _default(one), (one.help or "").strip()]


def _takes(one: Any) -> str:
    if getattr(one, "is_flag", False):
        return "a switch"
    kind = one.type_descriptor.annotation
    if isinstance(kind, type) and issubclass(kind, Enum):
        return ", ".join(f"`{choice.value}`" for choice in kind)
    if one.param_type_name == "option" and one.metavar:
        return f"`{one.metavar}`"
    return {int: "whole number", float: "number", Path: "a path"}.get(kind, "text")


def _default(one: Any) -> str:
    told = getattr(one, "show_default", None)
    if isinstance(told, str):
        return told
    if one.required:
        return "must be given"
    if one.default in (None, False, [], ()) or callable(one.default):
        return NONE
    return f"`{getattr(one.default, 'value', one.default)}`"
