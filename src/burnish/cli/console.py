"""Output streams of one invocation: a document or text on stdout, messages on stderr."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from rich.console import Console


# Where there is no terminal, tables need some width of their own.
_WIDTH_OF_FILES = 120


@dataclass(kw_only=True)
class Streams:
    """Streams of one invocation. With `json_output` stdout takes one document and nothing else."""

    out: TextIO
    json_output: bool = False
    debug: bool = False

    @cached_property
    def console(self) -> Console:
        """For results that people read."""
        return _console(self.out)

    @cached_property
    def messages(self) -> Console:
        """For everything that is not the result."""
        return _console(sys.stderr)

    def print_document(self, value: Any) -> None:
        """The one JSON document."""
        text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
        self.out.write(text + "\n")
        self.out.flush()

    def say(self, *lines: str) -> None:
        """Plain lines for people, on stderr when stdout is for the document."""
        console = self.messages if self.json_output else self.console
        for line in lines:
            console.print(line, markup=False, soft_wrap=True)


def wants(flag: str, arguments: Sequence[str]) -> bool:
    """Whether a flag was given. Read before parsing, so that bad usage is answered in kind."""
    given = list(arguments)
    return flag in (given[: given.index("--")] if "--" in given else given)


@contextlib.contextmanager
def open_streams(arguments: Sequence[str]) -> Iterator[Streams]:
    """The streams of a command line. With --json, whatever else is printed goes to stderr.

    That holds for an agent's own `print`, for libraries in C and for child processes too: they all
    write to the file descriptor, so it is the descriptor that is moved.
    """
    debug = wants("--debug", arguments) or os.environ.get("BURNISH_DEBUG", "") not in ("", "0")
    _open_closed_streams()
    _never_fail_to_encode()
    if not wants("--json", arguments):
        yield Streams(out=sys.stdout, debug=debug)
        return
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    with os.fdopen(kept, "w", encoding="utf-8", errors="backslashreplace") as out:
        try:
            yield Streams(out=out, json_output=True, debug=debug)
        finally:
            with contextlib.suppress(BrokenPipeError):
                sys.stdout.flush()
            os.dup2(kept, 1)


def _open_closed_streams() -> None:
    """A program may be started without stdout or stderr; what it says then goes nowhere."""
    if sys.stdout is None:
        sys.stdout = _nowhere(1)
    if sys.stderr is None:
        sys.stderr = _nowhere(2)


def _nowhere(descriptor: int) -> TextIO:
    nothing = os.open(os.devnull, os.O_WRONLY)
    if nothing != descriptor:
        os.dup2(nothing, descriptor)
        os.close(nothing)
    return os.fdopen(descriptor, "w", encoding="utf-8")


def _never_fail_to_encode() -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _console(stream: TextIO) -> Console:
    from rich.console import Console  # noqa: PLC0415

    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _WIDTH_OF_FILES
    return console
