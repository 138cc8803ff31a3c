"""Which temporary tags a process has made: written before each, so that a crash leaves none behind."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO

_SUFFIX = ".masks"


class MaskJournal:
    """A file of tag names, locked as long as its process lives.

    weakincentives' stores cannot list tags, so this is how the next run finds what a killed one
    left. Without file locks, as on Windows, nothing is swept.
    """

    def __init__(self, folder: Path, run_id: str) -> None:
        self._path = folder / f"{run_id}{_SUFFIX}"
        self._file: IO[str] | None = None

    def open(self) -> None:
        """Begin; the file has its name only once it is locked."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        hidden = self._path.with_suffix(".new")
        self._file = hidden.open("w", encoding="utf-8")
        _lock(self._file)
        hidden.rename(self._path)

    def add(self, namespace: str, key: str, tag: str) -> None:
        """Note a tag that is about to be written."""
        assert self._file is not None
        self._file.write(json.dumps([namespace, key, tag]) + "\n")
        self._file.flush()

    def close(self) -> None:
        """End, with all tags gone."""
        if self._file is not None:
            self._path.unlink(missing_ok=True)
            self._file.close()
            self._file = None


def abandoned(folder: Path) -> Iterator[list[tuple[str, str, str]]]:
    """The tags of each dead process; its journal goes once the caller has dealt with them."""
    for path in sorted(folder.glob(f"*{_SUFFIX}")):
        with contextlib.suppress(FileNotFoundError), path.open("r+", encoding="utf-8") as file:
            if not _lock(file):
                continue
            yield [entry for line in file if (entry := _entry(line)) is not None]
            path.unlink(missing_ok=True)


def _entry(line: str) -> tuple[str, str, str] | None:
    """A line; None for one that a crash cut short, whose tag was not written."""
    try:
        namespace, key, tag = json.loads(line)
    except ValueError:
        return None
    return str(namespace), str(key), str(tag)


def _lock(file: IO[str]) -> bool:
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
