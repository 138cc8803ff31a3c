"""Temporary tags in a weakincentives store: one for each configuration that is being run."""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from burnish.domain import Configuration, UsageError
from burnish.integrations.weakincentives.journal import MaskJournal, abandoned
from burnish.integrations.weakincentives.sections import TemplateSections

MASK_PREFIX = "burnish-mask-"
# Some stay for the next item; a long search must not fill the store.
_IDLE = 32


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
