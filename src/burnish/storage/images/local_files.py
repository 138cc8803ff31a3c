"""Picture files in a folder: whole or not there, also when the disk is full or a writer is killed."""

from __future__ import annotations

import asyncio
import errno
import os
import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

from burnish.domain import Clock, InvariantError, SystemClock, UnavailableError, UsageError
from burnish.storage.engine import failpoints

_DIGEST = re.compile(r"[0-9a-f]{64}")

# Files on their way lie here, and no digest begins with a dot.
_UNFINISHED = ".unfinished"
# No write takes as long: what is older belongs to a writer that was killed.
_ABANDONED_AFTER = timedelta(hours=1)
_FULL = (errno.ENOSPC, errno.EDQUOT)


def file_path(digest: str) -> str:
    """Where a file is below the store's root; anything but a digest names no file at all."""
    if not _DIGEST.fullmatch(digest):
        raise no_file(digest)
    return f"{digest[:2]}/{digest[2:4]}/{digest}"


def require_digest(digest: str, data: bytes) -> None:
    """Refuse to store bytes under a name that is not theirs."""
    if sha256(data).hexdigest() != digest:
        raise InvariantError(
            what="a picture was not stored",
            why=f"its bytes do not have the digest {digest!r}",
            fix="please report this",
        )


def checked(digest: str, data: bytes, where: str) -> bytes:
    """The bytes, if they are those that were stored."""
    if sha256(data).hexdigest() != digest:
        raise read_failed(
            where, "its bytes are not those that were stored", "restore the file from a backup"
        )
    return data


def no_file(digest: str) -> UsageError:
    """There is no such picture."""
    return UsageError(
        what=f"there is no picture {digest[:80]!r}",
        why="no file with that digest is stored",
        fix="take the digest from a commit or a comparison",
        code="not_found",
    )


def write_failed(where: str, why: str, fix: str) -> UnavailableError:
    """A picture could not be stored; nothing of it is left."""
    return UnavailableError(
        what=f"a picture was not written to {where}", why=why, fix=fix, code="STORAGE_WRITE_FAILED"
    )


def read_failed(where: str, why: str, fix: str) -> UnavailableError:
    """A picture is there, or may be, and cannot be read."""
    return UnavailableError(
        what=f"the picture {where} cannot be read", why=why, fix=fix, code="STORAGE_READ_FAILED"
    )


class LocalImageFiles:
    """ImageFiles as `ab/cd/abcd…` below a folder, which is made when it is needed."""

    def __init__(self, folder: str | os.PathLike[str], *, clock: Clock | None = None) -> None:
        self._folder = Path(folder).absolute()
        self._clock = clock or SystemClock()
        self._swept = False

    async def put(self, digest: str, data: bytes) -> None:
        """Store bytes under their digest; a damaged file is made good."""
        failpoints.reach(self.put, "before")
        await asyncio.to_thread(self._put, digest, data)
        failpoints.reach(self.put, "after")

    async def get(self, digest: str) -> bytes:
        """The bytes, checked against their digest."""
        return await asyncio.to_thread(self._get, digest)

    async def close(self) -> None:
        """Nothing stays open between calls."""

    def _put(self, digest: str, data: bytes) -> None:
        require_digest(digest, data)
        path = self._folder / file_path(digest)
        try:
            if _holds(path, data):
                return
            self._sweep()
            self._write(path, data)
        except OSError as error:
            raise write_failed(str(self._folder), *_reason(error)) from error

    def _get(self, digest: str) -> bytes:
        path = self._folder / file_path(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise no_file(digest) from None
        except OSError as error:
            raise read_failed(str(path), *_reason(error)) from error
        return checked(digest, data, str(path))

    def _write(self, path: Path, data: bytes) -> None:
        unfinished = self._folder / _UNFINISHED / uuid4().hex
        unfinished.parent.mkdir(parents=True, exist_ok=True)
        try:
            handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            failpoints.reach(self.put, "unfinished")
            new = [one for one in (path.parent, path.parent.parent) if not one.is_dir()]
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished.replace(path)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
        # A name is on the disk once its folder is, and a new folder's name once its own is.
        for folder in (path.parent, *(one.parent for one in new)):
            _sync_folder(folder)

    def _sweep(self) -> None:
        """Take away what killed writers left, once for each store that is opened."""
        if self._swept:
            return
        self._swept = True
        oldest = self._clock.now() - _ABANDONED_AFTER
        with suppress(FileNotFoundError):
            for path in (self._folder / _UNFINISHED).iterdir():
                # Another process may sweep too.
                with suppress(FileNotFoundError):
                    if datetime.fromtimestamp(path.stat().st_mtime, UTC) < oldest:
                        path.unlink()


def _holds(path: Path, data: bytes) -> bool:
    try:
        return path.stat().st_size == len(data) and path.read_bytes() == data
    except FileNotFoundError:
        return False


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _reason(error: OSError) -> tuple[str, str]:
    """Why it failed, and what to do."""
    if error.errno in _FULL:
        return "the disk is full", "free some space; every picture stored so far is kept"
    why = error.strerror or type(error).__name__
    return why, "check the folder, its permissions and the disk"
