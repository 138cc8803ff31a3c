"""Contract for overrides stores: what every store refuses."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from burnish.domain import ConflictError, UsageError
from burnish.overrides import ABSENT, PromptOverride, PromptOverridesStore
from burnish.testing.samples.overrides import (
    BAD_NAMES,
    HERE,
    OTHER_TEXT,
    PROMPT,
    bodies,
    describe,
    override,
)

# Puts bytes where the document of a tag is kept: (namespace, key, tag, bytes).
Plant = Callable[[str, str, str, bytes], Awaitable[None]]

_DAMAGED = {
    "empty": b"",
    "cut": b'{"format": "burnish.override", "version": 1, "sect',
    "another program's": b'{"hello": "world"}',
    "a list": b"[1]",
    "a number": b"NaN",
    "nested": b"[" * 100_000,
    "no sections": b'{"format": "burnish.override", "version": 1, "revision": "1"}',
    "wrong types": json.dumps(
        {
            "format": "burnish.override",
            "version": 1,
            "revision": "1",
            "sections": {"system": {"expected_hash": 1, "body": "x"}},
        }
    ).encode(),
}


class OverridesRefusalsContract:
    """Provide `store` and `plant`."""

    async def test_names_that_could_lead_elsewhere_are_refused_everywhere(
        self, store: PromptOverridesStore
    ) -> None:
        one = override("system", "x")
        attempts: list[Callable[[Any], Awaitable[object]]] = [
            lambda name: store.resolve(PROMPT, tag=name),
            lambda name: store.store(PROMPT, one, tag=name),
            lambda name: store.upsert(PROMPT, PromptOverride.of(PROMPT, name, [one])),
            lambda name: store.copy_tag(PROMPT, source=name, target="t"),
            lambda name: store.copy_tag(PROMPT, source="t", target=name),
            lambda name: store.delete(**HERE, tag=name),
            lambda name: store.delete(namespace=name, key="k", tag="t"),
            lambda name: store.delete(namespace="n", key=name, tag="t"),
            lambda name: store.list_tags(namespace=name, key="k"),
            lambda name: store.list_tags(namespace="n", key=name),
        ]

        for attempt in attempts:
            for name in BAD_NAMES:
                with pytest.raises(UsageError, match="1 to 64") as caught:
                    await attempt(name)
                assert caught.value.code == "invalid_name", name
            with pytest.raises(UsageError, match="kept for Burnish"):
                await store.list_tags(namespace="burnish.masks", key="k")

        assert await store.list_tags(**HERE) == []

    async def test_a_stale_override_is_refused_on_the_way_in(
        self, store: PromptOverridesStore
    ) -> None:
        old = override("system", "x")
        both = PromptOverride.of(OTHER_TEXT, "t", [override("user", "y"), old])

        for attempt in (
            store.store(OTHER_TEXT, old, tag="t"),
            store.upsert(OTHER_TEXT, both),
            store.copy_tag(OTHER_TEXT, source="s", target="t", overrides=[old]),
        ):
            with pytest.raises(
                ConflictError, match="changed since the override was made"
            ) as caught:
                await attempt
            assert caught.value.code == "stale_override"
            assert "anew" in caught.value.fix

        assert await store.list_tags(**HERE) == []

    async def test_overrides_of_other_prompts_and_sections_are_refused(
        self, store: PromptOverridesStore
    ) -> None:
        with pytest.raises(UsageError, match="did you mean 'system'"):
            await store.store(PROMPT, override("sistem", "x", text=""), tag="t")
        with pytest.raises(UsageError, match="another prompt"):
            await store.upsert(PROMPT, PromptOverride.of(describe(key="other"), "t"))
        wrong = replace(PromptOverride.of(PROMPT, "t"), sections={"user": override("system", "x")})
        with pytest.raises(UsageError, match="'system'"):
            await store.upsert(PROMPT, wrong)
        for body in ("half \ud800", "x" * 5_000_000):
            with pytest.raises(UsageError, match=r"surrogate|bytes"):
                await store.store(PROMPT, override("system", body), tag="t")

        assert await store.list_tags(**HERE) == []

    async def test_a_write_on_what_was_not_read_is_refused(
        self, store: PromptOverridesStore
    ) -> None:
        mine = override("system", "mine")
        new = await store.store(PROMPT, mine, tag="t", expected=ABSENT)
        found = await store.resolve(PROMPT, tag="t")
        assert found is not None
        assert found.revision == new
        await store.store(PROMPT, override("user", "theirs"), tag="t")

        with pytest.raises(ConflictError, match="somebody has changed it") as edited:
            await store.store(PROMPT, override("system", "late"), tag="t", expected=new)
        assert edited.value.code == "tag_changed"
        assert "resolve the tag again" in edited.value.fix
        with pytest.raises(ConflictError, match="already"):
            await store.store(PROMPT, mine, tag="t", expected=ABSENT)
        assert await bodies(store, "t") == {"system": "mine", "user": "theirs"}

        await store.delete(**HERE, tag="t")
        with pytest.raises(ConflictError, match="somebody has deleted it") as deleted:
            await store.store(PROMPT, mine, tag="t", expected=new)
        assert deleted.value.code == "tag_deleted"
        assert await store.resolve(PROMPT, tag="t") is None

    @pytest.mark.parametrize("damage", _DAMAGED.values(), ids=_DAMAGED)
    async def test_a_damaged_document_is_named_and_harms_no_other(
        self, store: PromptOverridesStore, plant: Plant, damage: bytes
    ) -> None:
        await store.store(PROMPT, override("system", "1"), tag="good")
        await plant(PROMPT.namespace, PROMPT.key, "bad", damage)

        for attempt in (
            store.resolve(PROMPT, tag="bad"),
            store.store(PROMPT, override("user", "2"), tag="bad"),
            store.copy_tag(PROMPT, source="bad", target="new"),
        ):
            with pytest.raises(UsageError, match="damaged") as caught:
                await attempt
            assert caught.value.code == "damaged_override"
            assert "support/router/bad" in str(caught.value)

        assert await bodies(store, "good") == {"system": "1"}
        assert await store.list_tags(**HERE) == ["bad", "good"]
        await store.delete(**HERE, tag="bad")
        await store.store(PROMPT, override("user", "2"), tag="bad")
        assert await bodies(store, "bad") == {"user": "2"}

    @pytest.mark.parametrize("version", [2, 0, "1", None])
    async def test_a_document_of_an_unknown_version_is_refused_loudly(
        self, store: PromptOverridesStore, plant: Plant, version: object
    ) -> None:
        document = {"format": "burnish.override", "version": version, "sections": {}}
        await plant(PROMPT.namespace, PROMPT.key, "t", json.dumps(document).encode())

        for attempt in (
            store.resolve(PROMPT, tag="t"),
            store.store(PROMPT, override("user", "2"), tag="t"),
        ):
            with pytest.raises(UsageError, match="version") as caught:
                await attempt
            assert caught.value.code == "unknown_version"
            assert "upgrade" in caught.value.fix
