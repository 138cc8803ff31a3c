"""THE place where failures become a message and an exit code; no command has its own."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import sys
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from burnish.cli.console import Streams, open_streams
from burnish.cli.display.rows import print_notice
from burnish.cli.parser import ClickError, explain, keep_defaults
from burnish.cli.running import Interrupted, termination_interrupts
from burnish.domain import BurnishError, InvariantError, UnavailableError
from burnish.support.secrets import without_secrets

INTERRUPTED = 130
# What a shell reports for a program that a closed pipe ended; nothing of ours went wrong.
_CLOSED_PIPE = 141
_NOWHERE_TO_WRITE = (errno.EPIPE, errno.ENOSPC, errno.EDQUOT)


def run_command(arguments: list[str]) -> int:
    """Run one command line and return its exit code, whatever happens."""
    try:
        with (
            termination_interrupts(),
            open_streams(arguments) as streams,
            _traces_hidden(streams),
        ):
            code = _guarded(arguments or ["--help"], streams)
            streams.out.flush()
            return code
    except BrokenPipeError:
        _write_into_nothing()
        return _CLOSED_PIPE
    except OSError as error:
        _write_into_nothing()
        sys.stderr.write(
            f"error: the output cannot be written\n  why: {error.strerror}\n"
            "  fix: free some space; every result that was saved is kept\n"
        )
        return UnavailableError.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED


def _write_into_nothing() -> None:
    """The interpreter flushes stdout once more at exit, and must not fail again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _guarded(arguments: list[str], streams: Streams) -> int:
    try:
        _invoke(arguments, streams)
    except typer.Exit as ended:
        return ended.exit_code
    except (KeyboardInterrupt, Interrupted, typer.Abort) as stopped:
        show_interruption(streams, getattr(stopped, "note", None))
        return INTERRUPTED
    except BurnishError as error:
        show_error(streams, error)
        return error.exit_code
    except ClickError as error:
        mistake = explain(error)
        show_error(streams, mistake)
        return mistake.exit_code
    except Exception as error:
        if isinstance(error, OSError) and error.errno in _NOWHERE_TO_WRITE:
            raise
        bug = _bug(error)
        show_error(streams, bug, cause=error)
        return bug.exit_code
    return 0


def _invoke(arguments: list[str], streams: Streams) -> None:
    from burnish.cli.app import app  # noqa: PLC0415 - a bug on import is a bug like any other

    if "_BURNISH_COMPLETE" in os.environ:  # the shell asks for completions
        app(arguments, prog_name="burnish")
    command = typer.main.get_command(app)
    keep_defaults(command)
    with command.make_context("burnish", list(arguments), obj=streams) as context:
        command.invoke(context)


def show_error(streams: Streams, error: BurnishError, *, cause: Exception | None = None) -> None:
    """What, why and fix on stderr; with --json the same as the one document on stdout."""
    notes = list(getattr(cause or error, "__notes__", ()))
    lines = [("error", error.what), ("why", error.why), ("fix", error.fix)]
    print_notice(streams, [*lines, *(("kept", note) for note in notes)])
    if streams.debug:
        text = "".join(traceback.format_exception(cause or error))
        streams.messages.print(without_secrets(text), soft_wrap=True)
    if streams.json_output:
        document: dict[str, Any] = error.to_json()
        document["message"] = without_secrets(str(document["message"]))
        if notes:
            document["kept"] = "\n".join(notes)
        streams.print_document({"error": document})


def show_interruption(streams: Streams, note: str | None) -> None:
    """That it was stopped, what is kept and how to go on."""
    print_notice(streams, [("interrupted", ""), *([("kept", note)] if note else [])])
    if streams.json_output:
        document = {"code": "interrupted", "message": "interrupted", "retryable": True}
        streams.print_document({"error": {**document, "fix": note or "run the command again"}})


def _bug(error: Exception) -> InvariantError:
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return InvariantError(
        what="this is a bug in burnish",
        why=f"{type(error).__name__}: {error}{place}",
        fix="run it again with BURNISH_DEBUG=1 for the whole trace, and report it",
    )


@contextlib.contextmanager
def _traces_hidden(streams: Streams) -> Iterator[None]:
    """Libraries log through `logging` and threads die with a trace: both only when debugging."""
    root = logging.getLogger()
    handler = logging.StreamHandler(sys.stderr) if streams.debug else logging.NullHandler()
    hooks = threading.excepthook, sys.unraisablehook
    root.addHandler(handler)
    if not streams.debug:
        threading.excepthook = lambda _: None
        sys.unraisablehook = lambda _: None
    try:
        yield
    finally:
        root.removeHandler(handler)
        threading.excepthook, sys.unraisablehook = hooks
