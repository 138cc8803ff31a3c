"""Parsing of command lines: mistakes are explained, with the nearest right word."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

from burnish.domain import UsageError
from burnish.support.hints import did_you_mean

# The parser's own family of errors. Some versions of typer carry their own click, so it is found
# through a name that all of them have.
_THEIR_WORDS = {
    "Value error, ": "",
    "Input should be ": "it should be ",
    ", unable to parse string as an integer": "",
    ", unable to parse string as a number": "",
    "a valid integer": "a whole number",
    "a valid number": "a number",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
}
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
        _keep_default(parameter)
    help_option = command.get_help_option
    command.get_help_option = lambda ctx: _keep_default(help_option(ctx))


def _keep_default(parameter: Any) -> Any:
    if getattr(parameter, "is_flag", False):
        # The help would say `--json <bool>`, as if a word were to follow.
        parameter.display_type_rich = lambda ctx: None
    single = (
        parameter is not None and parameter.nargs == 1 and not getattr(parameter, "multiple", 0)
    )
    if single and not isinstance(parameter.process_value, _Converter):
        parameter.process_value = _Converter(parameter)
    return parameter


class _Converter:
    """Converts the value of one parameter, unless it is the default."""

    def __init__(self, parameter: Any) -> None:
        self._parameter = parameter
        self._convert = parameter.process_value

    def __call__(self, ctx: Any, value: Any) -> Any:
        one = self._parameter
        if one.required or not (value is None or value is one.default):
            return self._convert(ctx, value)
        return value if one.callback is None else one.callback(ctx, one, value)


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
        why=_plain(" ".join(str(error.format_message()).split()).rstrip(".")),
        fix=help_line,
        code="bad_usage",
    )


def _plain(words: str) -> str:
    """The words without those of pydantic, by which typer converts values."""
    for theirs, ours in _THEIR_WORDS.items():
        words = words.replace(theirs, ours)
    return words


def _option_names(context: Any) -> list[str]:
    if context is None:
        return []
    parameters = context.command.get_params(context)
    names = [name for one in parameters for name in (*one.opts, *one.secondary_opts)]
    return [name for name in names if name.startswith("--")]


def _suggest(name: str, known: list[str]) -> str | None:
    return did_you_mean(name, known, cutoff=0.5) or None
