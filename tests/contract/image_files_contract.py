"""What a store of picture files holds to. Subclass and give fixtures."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from tests.support.image_samples import digest_of

from burnish.domain import InvariantError, UnavailableError, UsageError
from burnish.domain.images.protocols import ImageFiles

DATA = bytes(range(256)) * 100
DIGEST = digest_of(DATA)
NO_DIGESTS = (
    "",
    "a",
    "../../etc/passwd",
    DIGEST[:-1],
    DIGEST + "0",
    DIGEST + "\n",
    DIGEST.upper(),
    f"../{DIGEST[3:]}",
    "g" * 64,
    "\x00" * 64,
    "\ud800" * 64,
    "٣" * 64,
)


class ImageFilesContract:
    """Provide `files`, `another` store at the same place, and `plant`, which puts bytes there."""

    async def test_bytes_come_back_by_their_digest(
        self, files: ImageFiles, another: ImageFiles
    ) -> None:
        for data in (DATA, b"", b"\x89PNG" * 300_000):
            await files.put(digest_of(data), data)

            assert await files.get(digest_of(data)) == data
            assert await another.get(digest_of(data)) == data

    async def test_storing_the_same_again_does_nothing(
        self, files: ImageFiles, another: ImageFiles
    ) -> None:
        await asyncio.gather(*(one.put(DIGEST, DATA) for one in (files, another) * 5))

        assert await files.get(DIGEST) == DATA

    async def test_a_file_that_is_not_there_is_not_found(self, files: ImageFiles) -> None:
        with pytest.raises(UsageError, match=DIGEST) as caught:
            await files.get(DIGEST)

        assert caught.value.code == "not_found"

    async def test_what_is_no_digest_names_no_file(self, files: ImageFiles) -> None:
        for name in NO_DIGESTS:
            with pytest.raises(UsageError) as caught:
                await files.get(name)
            assert caught.value.code == "not_found"
            with pytest.raises(InvariantError):
                await files.put(name, DATA)

    async def test_bytes_are_not_stored_under_another_name(self, files: ImageFiles) -> None:
        with pytest.raises(InvariantError, match="digest"):
            await files.put(DIGEST, DATA + b"x")

        with pytest.raises(UsageError):
            await files.get(DIGEST)

    async def test_a_damaged_file_is_never_given_out_and_can_be_stored_again(
        self, files: ImageFiles, plant: Callable[[str, bytes], Awaitable[None]]
    ) -> None:
        for damaged in (DATA[:-1], DATA[:-1] + b"x", b""):
            await plant(f"{DIGEST[:2]}/{DIGEST[2:4]}/{DIGEST}", damaged)

            with pytest.raises(UnavailableError, match="not those") as caught:
                await files.get(DIGEST)
            assert caught.value.code == "STORAGE_READ_FAILED"
            await files.put(DIGEST, DATA)
            assert await files.get(DIGEST) == DATA
        await files.close()
