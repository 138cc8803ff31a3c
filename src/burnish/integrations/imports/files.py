"""Files that another tool's config names: read where they stand beside it, and nowhere else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burnish.domain import UsageError
from burnish.evaluation.datasets.json_files import BrokenJson, StrictDecoder
from burnish.evaluation.datasets.problems import ProblemKind, RowProblem, unusable_rows
from burnish.integrations.imports.yaml_text import BrokenYamlError, parse_yaml

_LARGEST_FILE = 100 * 1024**2
_LARGEST_VALUE = 1024**2
_MOST_MATCHES = 10_000
_CODE = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb", ".go", ".sh")
_ADDRESS = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]*://")
_LOGIN = re.compile(r"(://)[^/?#]*@")
YAML = (".yaml", ".yml")


class CannotTakeError(Exception):
    """A reference that is not followed; the message says why."""


class Beside:
    """The folder of a config. Paths that lead out of it are not followed."""

    def __init__(self, folder: Path) -> None:
        self._root = folder.resolve()

    def find(self, reference: str) -> list[Path]:
        """The files that a reference names; several where it has a `*`."""
        name = local_name(reference)
        if is_code(name):
            raise CannotTakeError("it is code, which is never run")
        if "\0" in name or len(name) > 1000 or not name.strip():
            raise CannotTakeError("it is not a path")
        try:
            found = self._matches(name)
        except (OSError, ValueError, NotImplementedError, RuntimeError) as error:
            raise CannotTakeError(f"it cannot be looked up: {error}") from error
        if not found:
            raise CannotTakeError(f"there is no such file beside {self._root.name or self._root}")
        return found

    def value(self, reference: str) -> Any:
        """A file's content: parsed where it is JSON or YAML, else its text."""
        (path, *others) = self.find(reference)
        if others:
            raise CannotTakeError(f"it names {len(others) + 1} files where one is wanted")
        text = read_text(path, _LARGEST_VALUE)
        if path.suffix.lower() not in (".json", *YAML):
            return text
        try:
            return parse_document(path, text)
        except UsageError as error:
            if error.code == "missing_extra":
                raise
            raise CannotTakeError(error.why) from error

    def _matches(self, name: str) -> list[Path]:
        given = Path(name)
        if any(sign in name for sign in "*?["):
            if given.is_absolute() or ".." in given.parts:
                raise CannotTakeError("it leads out of the config's folder")
            paths = []
            for path in self._root.glob(name):
                if self._is_within(path) and path.is_file():
                    paths.append(path)
                if len(paths) > _MOST_MATCHES:
                    raise CannotTakeError(f"it names more than {_MOST_MATCHES} files")
            if paths:
                return sorted(paths)
        path = self._root / given
        if not self._is_within(path):
            raise CannotTakeError(
                "it leads out of the config's folder: copy it there, or give an import of its own"
            )
        return [path] if path.is_file() else []

    def _is_within(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self._root)


def local_name(reference: str) -> str:
    """The path in a reference such as `file://cases.csv`; other addresses are not followed."""
    name = reference.strip().removeprefix("file://")
    if _ADDRESS.match(name):
        raise CannotTakeError("only files are read, not addresses")
    return name


def shown_reference(reference: str) -> str:
    """A reference fit to be listed: without a password or a key that an address may hold."""
    return _LOGIN.sub(r"\1", reference.strip()).partition("?")[0][:200]


def is_code(name: str) -> bool:
    """Whether a path, maybe with `:function` after it, names a program."""
    path = name.strip().removeprefix("file://")
    stem, colon, _ = path.rpartition(":")
    return Path(stem if colon and stem else path).suffix.lower() in _CODE


def read_text(path: Path, largest: int = _LARGEST_FILE) -> str:
    """A file's text; CannotTakeError when it is no text, or too much of it."""
    try:
        if path.stat().st_size > largest:
            raise CannotTakeError(f"it is larger than {largest // 1024**2} MB")
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise CannotTakeError(f"it cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise CannotTakeError("it is not UTF-8 text") from error


def read_document(path: Path) -> Any:
    """The JSON or YAML document that a file holds; UsageError names the place that is wrong."""
    try:
        text = read_text(path)
    except CannotTakeError as error:
        raise UsageError(
            what=f"{path} cannot be imported",
            why=str(error),
            fix="check the path",
            code="unreadable_file",
        ) from error
    return parse_document(path, text)


def parse_document(path: Path, text: str) -> Any:
    """The value of a document; UsageError names the line that is wrong."""
    if path.suffix.lower() in YAML:
        try:
            return parse_yaml(text)
        except BrokenYamlError as error:
            raise broken(path, error.line, error.column, error.message) from error
    try:
        return StrictDecoder().decode(text)
    except BrokenJson as error:
        raise broken(path, error.line, error.column, error.message) from error


def broken(path: Path, line: int | None, column: int | None, message: str) -> UsageError:
    """The error for a document that cannot be parsed."""
    place = "" if line is None else f", line {line}"
    place += "" if column is None else f", column {column}"
    return UsageError(
        what=f"{path} cannot be imported",
        why=f"{path}{place}: {message}",
        fix="correct it there",
        code="broken_file",
    )


def refuse_rows(path: Path, problems: Sequence[RowProblem]) -> None:
    """Raise for rows that cannot be used, as every dataset does."""
    fatal = [one for one in problems if one.fatal]
    if fatal:
        counts: dict[ProblemKind, int] = {}
        for one in fatal:
            counts[one.kind] = counts.get(one.kind, 0) + 1
        raise unusable_rows(str(path), fatal, counts)
