"""Where a database is: a file, or a PostgreSQL server by URL. Passwords are never shown."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, quote_plus

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from burnish.domain import UsageError

_SQLITE = ("sqlite", "sqlite+aiosqlite")
_POSTGRES = ("postgresql", "postgres", "postgresql+psycopg")
_SECRET_OPTIONS = ("password", "sslpassword", "passfile")
_URL_FORM = "postgresql://USER:PASSWORD@HOST:5432/NAME, special characters percent-encoded"


@dataclass(frozen=True, slots=True)
class Address:
    """A checked address. `location` is the form for people and holds no secret."""

    url: URL = field(repr=False)
    path: Path | None
    location: str

    @classmethod
    def of(cls, value: str | os.PathLike[str]) -> Address:
        """From a path, `sqlite:///PATH` or `postgresql://…`."""
        text = os.fspath(value)
        scheme, separator, rest = text.partition("://")
        if not separator:
            return _file(text)
        if scheme in _SQLITE:
            return _file(_sqlite_path(rest))
        if scheme in _POSTGRES:
            return _server(text)
        raise UsageError(
            what="the database address cannot be used",
            why=f"{scheme!r} is not a kind of database that Burnish knows",
            fix="give a file path, sqlite:///PATH, or postgresql://USER:PASSWORD@HOST/NAME",
            code="unsupported_database",
        )

    def hide(self, text: str) -> str:
        """The text with every form of the password blotted out."""
        for secret in _secrets(self.url):
            text = text.replace(secret, "***")
        return text


def _file(text: str) -> Address:
    if text in ("", ":memory:"):
        raise UsageError(
            what="the database address cannot be used",
            why="it names no file, and results that only live in memory would be lost",
            fix="give a file path such as .burnish/burnish.db",
            code="unsupported_database",
        )
    path = Path(text).expanduser().absolute()
    return Address(
        url=URL.create("sqlite+aiosqlite", database=str(path)), path=path, location=str(path)
    )


def _sqlite_path(rest: str) -> str:
    if "?" in rest:
        raise UsageError(
            what="the database address cannot be used",
            why="a SQLite address takes no options",
            fix="leave out everything from the question mark on",
            code="unsupported_database",
        )
    return rest.removeprefix("/")


def _server(text: str) -> Address:
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        # The parser's own words may quote the password.
        raise _malformed() from None
    if "@" in (url.host or ""):
        raise _malformed() from None
    url = url.set(drivername="postgresql+psycopg")
    shown = URL.create(
        "postgresql", username=url.username, host=url.host, port=url.port, database=url.database
    )
    return Address(url=url, path=None, location=shown.render_as_string())


def _malformed() -> UsageError:
    return UsageError(
        what="the database address cannot be used",
        why="it is not a well-formed PostgreSQL URL",
        fix=f"write {_URL_FORM}",
        code="unsupported_database",
    )


def _secrets(url: URL) -> list[str]:
    values = [url.password or ""]
    for option in _SECRET_OPTIONS:
        given = url.query.get(option, "")
        values.extend([given] if isinstance(given, str) else given)
    forms = {form for value in values for form in (value, quote(value, safe=""), quote_plus(value))}
    return sorted(filter(None, forms), key=len, reverse=True)
