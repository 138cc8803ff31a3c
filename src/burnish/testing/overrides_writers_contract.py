"""Many writers at once, on every store of overrides. Subclass it and provide its fixtures."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio

import pytest

from burnish.domain import ConflictError
from burnish.overrides import ABSENT, PromptOverride, PromptOverridesStore
from burnish.testing.overrides_samples import (
    HERE,
    PROMPT,
    bodies,
    many_sections,
    override,
    override_of,
)


class OverridesWritersContract:
    """Provide `store`, and `another` on the same data, as another process would open it."""

    async def test_fifty_writers_of_one_tag_lose_nothing(
        self, store: PromptOverridesStore, another: PromptOverridesStore
    ) -> None:
        prompt = many_sections(50)
        stores = (store, another)

        revisions = await asyncio.gather(
            *(
                stores[number % 2].store(
                    prompt, override_of(prompt, f"s{number}", f"by {number}"), tag="t"
                )
                for number in range(50)
            )
        )

        assert await bodies(store, "t", prompt) == {f"s{n}": f"by {n}" for n in range(50)}
        assert len(set(revisions)) == 50
        found = await another.resolve(prompt, tag="t")
        assert found is not None
        assert found.revision in revisions

    async def test_of_those_who_make_a_new_tag_one_wins(
        self, store: PromptOverridesStore, another: PromptOverridesStore
    ) -> None:
        async def make(number: int) -> str:
            one = override("system", f"by {number}")
            target = (store, another)[number % 2]
            return await target.store(PROMPT, one, tag="t", expected=ABSENT)

        made = await asyncio.gather(*map(make, range(10)), return_exceptions=True)

        won = [number for number, one in enumerate(made) if isinstance(one, str)]
        assert len(won) == 1
        assert all(isinstance(one, (str, ConflictError)) for one in made), made
        assert await bodies(store, "t") == {"system": f"by {won[0]}"}

    async def test_those_who_build_on_what_they_read_count_without_a_gap(
        self, store: PromptOverridesStore, another: PromptOverridesStore
    ) -> None:
        await store.store(PROMPT, override("system", "0"), tag="t")

        async def add_one(target: PromptOverridesStore) -> None:
            while True:
                found = await target.resolve(PROMPT, tag="t")
                assert found is not None
                count = int(found.sections["system"].body) + 1
                try:
                    await target.store(
                        PROMPT, override("system", str(count)), tag="t", expected=found.revision
                    )
                except ConflictError:
                    continue
                return

        await asyncio.gather(*(add_one((store, another)[n % 2]) for n in range(10)))

        assert await bodies(store, "t") == {"system": "10"}

    async def test_readers_see_whole_writes_only(
        self, store: PromptOverridesStore, another: PromptOverridesStore
    ) -> None:
        def both(number: int) -> PromptOverride:
            texts = [override(path, str(number) * 2_000) for path in ("system", "user")]
            return PromptOverride.of(PROMPT, "t", texts)

        await store.upsert(PROMPT, both(0))
        done = asyncio.Event()

        async def write() -> None:
            for number in range(1, 10):
                await store.upsert(PROMPT, both(number))
            done.set()

        async def read() -> None:
            seen = 0
            while not done.is_set():
                found = await bodies(another, "t")
                assert found["system"] == found["user"]
                assert int(found["user"][0]) >= seen
                seen = int(found["user"][0])

        await asyncio.gather(write(), read(), read())

        assert await bodies(another, "t") == {"system": "9" * 2_000, "user": "9" * 2_000}

    async def test_a_tag_deleted_between_writes_stays_whole(
        self, store: PromptOverridesStore, another: PromptOverridesStore
    ) -> None:
        prompt = many_sections(10)

        async def write(number: int) -> None:
            await store.store(prompt, override_of(prompt, f"s{number}", "x"), tag="t")

        async def delete() -> None:
            await another.delete(**HERE, tag="t")

        await asyncio.gather(*(write(n) for n in range(5)), delete(), *map(write, range(5, 10)))
        found = await store.resolve(prompt, tag="t")
        assert found is None or found.stale == ()

        await another.delete(**HERE, tag="t")
        assert await store.resolve(prompt, tag="t") is None
        assert await store.list_tags(**HERE) == []

    async def test_tags_written_at_once_do_not_meet(
        self, store: PromptOverridesStore, another: PromptOverridesStore
    ) -> None:
        tags = [f"mask-{number:02}" for number in range(20)]

        await asyncio.gather(
            *(store.store(PROMPT, override("system", tag), tag=tag) for tag in tags),
            *(another.store(PROMPT, override("user", tag), tag=tag) for tag in tags),
        )

        assert await store.list_tags(**HERE) == tags
        for tag in tags:
            assert await bodies(store, tag) == {"system": tag, "user": tag}

    async def test_a_writer_that_is_cancelled_leaves_a_whole_tag_and_no_lock(
        self, store: PromptOverridesStore, another: PromptOverridesStore
    ) -> None:
        await store.store(PROMPT, override("user", "stays"), tag="t")
        writer = asyncio.create_task(store.store(PROMPT, override("system", "late"), tag="t"))
        await asyncio.sleep(0)
        writer.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writer

        await another.store(PROMPT, override("rules.tone", "new"), tag="t")

        found = await bodies(another, "t")
        assert found.pop("system", "late") == "late"
        assert found == {"user": "stays", "rules.tone": "new"}
