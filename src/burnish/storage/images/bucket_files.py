"""Picture files in a bucket, for servers that share no disk."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from burnish.domain import UsageError
from burnish.storage.engine import failpoints
from burnish.storage.images.local_files import (
    checked,
    file_path,
    no_file,
    read_failed,
    require_digest,
    write_failed,
)

if TYPE_CHECKING:
    from obstore.store import ObjectStore

T = TypeVar("T")

_STATUS = re.compile(r"non-2xx status code: (\d{3})")
_NO_BUCKET = re.compile(r"NoSuchBucket|ContainerNotFound|bucket does not exist")
_LONGEST_SHOWN = 200
_DEADLINE_SECONDS = 30.0
# Writing the same bytes twice does no harm, so the client may repeat whatever failed.
_RETRIES: Any = {
    "max_retries": 5,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=2),
        "base": 2,
    },
}


class ObjectImageFiles:
    """ImageFiles on an object store of `obstore`, as `ab/cd/abcd…` in it.

    A write replaces whatever is there at once, so a damaged object is made good. The address is
    like `s3://bucket/folder`. Settings are those of the store in `obstore`: region, endpoint,
    access_key_id and so on; what is not given comes from the environment (AWS_REGION,
    AWS_ACCESS_KEY_ID and so on). Nothing is connected yet.
    """

    def __init__(
        self, url: str, *, deadline_seconds: float = _DEADLINE_SECONDS, **settings: Any
    ) -> None:
        self._bucket = _open(url, settings)
        self._deadline_seconds = deadline_seconds

    async def put(self, digest: str, data: bytes) -> None:
        """Store bytes under their digest."""
        require_digest(digest, data)
        failpoints.reach(self.put, "before")
        import obstore  # noqa: PLC0415 - an extra
        from obstore.exceptions import BaseError  # noqa: PLC0415

        try:
            await self._in_time(obstore.put_async(self._bucket, file_path(digest), data))
        except (BaseError, OSError) as error:
            raise write_failed(repr(self._bucket), *_reason(error)) from None
        failpoints.reach(self.put, "after")

    async def get(self, digest: str) -> bytes:
        """The bytes, checked against their digest."""
        path = file_path(digest)
        where = f"{path} in {self._bucket!r}"
        from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra

        try:
            data = await self._in_time(self._bytes(path))
        except (BaseError, OSError) as error:
            if isinstance(error, FileNotFoundError) and not _NO_BUCKET.search(str(error)):
                raise no_file(digest) from None
            raise read_failed(where, *_reason(error)) from None
        return checked(digest, data, where)

    async def close(self) -> None:
        """Nothing stays open between calls."""

    async def _bytes(self, path: str) -> bytes:
        import obstore  # noqa: PLC0415 - an extra

        found = await obstore.get_async(self._bucket, path)
        return bytes(await found.bytes_async())

    async def _in_time(self, answer: Awaitable[T]) -> T:
        async with asyncio.timeout(self._deadline_seconds):
            return await answer


def _open(url: str, settings: dict[str, Any]) -> ObjectStore:
    try:
        from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra
        from obstore.store import from_url  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            what="pictures cannot be kept in an object store",
            why="the package obstore is not installed",
            fix="install burnish[objectstore]",
            code="missing_dependency",
        ) from None
    plain = str(settings.get("endpoint", "")).startswith("http://")
    given = {
        "retry_config": _RETRIES,
        **settings,
        "client_options": {"allow_http": plain, **settings.get("client_options", {})},
    }
    try:
        opened: ObjectStore = from_url(url, **given)
    except (BaseError, ValueError, TypeError):
        # Neither the address nor the library's words about it: they can hold a password.
        raise UsageError(
            what="pictures cannot be kept in the object store",
            why="its address or a setting cannot be understood",
            fix="write the address like s3://bucket/folder, and settings as obstore names them",
            code="invalid_address",
        ) from None
    return opened


def _reason(error: Exception) -> tuple[str, str]:
    """Why it failed, and what to do. The rest of a foreign error holds whole requests."""
    if isinstance(error, TimeoutError):
        return "it did not answer in time", "check that the server runs, or try again later"
    if _NO_BUCKET.search(str(error)):
        return "there is no such bucket", "create the bucket, or check its name and region"
    found = _STATUS.search(str(error))
    if found and found.group(1) in ("401", "403"):
        return (
            f"the server denies access (status {found.group(1)})",
            "check the credentials and their rights: get and put",
        )
    if found:
        return f"it answered with status {found.group(1)}", "try again later"
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:_LONGEST_SHOWN], "check that the server runs and can be reached"
