"""Sections written back into the files they came from: all of them or none."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from burnish.app.report.differences import Difference
from burnish.domain import Configuration, ConflictError, UsageError


@dataclass(frozen=True, slots=True)
class SectionWrite:
    """A section's new text and the file that takes it."""

    section: str
    path: Path
    text: str


def plan_writes(change: Difference, files: Mapping[str, Path]) -> list[SectionWrite]:
    """What to write. ConflictError when a file is no longer what the run started with."""
    writes = []
    for section in change.sections:
        if section.path not in files or section.after is None:
            continue
        path = files[section.path].resolve()  # A link stays one: what it points to is written.
        text = _read(path)
        if _normalised(text) != section.before:
            raise ConflictError(
                what=f"{path} was not written",
                why=f"it has changed since the run started from it, and holds the section "
                f"{section.path!r} in another wording",
                fix="put the new wording in by hand (`burnish diff` shows it), or undo the change",
                code="file_changed",
            )
        writes.append(SectionWrite(section.path, path, _in_style_of(text, section.after)))
    return writes


@contextlib.contextmanager
def staged(writes: list[SectionWrite]) -> Iterator[None]:
    """Lay the new texts beside their files; they take their places when the block ends well."""
    parts = [one.path.with_name(f".{one.path.name}.{os.getpid()}.part") for one in writes]
    current = Path()
    try:
        for one, part in zip(writes, parts, strict=True):
            current = one.path
            # Bytes: a file keeps the line ends that it has.
            part.write_bytes(one.text.encode())
            part.chmod(one.path.stat().st_mode)
        yield
        for one, part in zip(writes, parts, strict=True):
            current = one.path
            part.replace(one.path)
    except OSError as error:
        raise UsageError(
            what=f"{current} cannot be written",
            why=error.strerror or str(error),
            fix="make the file and its folder writable",
            code="unwritable",
        ) from error
    finally:
        for part in parts:
            with contextlib.suppress(OSError):
                part.unlink(missing_ok=True)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            what=f"{path} cannot be written",
            why=getattr(error, "strerror", None) or str(error),
            fix="put the file back where it was when the run started",
            code="missing_file",
        ) from error


def _normalised(text: str) -> str:
    return Configuration.of({"sections": {"system": text}}).sections["system"]


def _in_style_of(old: str, new: str) -> str:
    ended = new + "\n" if old.endswith("\n") or not old else new
    return ended.replace("\n", "\r\n") if "\r\n" in old else ended
