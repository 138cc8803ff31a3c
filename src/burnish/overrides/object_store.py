"""Object-store backend of the overrides: one object a tag, replaced only while its ETag stands."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self, TypeVar

from burnish.domain import BurnishError, Clock, SystemClock, UsageError
from burnish.overrides.names import PromptAddress, TagAddress
from burnish.overrides.server_calls import Calls, Found, PassingError, Patience
from burnish.overrides.tag_store import Edit, TagStore

if TYPE_CHECKING:
    from obstore import UpdateVersion
    from obstore.store import ObjectStore

_STATUS = re.compile(r"non-2xx status code: (\d{3})")
_NO_BUCKET = re.compile(r"NoSuchBucket|ContainerNotFound|bucket does not exist")
# No other answer below 500 gets better by itself.
_PASSING_STATUS = frozenset({408, 409, 425, 429})
_LONGEST_SHOWN = 200
T = TypeVar("T")
_SUFFIX = ".json"


def names_no_bucket(error: Exception) -> bool:
    """Whether it is the bucket that is missing and not an object in it."""
    return _NO_BUCKET.search(str(error)) is not None


def translated(error: Exception, bucket: ObjectStore) -> BurnishError | PassingError:
    """What to raise instead: PassingError where another attempt may help."""
    from obstore import exceptions  # noqa: PLC0415 - an extra

    found = _STATUS.search(str(error))
    status = int(found.group(1)) if found else None
    refused = exceptions.PermissionDeniedError, exceptions.UnauthenticatedError
    if names_no_bucket(error):
        why = "there is no such bucket"
        fix = "create the bucket, or check its name and region"
        code = "unknown_bucket"
    elif isinstance(error, refused) or status in (401, 403):
        why = f"the server denies access (status {status})"
        fix = "check the credentials and their rights: get, put, delete and list"
        code = "overrides_refused"
    elif isinstance(error, exceptions.NotSupportedError) or status == 501:
        why = "the server does not know conditional writes"
        fix = "use a server that knows If-Match and If-None-Match, as Amazon S3 does"
        code = "unsupported_server"
    elif status is None or status >= 500 or status in _PASSING_STATUS:
        return PassingError(
            first_line(error) if status is None else f"it answered with status {status}"
        )
    else:
        why = f"the server refused the request (status {status})"
        fix = "check the endpoint, the region and the bucket's name"
        code = "overrides_refused"
    what = f"overrides in {bucket!r} cannot be used"
    return UsageError(what=what, why=why, fix=fix, code=code)


def first_line(error: Exception) -> str:
    """What may be shown of a foreign error: its source holds whole requests."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:_LONGEST_SHOWN]


def open_bucket(url: str, settings: Mapping[str, Any]) -> ObjectStore:
    """An object store for an address; nothing is connected yet."""
    try:
        from obstore.exceptions import BaseError  # noqa: PLC0415 - an extra
        from obstore.store import from_url  # noqa: PLC0415
    except ImportError:
        raise UsageError(
            what="overrides cannot be kept in an object store",
            why="the package obstore is not installed",
            fix="install burnish[objectstore]",
            code="missing_dependency",
        ) from None
    # Without a setting of ours, what the environment says counts, such as AWS_ALLOW_HTTP.
    plain = str(settings.get("endpoint", "")).startswith("http://")
    options = {**({"allow_http": True} if plain else {}), **settings.get("client_options", {})}
    given = {
        # Burnish tries again itself, by a clock and a deadline that it knows.
        "retry_config": {"max_retries": 0, "retry_timeout": timedelta(seconds=1)},
        **settings,
        **({"client_options": options} if options else {}),
    }
    try:
        opened: ObjectStore = from_url(url, **given)
    except (BaseError, ValueError, TypeError) as error:
        raise UsageError(
            what="overrides cannot be kept in the object store",
            why=f"its address or a setting cannot be understood ({first_line(error)})",
            fix="write the address like s3://bucket/folder, and settings as obstore names them",
            code="invalid_address",
        ) from None
    return opened


