"""Failures of databases, in Burnish's own errors: the one place that knows them."""

from __future__ import annotations

import re
import sqlite3
from enum import Enum
from typing import Any

from sqlalchemy.exc import (
    DBAPIError,
    IntegrityError,
    NoSuchModuleError,
    SQLAlchemyError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from burnish.domain import (
    BurnishError,
    ConflictError,
    InvariantError,
    UnavailableError,
    UsageError,
)
from burnish.storage.engine.connections import Address

# Every error that work on a database can end in; anything else belongs to the work itself.
DATABASE_ERRORS = (SQLAlchemyError, TimeoutError, OverflowError, ImportError)


class Passing(Enum):
    """Why trying again may help."""

    BUSY = "busy"
    LOST = "lost"


_SQLITE_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_POSTGRES_BUSY = ("40001", "40P01", "55P03", "57P03", "53300")
_POSTGRES_LOST = ("57P01", "57P02", "57P05")

_TRY_AGAIN = "try again in a moment"
_FREE_SPACE = "free some space; everything saved so far is kept"
_SQLITE = {
    sqlite3.SQLITE_BUSY: ("another process keeps it locked", _TRY_AGAIN),
    sqlite3.SQLITE_LOCKED: ("another task keeps it locked", _TRY_AGAIN),
    sqlite3.SQLITE_FULL: ("the disk is full", _FREE_SPACE),
    sqlite3.SQLITE_READONLY: ("it cannot be written to", "make the file and its folder writable"),
    sqlite3.SQLITE_CANTOPEN: ("the file cannot be opened", "check the path and its permissions"),
    sqlite3.SQLITE_PERM: ("access is denied", "check the permissions of the file"),
    sqlite3.SQLITE_IOERR: (
        "the disk does not answer properly",
        "check the disk and its free space",
    ),
    sqlite3.SQLITE_NOMEM: ("memory ran out", "close other programs"),
}
_POSTGRES = {
    "53100": ("the server's disk is full", _FREE_SPACE),
    "53200": ("the server is out of memory", _TRY_AGAIN),
    "53300": ("the server has no connection left", "raise max_connections or run fewer workers"),
    "25006": ("the server is read-only", "connect to the primary server"),
    "55P03": ("another process keeps it locked", _TRY_AGAIN),
    "57014": ("the server cancelled the query", _TRY_AGAIN),
}
_REFUSED = {
    "28P01": ("the server refused the login", "check the user name and the password"),
    "28000": ("the server refused the login", "check the user name and pg_hba.conf"),
    "3D000": ("the server has no such database", "create it with `createdb`"),
    "42501": ("the user may not do that", "grant the user its rights on the schema"),
}
# While a connection is being made psycopg gives the server's words and no code.
_REFUSED_WORDS = {
    "28P01": re.compile("password authentication failed|no password supplied"),
    "28000": re.compile('no pg_hba.conf entry|role ".*" does not exist'),
    "3D000": re.compile('database ".*" does not exist'),
}


def passing(error: BaseException) -> Passing | None:
    """Whether the same work may succeed if it is done again."""
    if not isinstance(error, DBAPIError):
        return None
    state = _sqlstate(error)
    if _sqlite_code(error) in _SQLITE_BUSY or state in _POSTGRES_BUSY:
        return Passing.BUSY
    if error.connection_invalidated or state in _POSTGRES_LOST or state.startswith("08"):
        return Passing.LOST
    unreachable = _is_postgres(error) and not state and _named(error, "OperationalError")
    return Passing.LOST if unreachable and _refusal(error) is None else None


def is_foreign_key_violation(error: IntegrityError) -> bool:
    """Whether a row points to one that is not there."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return code == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY or _sqlstate(error) == "23503"


def translate(error: BaseException, address: Address) -> BurnishError:
    """The error to raise instead. It says where, and never the password."""
    what = f"the database {address.location} cannot be used"
    if isinstance(error, PoolTimeoutError):
        return UnavailableError(
            what=what,
            why="all its connections stayed busy",
            fix="lower the concurrency",
            code="database_busy",
        )
    if isinstance(error, TimeoutError):
        return UnavailableError(
            what=what,
            why="it did not answer in time",
            fix=_TRY_AGAIN,
            code="database_timeout",
        )
    if isinstance(error, (ImportError, NoSuchModuleError)):
        return UsageError(
            what=what,
            why="its driver is not installed",
            fix="install burnish[postgres]",
            code="missing_dependency",
        )
    if isinstance(error, OverflowError):
        return _does_not_fit(what)
    if isinstance(error, DBAPIError):
        return _translate_driver(error, address, what)
    if isinstance(error, OSError):
        return UnavailableError(
            what=what, why=_first_line(error, address), fix="check the path and its permissions"
        )
    return InvariantError(what=what, why=_first_line(error, address), fix="please report this")


def _translate_driver(error: DBAPIError, address: Address, what: str) -> BurnishError:
    code, state = _sqlite_code(error), _sqlstate(error)
    known = _SQLITE.get(code) or _POSTGRES.get(state)
    if known:
        return UnavailableError(what=what, why=known[0], fix=known[1], code="database_unavailable")
    refused = _refusal(error)
    if refused:
        return UsageError(what=what, why=refused[0], fix=refused[1], code="database_refused")
    if code == sqlite3.SQLITE_NOTADB:
        why, fix = "the file is not a SQLite database", "give the path of another file"
        return UsageError(what=what, why=why, fix=fix, code="not_a_database")
    if code == sqlite3.SQLITE_CORRUPT:
        why, fix = "the file is damaged", "restore a backup, or `sqlite3 FILE .recover`"
        return UsageError(what=what, why=why, fix=fix, code="database_damaged")
    if code in (sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH) or state[:2] in ("22", "54"):
        return _does_not_fit(what)
    if passing(error) is Passing.LOST or _named(error, "OperationalError"):
        return UnavailableError(
            what=what,
            why=_first_line(error.orig, address),
            fix="check that the server runs and can be reached",
            code="database_unavailable",
        )
    return InvariantError(
        what=what,
        why=f"it refused a statement ({_first_line(error.orig, address)})",
        fix="please report this",
    )


def foreign_tables(address: Address) -> ConflictError:
    """The tables are there, and nothing says that Burnish made them."""
    return ConflictError(
        what=f"the database {address.location} cannot be used",
        why="another program's tables have the names that Burnish needs",
        fix="give Burnish a database of its own",
        code="foreign_database",
    )


def newer_database(address: Address, revision: str) -> ConflictError:
    """A later program has changed the tables."""
    return ConflictError(
        what=f"the database {address.location} cannot be used",
        why=f"a newer version of Burnish wrote it (schema {revision!r})",
        fix="upgrade this Burnish, or use another database",
        code="newer_database",
    )


def _does_not_fit(what: str) -> UsageError:
    return UsageError(
        what=what,
        why="a value is too large for its column",
        fix="shorten the text or use a smaller number",
        code="value_too_large",
    )


def _refusal(error: DBAPIError) -> tuple[str, str] | None:
    state = _sqlstate(error)
    if not state and _is_postgres(error):
        words = str(error.orig)
        state = next((code for code, hint in _REFUSED_WORDS.items() if hint.search(words)), "")
    return _REFUSED.get(state)


def _sqlite_code(error: DBAPIError) -> int:
    """The primary result code: the low byte of the extended one."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    return code & 0xFF if isinstance(code, int) else -1


def _sqlstate(error: DBAPIError) -> str:
    state = getattr(error.orig, "sqlstate", None)
    return state if isinstance(state, str) else ""


def _is_postgres(error: DBAPIError) -> bool:
    return type(error.orig).__module__.startswith("psycopg")


def _named(error: DBAPIError, name: str) -> bool:
    return any(kind.__name__ == name for kind in type(error.orig).__mro__)


def _first_line(error: Any, address: Address) -> str:
    lines = str(error).strip().splitlines()
    return address.hide(lines[0]) if lines else type(error).__name__
