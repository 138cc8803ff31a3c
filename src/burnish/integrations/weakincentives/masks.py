"""Temporary tags in a weakincentives store, one a configuration that runs, and the journal of them."""

from __future__ import annotations

import contextlib
import json
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from burnish.domain import Configuration, UsageError
from burnish.integrations.weakincentives.sections import TemplateSections

MASK_PREFIX = "burnish-mask-"
# Some stay for the next item; a long search must not fill the store.
_IDLE = 32
_SUFFIX = ".masks"


class Masks:
    """Writes a configuration under a tag of its own, and takes it away. Safe from many threads.

    A mask holds all that the tag it builds on holds, and the configuration's changes on top.
    """

    def __init__(
        self, store: Any, descriptor: Any, sections: TemplateSections, below: Any, folder: Path
    ) -> None:
        self._store = store
        self._descriptor = descriptor
        self._sections = sections
        self._below = below
        self._folder = folder
        self._lock = threading.Lock()
        self._users: dict[str, int] = {}
        self._run_id = ""
        self._journal: MaskJournal | None = None

    def open(self) -> None:
        """Sweep the masks that dead processes left, and begin."""
        for entries in abandoned(self._folder):
            for namespace, key, tag in entries:
                if tag.startswith(MASK_PREFIX):
                    self._store.delete(ns=namespace, prompt_key=key, tag=tag)
        self._run_id = uuid.uuid4().hex[:12]
        journal = MaskJournal(self._folder, self._run_id)
        journal.open()
        self._journal = journal

    def close(self) -> None:
        """Take every mask away."""
        with self._lock:
            for tag in list(self._users):
                self._remove(tag)
            if self._journal is not None:
                self._journal.close()
                self._journal = None

    @contextlib.contextmanager
    def under(self, configuration: Configuration) -> Iterator[str]:
        """The configuration's tag, which stays at least as long as this is open."""
        with self._held(configuration.hash, self._sections.bodies(configuration)) as tag:
            yield tag

    @contextlib.contextmanager
    def unrenderable(self, placeholder: str) -> Iterator[str]:
        """A tag that no prompt can be rendered with: each free section asks for what is not there."""
        bodies = {
            one.path: f"${{{placeholder}}}" for one in self._sections.sections if one.locked is None
        }
        with self._held("unrenderable", bodies) as tag:
            yield tag

    def override(self, tag: str, bodies: dict[tuple[str, ...], str]) -> Any:
        """What a tag with these bodies holds, as weakincentives' own value."""
        from weakincentives.prompt import overrides as wink  # noqa: PLC0415 - an extra

        hashes = {one.path: one.content_hash for one in self._descriptor.sections}
        held = {} if self._below is None else dict(self._below.sections)
        for path, body in bodies.items():
            old = held.get(path)
            held[path] = wink.SectionOverride(
                path=path,
                expected_hash=hashes[path],
                body=body,
                summary=None if old is None else old.summary,
                visibility=None if old is None else old.visibility,
            )
        return wink.PromptOverride(
            ns=self._descriptor.ns,
            prompt_key=self._descriptor.key,
            tag=tag,
            sections=held,
            tool_overrides={} if self._below is None else dict(self._below.tool_overrides),
            task_example_overrides=(
                () if self._below is None else self._below.task_example_overrides
            ),
        )

    @contextlib.contextmanager
    def _held(self, kind: str, bodies: dict[tuple[str, ...], str]) -> Iterator[str]:
        tag = f"{MASK_PREFIX}{self._run_id}-{kind[:16]}"
        with self._lock:
            self._write(tag, bodies)
            self._users[tag] += 1
        try:
            yield tag
        finally:
            with self._lock:
                if tag in self._users:
                    self._users[tag] -= 1
                    self._drop_idle()

    def _write(self, tag: str, bodies: dict[tuple[str, ...], str]) -> None:
        if self._journal is None:
            raise UsageError(
                what="the prompt cannot be run",
                why="its temporary tags have no place yet",
                fix="use it in a block: `with prompt:`",
                code="not_open",
            )
        if tag in self._users:
            return
        self._journal.add(self._descriptor.ns, self._descriptor.key, tag)
        self._store.upsert(self._descriptor, self.override(tag, bodies))
        self._users[tag] = 0

    def _drop_idle(self) -> None:
        idle = [tag for tag, users in self._users.items() if users == 0]
        for tag in idle[: max(0, len(idle) - _IDLE)]:
            self._remove(tag)

    def _remove(self, tag: str) -> None:
        self._store.delete(ns=self._descriptor.ns, prompt_key=self._descriptor.key, tag=tag)
        del self._users[tag]


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