class ObjectDocuments:
    """TagDocuments on an object store of `obstore`."""

    def __init__(
        self, bucket: ObjectStore, *, patience: Patience | None, clock: Clock | None
    ) -> None:
        self._bucket = bucket
        self._patience = patience or Patience()
        self._clock = clock or SystemClock()

    def where(self, address: TagAddress) -> str:
        """The bucket and the object."""
        return f"{_path(address)} in {self._bucket!r}"

    async def read(self, address: TagAddress) -> bytes | None:
        """A whole document, or None when there is none."""
        found = await self._calls(address).answer(lambda: self._get(address))
        return None if found is None else found.data

    async def change(self, address: TagAddress, edit: Edit) -> None:
        """Replace a document by what `edit` makes of it, unless another write came first."""
        await self._calls(address).swap(
            edit,
            lambda: self._get(address),
            lambda found, made: self._put(address, found, made),
        )

    async def remove(self, address: TagAddress) -> None:
        """Take a document away; one that is gone is fine."""
        await self._calls(address).answer(lambda: self._delete(address))

    async def tags(self, prompt: PromptAddress) -> list[str]:
        """The tags of a prompt."""
        calls = Calls(self._patience, self._clock, f"{_folder(prompt)} in {self._bucket!r}")
        names = await calls.answer(lambda: self._list(prompt))
        return [name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX)]

    async def close(self) -> None:
        """Nothing stays open that is not the caller's."""

    def _calls(self, address: TagAddress) -> Calls:
        return Calls(self._patience, self._clock, self.where(address))

    async def _get(self, address: TagAddress) -> Found[UpdateVersion] | None:
        import obstore  # noqa: PLC0415 - an extra

        try:
            found = await self._asked(obstore.get_async(self._bucket, _path(address)))
        except FileNotFoundError:
            return None
        data = bytes(await self._asked(found.bytes_async()))
        version: UpdateVersion = {}
        # A name that is there without a value would be refused.
        if found.meta["e_tag"] is not None:
            version["e_tag"] = found.meta["e_tag"]
        if found.meta["version"] is not None:
            version["version"] = found.meta["version"]
        return Found(data, version)

    async def _put(
        self, address: TagAddress, found: Found[UpdateVersion] | None, made: bytes
    ) -> bool:
        import obstore  # noqa: PLC0415 - an extra
        from obstore.exceptions import AlreadyExistsError, PreconditionError  # noqa: PLC0415

        mode: Any = "create" if found is None else found.version
        try:
            await self._asked(obstore.put_async(self._bucket, _path(address), made, mode=mode))
        except (AlreadyExistsError, PreconditionError, FileNotFoundError):
            return False
        return True

    async def _delete(self, address: TagAddress) -> None:
        import obstore  # noqa: PLC0415 - an extra

        try:
            await self._asked(obstore.delete_async(self._bucket, _path(address)))
        except FileNotFoundError:
            return

    async def _list(self, prompt: PromptAddress) -> list[str]:
        import obstore  # noqa: PLC0415 - an extra

        listing = obstore.list_with_delimiter_async(self._bucket, _folder(prompt))
        found = await self._asked(listing)
        return [one["path"].rsplit("/", 1)[-1] for one in found["objects"]]

    async def _asked(self, answer: Awaitable[T]) -> T:
        """The answer; what only a look at the bucket itself can cure is said at once."""
        from obstore.exceptions import (  # noqa: PLC0415 - an extra
            AlreadyExistsError,
            BaseError,
            PreconditionError,
        )

        try:
            return await answer
        except FileNotFoundError as error:
            if not names_no_bucket(error):
                raise
            raise translated(error, self._bucket) from None
        except (AlreadyExistsError, PreconditionError):
            raise
        except (BaseError, OSError) as error:
            raise translated(error, self._bucket) from None


def _folder(prompt: PromptAddress) -> str:
    return f"{prompt.namespace}/{prompt.key}"


def _path(address: TagAddress) -> str:
    return f"{_folder(address.prompt)}/{address.tag}{_SUFFIX}"


class S3PromptOverridesStore(TagStore):
    """A PromptOverridesStore on an object store of `obstore`: `namespace/key/tag.json` in it.

    The server must know conditional writes (If-Match, If-None-Match), as Amazon S3, MinIO, R2,
    Google Cloud Storage and Azure do: they are what keeps writers from losing each other's work.
    """

    def __init__(
        self, bucket: ObjectStore, *, patience: Patience | None = None, clock: Clock | None = None
    ) -> None:
        super().__init__(ObjectDocuments(bucket, patience=patience, clock=clock))

    @classmethod
    def from_url(
        cls,
        url: str,
        *,
        patience: Patience | None = None,
        clock: Clock | None = None,
        **settings: Any,
    ) -> Self:
        """On an address such as `s3://bucket/folder`.

        Settings are those of `obstore.store.S3Store`: region, endpoint, access_key_id and so on.
        What is not given comes from the environment (AWS_REGION, AWS_ACCESS_KEY_ID and so on).
        """
        return cls(open_bucket(url, settings), patience=patience, clock=clock)
