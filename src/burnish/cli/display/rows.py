"""Labelled lines, wrapped on a terminal and plain elsewhere, and notices on stderr."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from burnish.cli.console import Streams
from burnish.cli.wording import harmless
from burnish.support.secrets import without_secrets

_INDENT = 2
# Below so many columns a table of seven breaks words.
_NARROW = 80
_LEAST = {"id": 8, "status": len("interrupted")}
_STYLES = {
    "error": "bold red",
    "gate failed": "bold red",
    "interrupted": "bold yellow",
    "fix": "green",
    "kept": "cyan",
}


def print_rows(console: Console, rows: Sequence[tuple[str, Text]]) -> None:
    """A label and what belongs to it on each line, the labels in one column."""
    if console.is_terminal:
        table = Table.grid(padding=(0, 2))
        table.add_column(style="dim", no_wrap=True)
        for label, words in rows:
            table.add_row(" " * _INDENT + label, words)
        console.print(table)
        return
    width = max((len(label) for label, _ in rows), default=0)
    for label, words in rows:
        console.print(Text(f"{' ' * _INDENT}{label:<{width}}  ") + words, soft_wrap=True)


def add_columns(
    console: Console, table: Table, numbers: Sequence[str], needed: str
) -> tuple[str, ...]:
    """Id, name and status, and as many columns of numbers as the terminal has room for.

    On a narrow one only `needed` stays, and long names are cut rather than broken.
    """
    narrow = console.width < _NARROW
    shown = [one for one in numbers if one == needed] if narrow else list(numbers)
    for column in ("id", "name", "status"):
        cut = narrow and column == "name"
        table.add_column(
            column,
            no_wrap=cut or column != "name",
            overflow="ellipsis" if cut else "fold",
            min_width=_LEAST.get(column),
        )
    for column in shown:
        table.add_column(column, justify="right", no_wrap=True, min_width=5)
    return ("id", "name", "status", *shown)


def print_indented(console: Console, words: Text, indent: int) -> None:
    """Text that keeps its indent when it wraps; where there is no terminal it does not wrap."""
    if console.is_terminal:
        console.print(Padding(words, (0, 0, 0, indent), expand=False))
        return
    for line in words.split("\n"):
        console.print(Text(" " * indent) + line, soft_wrap=True)


def print_steps(console: Console, steps: Sequence[tuple[str, str]]) -> None:
    """Commands to go on with, and what each is for."""
    width = max(len(command) for command, _ in steps)
    for command, purpose in steps:
        line = Text.assemble((f"  {command:<{width}}", "green"), (f"  {purpose}", "dim"))
        console.print(line, soft_wrap=True)


def print_notice(streams: Streams, lines: Sequence[tuple[str, str]]) -> None:
    """The first line as a heading, the others below it. Plain text where there is no terminal."""
    console = streams.messages
    for number, (label, words) in enumerate(lines):
        text = Text.assemble(
            (f"{label}: " if words else label, _STYLES.get(label, "dim")),
            (harmless(without_secrets(words)), "" if number else "bold"),
        )
        print_indented(console, text, 2 if number else 0)
