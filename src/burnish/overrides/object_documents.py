"""Documents as objects in a bucket, replaced only while their ETag stands."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, TypeVar

from burnish.domain import Clock, SystemClock
from burnish.overrides.documents import Edit
from burnish.overrides.names import PromptAddress, TagAddress
from burnish.overrides.object_failures import names_no_bucket, translated
from burnish.overrides.redis_retry import Calls, Found, Patience

if TYPE_CHECKING:
    from obstore import UpdateVersion
    from obstore.store import ObjectStore

T = TypeVar("T")

_SUFFIX = ".json"


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
