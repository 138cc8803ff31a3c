"""Parsing of command lines: mistakes are explained, with the nearest right word."""

from __future__ import annotations

import difflib
from typing import Any

import typer
from typer.core import TyperGroup

from burnish.domain import UsageError

# The parser's own family of errors. Some versions of typer carry their own click, so it is found
# through a name that all of them have.
ClickError: type[Any] = typer.BadParameter.__mro__[2]


class Commands(TyperGroup):
    """A group of commands that suggests the nearest one for a wrong name."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command of the first argument."""
        name = args[0]
        if not name.startswith("-") and self.get_command(ctx, name) is None:
            known = self.list_commands(ctx)
            raise UsageError(
                what=f"there is no command {name!r}",
                why=f"{ctx.command_path} has {', '.join(known)}",
                fix=_suggest(name, known) or f"see `{ctx.command_path} --help`",
                code="unknown_command",
            )
        return super().resolve_command(ctx, args)


def keep_defaults(command: Any) -> None:
    """Take values that nobody gave as they are, in a command and in those of a group.

    To convert a value, typer loads pydantic, which takes a command that only reads longer than all
    that it reads.
    """
    for one in getattr(command, "commands", {}).values():
        keep_defaults(one)
    for parameter in command.params:
        if parameter.nargs == 1 and not getattr(parameter, "multiple", False):
            parameter.process_value = _Converter(parameter)


class _Converter:
    """Converts the value of one parameter, unless it is the default."""

    def __init__(self, parameter: Any) -> None:
        self._parameter = parameter
        self._convert = parameter.process_value

    def __call__(self, ctx: Any, value: Any) -> Any:
        one = self._parameter
        plain = not one.required and one.callback is None
        if plain and (value is None or value is one.default):
            return value
        return self._convert(ctx, value)


def explain(error: Any) -> UsageError:
    """The parser's complaint as what, why and fix."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "burnish"
    help_line = f"see `{path} --help`"
    option = getattr(error, "option_name", None)
    if option is not None and hasattr(error, "possibilities"):
        known = _option_names(context)
        return UsageError(
            what=f"there is no option {option!r}",
            why=f"{path} has {', '.join(known) or 'none'}",
            fix=_suggest(option, known) or help_line,
            code="unknown_option",
        )
    return UsageError(
        what="the command line cannot be used",
        why=" ".join(str(error.format_message()).split()).rstrip("."),
        fix=help_line,
        code="bad_usage",
    )


def _option_names(context: Any) -> list[str]:
    if context is None:
        return []
    parameters = context.command.get_params(context)
    names = [name for one in parameters for name in (*one.opts, *one.secondary_opts)]
    return [name for name in names if name.startswith("--")]


def _suggest(name: str, known: list[str]) -> str | None:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else None
