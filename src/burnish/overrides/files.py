"""File backend of the overrides: one file a tag, whole or not there, one writer at a time.

Writers of a prompt take turns by a lock on a file beside its tags, which the system lets go of when
a process ends. A document is written to a hidden file, brought to the disk and renamed, so readers
need no lock. What a killed writer left is swept away by the next one.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from burnish.domain import Clock, SystemClock, UnavailableError, UsageError
from burnish.overrides.names import PromptAddress, TagAddress
from burnish.overrides.tag_store import Edit, TagStore
from burnish.support.retry import RetryPolicy, retry

_SUFFIX = ".json"
# Names of tags never begin with a dot.
_LOCK = ".lock"
_UNFINISHED = ".unfinished-"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_TURNS = RetryPolicy(max_attempts=None, first_wait_seconds=0.003, longest_wait_seconds=0.07)


class _LockedError(Exception):
    """Another writer has the lock of the prompt."""


class FileDocuments:
    """TagDocuments in a folder, as `namespace/key/tag.json`."""

    def __init__(
        self, folder: str | os.PathLike[str], *, lock_seconds: float, clock: Clock | None
    ) -> None:
        self._folder = Path(folder).absolute()
        self._lock_seconds = lock_seconds
        self._clock = clock or SystemClock()

    def where(self, address: TagAddress) -> str:
        """The path of a document."""
        return str(self._path(address))

    async def read(self, address: TagAddress) -> bytes | None:
        """A whole document, or None when there is none."""
        return await asyncio.to_thread(self._read, self._path(address))

    async def change(self, address: TagAddress, edit: Edit) -> None:
        """Replace a document by what `edit` makes of it, while others wait."""

        def work(path: Path) -> None:
            found = self._read(path)
            made = edit(found)
            if made != found:
                _write(path, made)

        await self._in_turn(address, work)

    async def remove(self, address: TagAddress) -> None:
        """Take a document away; one that is gone is fine."""

        def work(path: Path) -> None:
            path.unlink(missing_ok=True)
            _sync_folder(path.parent)

        await self._in_turn(address, work)

    async def tags(self, prompt: PromptAddress) -> list[str]:
        """The tags of a prompt; other files in the folder are nobody's tags."""
        return await asyncio.to_thread(self._tags, prompt)

    async def close(self) -> None:
        """Nothing stays open between calls."""

    async def _in_turn(self, address: TagAddress, work: Callable[[Path], None]) -> None:
        """Do the work under the lock, in one visit to a thread that never waits for it there."""
        path = self._path(address)

        def give_up(_error: Exception, _why: str) -> UnavailableError:
            return UnavailableError(
                what=f"{path} was not written",
                why=f"another process has kept {path.parent / _LOCK} locked "
                f"for {self._lock_seconds:g} seconds",
                fix="end the process that holds the lock, or try again later",
                code="locked",
            )

        await retry(
            lambda _: asyncio.to_thread(self._try, path, work),
            policy=replace(_TURNS, deadline_seconds=self._lock_seconds),
            passing=lambda error: isinstance(error, _LockedError),
            clock=self._clock,
            give_up=give_up,
        )

    def _try(self, path: Path, work: Callable[[Path], None]) -> None:
        """Do the work, unless the lock is another's."""
        with _readable_failures(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with _lock(path.parent) as is_ours:
                if not is_ours:
                    raise _LockedError
                _sweep(path.parent)
                work(path)

    def _read(self, path: Path) -> bytes | None:
        with _readable_failures(path):
            try:
                return path.read_bytes()
            except FileNotFoundError:
                return None

    def _tags(self, prompt: PromptAddress) -> list[str]:
        folder = self._folder_of(prompt)
        with _readable_failures(folder):
            try:
                names = [path.name for path in folder.iterdir()]
            except FileNotFoundError:
                return []
        found = []
        for name in names:
            if name.endswith(_SUFFIX):
                with suppress(UsageError):
                    found.append(prompt.tag(name.removesuffix(_SUFFIX)).tag)
        return found

    def _path(self, address: TagAddress) -> Path:
        return self._folder_of(address.prompt) / (address.tag + _SUFFIX)

    def _folder_of(self, prompt: PromptAddress) -> Path:
        return self._folder / prompt.namespace / prompt.key


@contextmanager
def _lock(folder: Path) -> Iterator[bool]:
    """Whether the folder's lock is ours for the block."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system
    except ImportError:
        raise UsageError(
            what=f"overrides in {folder} cannot be written",
            why="this system has no file locks that Burnish knows",
            fix="keep overrides in Redis, S3 or a database instead",
            code="unsupported_system",
        ) from None
    handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        try:
            yield True
        finally:
            # Closing alone would not do it while a forked child holds the file too.
            fcntl.flock(handle, fcntl.LOCK_UN)
    finally:
        os.close(handle)


def _write(path: Path, data: bytes) -> None:
    unfinished = path.parent / f"{_UNFINISHED}{uuid4().hex}"
    try:
        handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """A rename is on the disk once its folder is."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(folder: Path) -> None:
    """Whoever has the lock is the only writer, so unfinished files are those of the dead."""
    for path in folder.glob(f"{_UNFINISHED}*"):
        path.unlink(missing_ok=True)


@contextmanager
def _readable_failures(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        full = error.errno in _FULL
        raise UnavailableError(
            what=f"{path} cannot be used",
            why="the disk is full" if full else (error.strerror or type(error).__name__),
            fix="free some space" if full else "check the folder, its permissions and the disk",
            code="overrides_unavailable",
        ) from error


class LocalPromptOverridesStore(TagStore):
    """A PromptOverridesStore in a folder: one JSON file a tag, `FOLDER/namespace/key/tag.json`.

    A writer that waits `lock_seconds` for the others ends in UnavailableError.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        lock_seconds: float = 30.0,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(FileDocuments(folder, lock_seconds=lock_seconds, clock=clock))
