"""Structured logs: one JSON object a line, with the request's id and without secrets."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any

from burnish.support.secrets import without_secrets

# What is known of the request at hand.
request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
caller: ContextVar[str | None] = ContextVar("caller", default=None)


def caller_origin() -> dict[str, str]:
    """The name of the key that was used, as a version's origin has it."""
    key = caller.get()
    return {} if key is None else {"key": key}


_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message"}


class JsonLines(logging.Formatter):
    """Time, level, logger and message, then whatever was given as `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if (identity := request_id.get()) is not None:
            line["request_id"] = identity
        line |= {k: v for k, v in vars(record).items() if k not in _STANDARD}
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return without_secrets(json.dumps(line, ensure_ascii=False, default=str))


class PlainLines(logging.Formatter):
    """The same for people who watch a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the trace below it where there is one."""
        extra = " ".join(
            f"{name}={value}" for name, value in vars(record).items() if name not in _STANDARD
        )
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        line = f"{time} {record.levelname.lower():<7} {record.getMessage()} {extra}".rstrip()
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return without_secrets(line)


@contextmanager
def logging_to_stderr(*, plain: bool, level: str = "info") -> Iterator[None]:
    """Within, everything goes to stderr in one form, the libraries' warnings too."""
    root, own = logging.getLogger(), logging.getLogger("burnish")
    # Its lines repeat ours, and its traces know nothing of secrets.
    server = logging.getLogger("uvicorn")
    before = [(one, one.level) for one in (root, own, server)]
    handlers = root.handlers[:]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(PlainLines() if plain else JsonLines())
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    own.setLevel(level.upper())
    server.setLevel(logging.WARNING)
    try:
        yield
    finally:
        root.handlers[:] = handlers
        for logger, old in before:
            logger.setLevel(old)
