"""New wordings as a Git patch of the files that the sections stand in."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from pathlib import Path

from burnish.app.agents.section_files import SectionWrite

_NO_NEWLINE = "\n\\ No newline at end of file\n"


def git_patch(writes: Sequence[SectionWrite], root: Path) -> str:
    """What `git apply` takes in the folder `root`."""
    return "".join(part for write in writes for part in _file(write, root))


def repository_root(folder: Path) -> Path:
    """The folder of the Git repository around; the folder itself where there is none."""
    for place in (folder, *folder.parents):
        if (place / ".git").exists():
            return place
    return folder


def _file(write: SectionWrite, root: Path) -> Iterator[str]:
    name = write.path.relative_to(root).as_posix() if _is_below(write.path, root) else ""
    shown = name or write.path.name
    old = write.path.read_bytes().decode("utf-8")
    yield f"diff --git {_quoted('a/' + shown)} {_quoted('b/' + shown)}\n"
    lines = difflib.unified_diff(
        _lines(old), _lines(write.text), _quoted(f"a/{shown}"), _quoted(f"b/{shown}")
    )
    for line in lines:
        yield line if line.endswith("\n") else line + _NO_NEWLINE


def _lines(text: str) -> list[str]:
    """Split at newlines alone, as Git does; a carriage return belongs to its line."""
    parts = text.split("\n")
    whole = [f"{part}\n" for part in parts[:-1]]
    return [*whole, parts[-1]] if parts[-1] else whole


def _is_below(path: Path, root: Path) -> bool:
    return path.is_relative_to(root)


def _quoted(name: str) -> str:
    """As Git writes names that hold more than plain characters."""
    if name.isascii() and name.isprintable() and not set(name) & {'"', "\\"}:
        return name
    told = "".join(_escaped(byte) for byte in name.encode("utf-8"))
    return f'"{told}"'


def _escaped(byte: int) -> str:
    character = chr(byte)
    if character in '"\\':
        return f"\\{character}"
    return character if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
