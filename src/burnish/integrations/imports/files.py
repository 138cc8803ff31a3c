"""Files that another tool's config names, YAML too: read where they stand beside it, nowhere else."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from burnish.domain import UsageError
from burnish.evaluation.datasets.json_files import BrokenJson, StrictDecoder
from burnish.evaluation.datasets.problems import ProblemKind, RowProblem, unusable_rows

LARGEST_TEXT = 10 * 1024**2
# Characters after all aliases are written out; an alias bomb has billions.
_MOST_EXPANDED = 50_000_000
_DEEPEST = 60
_OF_A_NODE = 8
_MOST_BITS = 1024
# What a word is without quotes, as YAML 1.2 and the tools' own parser have it: `yes`, `12:30` and
# `2024-05-01` are text, which PyYAML by itself takes for true, a number and a date.
_MEANINGS = {
    "null": (r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    "bool": (r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    "int": (r"[-+]?(?:0b[01_]+|0o[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)", list("-+0123456789")),
    "float": (
        r"[-+]?(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
        list("-+0123456789."),
    ),
    "merge": (r"<<", ["<"]),
}
_LARGEST_FILE = 100 * 1024**2
_LARGEST_VALUE = 1024**2
_MOST_MATCHES = 10_000
_CODE = (".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".py", ".rb", ".go", ".sh")
_ADDRESS = re.compile(r"\A[A-Za-z][A-Za-z0-9+.-]*://")
_LOGIN = re.compile(r"(://)[^/?#]*@")
YAML = (".yaml", ".yml")


class BrokenYamlError(ValueError):
    """Text that is not usable YAML; `line` and `column` count from 1 where they are known."""

    def __init__(self, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def parse_yaml(text: str) -> Any:
    """The one document of the text, with text keys, and dates as text."""
    yaml = _library()
    loader = _loader(yaml)
    if len(text) > LARGEST_TEXT:
        raise BrokenYamlError(f"it is larger than {LARGEST_TEXT // 1024**2} MB")
    try:
        _require_bounded(yaml, loader, text)
        return plain(yaml.load(text, Loader=loader))
    except BrokenYamlError:
        raise
    except yaml.YAMLError as error:
        raise _explained(error) from error
    except Exception as error:  # Odd tags make the library trip over itself.
        raise BrokenYamlError(f"a value cannot be read: {error}") from error


def plain(value: Any) -> Any:
    """What YAML has beyond JSON, as text; BrokenYamlError for binary data."""
    if isinstance(value, dict):
        return {_key(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, set):
        value = sorted(value, key=str)
    if isinstance(value, (list, tuple)):
        return [plain(inner) for inner in value]
    if isinstance(value, (dt.date, dt.datetime)):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        raise BrokenYamlError("a number has too many digits")
    if isinstance(value, bytes):
        raise BrokenYamlError("it holds binary data")
    return value


@cache
def _loader(yaml: ModuleType) -> Any:
    """As for `yaml.safe_load`, in C where there is such, and with the meanings of YAML 1.2."""
    safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("Loader", (safe,), {"yaml_implicit_resolvers": {}})
    for name, (pattern, first) in _MEANINGS.items():
        tag = f"tag:yaml.org,2002:{name}"
        loader.add_implicit_resolver(tag, re.compile(rf"(?:{pattern})\Z"), first)
    loader.add_constructor("tag:yaml.org,2002:int", _whole_number)
    return loader


def _whole_number(loader: Any, node: Any) -> int:
    text = str(loader.construct_scalar(node)).replace("_", "")
    prefixed = text.lstrip("+-")[:2].lower() in ("0b", "0o", "0x")
    return int(text, 0 if prefixed else 10)


def _key(key: Any) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    if isinstance(key, (int, float, dt.date)):
        return str(key)
    raise BrokenYamlError(f"the key {key!r:.100} is not text")


def _require_bounded(yaml: ModuleType, loader: Any, text: str) -> None:
    """Refuse what would grow or nest without measure, before any of it is built."""
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(text, Loader=loader):
        if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            open_nodes.append((event.anchor, 0))
            if len(open_nodes) > _DEEPEST:
                raise _at(event, f"it nests more than {_DEEPEST} levels deep")
            continue
        if isinstance(event, yaml.ScalarEvent):
            anchor, size = event.anchor, _OF_A_NODE + len(event.value)
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            anchor, size = open_nodes.pop()
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                raise _at(event, f"the alias *{event.anchor} names nothing that is complete")
            anchor, size = None, sizes[event.anchor]
        else:
            continue
        if anchor is not None:
            sizes[anchor] = size
        outer, so_far = open_nodes[-1]
        open_nodes[-1] = (outer, so_far + size + _OF_A_NODE)
        if open_nodes[-1][1] > _MOST_EXPANDED:
            raise _at(event, "its aliases make it grow without measure")


def _at(event: Any, message: str) -> BrokenYamlError:
    mark = event.start_mark
    return BrokenYamlError(message, mark.line + 1, mark.column + 1)


def _explained(error: Any) -> BrokenYamlError:
    mark = getattr(error, "problem_mark", None)
    said = " ".join(str(getattr(error, "problem", None) or error).split())
    if mark is None:
        return BrokenYamlError(f"not valid YAML ({said[:300]})")
    return BrokenYamlError(f"not valid YAML ({said[:300]})", mark.line + 1, mark.column + 1)


def _library() -> ModuleType:
    try:
        import yaml  # noqa: PLC0415 - an extra, and only YAML needs it
    except ImportError as error:
        raise UsageError(
            what="YAML cannot be read",
            why="PyYAML is not installed",
            fix="pip install 'burnish[yaml]', or save the file as JSON",
            code="missing_extra",
        ) from error
    return yaml  # type: ignore[no-any-return]


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
