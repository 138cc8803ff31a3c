"""Contract for overrides stores: reading, writing, and many writers at once."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from burnish.domain import ConflictError, UsageError
from burnish.overrides import ABSENT, PromptOverride, PromptOverridesStore
from burnish.testing.samples.overrides import (
    GOOD_NAMES,
    HERE,
    OTHER_TEXT,
    PROMPT,
    bodies,
    describe,
    many_sections,
    override,
    override_of,
)


class OverridesStoreContract:
    """Provide `store`."""

    async def test_a_tag_that_was_never_written_is_none(self, store: PromptOverridesStore) -> None:
        await store.store(PROMPT, override("system", "Other."), tag="stable")

        assert await store.resolve(PROMPT, tag="unknown") is None
        assert await store.resolve(describe(key="other"), tag="stable") is None
        assert await store.list_tags(namespace="nobody", key="nothing") == []

    @pytest.mark.parametrize(
        "body", ["", "\x00", "漢字 🙂 é", "\r\n\t\x7f\u2028", "\"\\'{{ticket}}", " a " * 9_000]
    )
    async def test_texts_come_back_as_they_were(
        self, store: PromptOverridesStore, body: str
    ) -> None:
        await store.store(PROMPT, override("system", body), tag="t")

        found = await store.resolve(PROMPT, tag="t")

        assert found is not None
        assert found.sections == {"system": override("system", body)}
        assert found.stale == ()

    async def test_parameters_and_examples_are_kept_beside_sections(
        self, store: PromptOverridesStore
    ) -> None:
        whole = replace(
            PromptOverride.of(PROMPT, "t", [override("system", "Other.")]),
            parameters={"temperature": 0.0, "deep": [None, {"n": 2**60}]},
            examples=({"text": "\x00", "label": None}, {}),
        )
        await store.upsert(PROMPT, whole)
        await store.store(PROMPT, override("user", "!{{ticket}}"), tag="t")

        found = await store.resolve(PROMPT, tag="t")

        assert found is not None
        assert found.override == replace(
            whole, sections={**whole.sections, "user": override("user", "!{{ticket}}")}
        )
        nothing = replace(PromptOverride.of(PROMPT, "t"), parameters={}, examples=())
        await store.upsert(PROMPT, nothing)
        emptied = await store.resolve(PROMPT, tag="t")
        assert emptied is not None
        assert (emptied.override.parameters, emptied.override.examples) == ({}, ())
        assert set(emptied.sections) == {"system", "user"}

    async def test_what_a_write_does_not_name_stays(self, store: PromptOverridesStore) -> None:
        first = await store.store(PROMPT, override("system", "1"), tag="t")
        second = await store.upsert(
            PROMPT,
            PromptOverride.of(PROMPT, "t", [override("user", "2"), override("rules.tone", "3")]),
        )
        third = await store.store(PROMPT, override("system", "4"), tag="t")

        assert await bodies(store, "t") == {"system": "4", "user": "2", "rules.tone": "3"}
        assert len({first, second, third}) == 3

    async def test_a_write_that_changes_nothing_keeps_the_revision(
        self, store: PromptOverridesStore
    ) -> None:
        whole = replace(PromptOverride.of(PROMPT, "t"), parameters={"n": 1})
        first = await store.upsert(PROMPT, whole)

        assert await store.upsert(PROMPT, whole) == first
        # Equal for Python, another value in JSON.
        assert await store.upsert(PROMPT, replace(whole, parameters={"n": True})) != first

    async def test_a_replaced_tag_holds_nothing_else(self, store: PromptOverridesStore) -> None:
        first = await store.store(PROMPT, override("system", "1"), tag="t")
        only = PromptOverride.of(PROMPT, "t", [override("user", "2")])

        await store.upsert(PROMPT, only, expected=first, replace=True)
        with pytest.raises(ConflictError, match="changed"):
            await store.upsert(PROMPT, PromptOverride.of(PROMPT, "t"), expected=first, replace=True)

        assert await bodies(store, "t") == {"user": "2"}

    async def test_a_deleted_tag_is_gone_and_starts_anew(self, store: PromptOverridesStore) -> None:
        for tag in ("t", "other"):
            await store.store(PROMPT, override("system", "1"), tag=tag)

        for _ in range(2):
            await store.delete(**HERE, tag="t")

        assert await store.resolve(PROMPT, tag="t") is None
        assert await store.list_tags(**HERE) == ["other"]
        await store.store(PROMPT, override("user", "2"), tag="t")
        assert await bodies(store, "t") == {"user": "2"}

    async def test_tags_are_found_by_what_they_start_with(
        self, store: PromptOverridesStore
    ) -> None:
        for tag in GOOD_NAMES:
            await store.store(PROMPT, override("system", tag), tag=tag)
        for near in (describe(key="router2"), describe(key="route"), describe(namespace="sup")):
            await store.store(near, override("system", "near"), tag="near")

        assert await store.list_tags(**HERE) == sorted(GOOD_NAMES)
        assert await store.list_tags(**HERE, prefix="a.") == ["a.", "a..b", "a.json"]
        for pattern in ("*", "?", "[a-z]", "%", "_", "../", "\x00", "A"):
            assert await store.list_tags(**HERE, prefix=pattern) == []
        for tag in GOOD_NAMES:
            assert await bodies(store, tag) == {"system": tag}

    async def test_a_stale_override_is_left_out_and_named_on_the_way_out(
        self, store: PromptOverridesStore
    ) -> None:
        both = [override("system", "1"), override("user", "2")]
        await store.upsert(PROMPT, PromptOverride.of(PROMPT, "t", both))
        without = describe({"system": "Send the ticket on."})

        found = await store.resolve(OTHER_TEXT, tag="t")
        gone = await store.resolve(without, tag="t")

        assert found is not None
        assert gone is not None
        assert set(found.sections) == {"user"}
        assert [(one.path, one.expected_hash) for one in found.stale] == [
            ("system", both[0].expected_hash)
        ]
        assert found.stale[0].found_hash == OTHER_TEXT.section("system").content_hash
        assert gone.sections == {}
        assert {one.path: one.found_hash for one in gone.stale} == {
            "system": without.section("system").content_hash,
            "user": None,
        }

    async def test_a_stale_override_stays_until_it_is_made_anew(
        self, store: PromptOverridesStore
    ) -> None:
        await store.store(PROMPT, override("system", "old"), tag="t")

        await store.store(OTHER_TEXT, override("user", "2"), tag="t")

        assert await bodies(store, "t", OTHER_TEXT) == {"user": "2"}
        assert await bodies(store, "t") == {"system": "old", "user": "2"}
        anew = override("system", "new", text="Send the ticket on.")
        await store.store(OTHER_TEXT, anew, tag="t")
        found = await store.resolve(OTHER_TEXT, tag="t")
        assert found is not None
        assert found.stale == ()
        assert await bodies(store, "t", OTHER_TEXT) == {"system": "new", "user": "2"}

    async def test_a_copied_tag_loses_nothing_of_what_it_builds_on(
        self, store: PromptOverridesStore
    ) -> None:
        whole = replace(
            PromptOverride.of(PROMPT, "stable", [override("system", "1"), override("user", "2")]),
            parameters={"temperature": 1},
            examples=({"a": 1},),
        )
        await store.upsert(PROMPT, whole)
        on_top = override("rules.tone", "3")

        # One of the overrides is stale here, and is kept all the same.
        await store.copy_tag(OTHER_TEXT, source="stable", target="mask", overrides=[on_top])

        found = await store.resolve(PROMPT, tag="mask")
        assert found is not None
        assert found.override == replace(
            whole, tag="mask", sections={**whole.sections, "rules.tone": on_top}
        )
        await store.store(PROMPT, override("system", "4"), tag="mask")
        assert await bodies(store, "stable") == {"system": "1", "user": "2"}

    async def test_a_copy_replaces_only_what_it_is_told_to(
        self, store: PromptOverridesStore
    ) -> None:
        await store.store(PROMPT, override("system", "1"), tag="source")
        target = await store.store(PROMPT, override("user", "2"), tag="target")

        with pytest.raises(ConflictError, match="already") as caught:
            await store.copy_tag(PROMPT, source="source", target="target")
        assert caught.value.code == "tag_exists"
        with pytest.raises(UsageError, match="the prompt has source, target"):
            await store.copy_tag(PROMPT, source="unknown", target="new")
        with pytest.raises(UsageError, match="the same"):
            await store.copy_tag(PROMPT, source="source", target="source")

        assert await bodies(store, "target") == {"user": "2"}
        await store.copy_tag(PROMPT, source="source", target="target", expected=target)
        assert await bodies(store, "target") == {"system": "1"}
        await store.store(PROMPT, override("user", "5"), tag="target")
        await store.copy_tag(PROMPT, source="source", target="target", expected=None)
        assert await bodies(store, "target") == {"system": "1"}


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
