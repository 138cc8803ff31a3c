"""What every store of overlays keeps to. Subclass it and provide its fixture."""

# ruff: noqa: D102 - the names of the tests say what they show

from __future__ import annotations

import asyncio

import pytest

from burnish.domain import Overlay, OverlayStore


class OverlayStoreContract:
    """Provide `overlays`."""

    @pytest.mark.parametrize(
        "overlay",
        [
            Overlay(sections={}),
            Overlay(sections={"system": "\x00 漢字 🙂"}, parameters={}, examples=()),
            Overlay(
                sections={"a": "", "b.c": "{{x}}"},
                parameters={"temperature": 0.0, "deep": [None, {"n": 2**60}]},
                examples=({"text": "\x00", "label": None}, {}),
            ),
        ],
        ids=["empty", "of nothing", "full"],
    )
    async def test_an_overlay_comes_back_as_it_was(
        self, overlays: OverlayStore, overlay: Overlay
    ) -> None:
        await overlays.put("n\x00", "k\x00", "t\x00", overlay)

        assert await overlays.get("n\x00", "k\x00", "t\x00") == overlay

    async def test_a_tag_is_replaced_whole_and_known_by_all_three_names(
        self, overlays: OverlayStore
    ) -> None:
        await overlays.put("n", "k", "t", Overlay(sections={"a": "1"}, parameters={"x": 1}))
        await overlays.put("n", "k", "t", Overlay(sections={"b": "2"}))

        assert await overlays.get("n", "k", "t") == Overlay(sections={"b": "2"})
        for names in (("m", "k", "t"), ("n", "j", "t"), ("n", "k", "s"), ("n", "kt", "")):
            assert await overlays.get(*names) is None

    async def test_a_deleted_tag_is_gone_and_deleting_it_again_is_fine(
        self, overlays: OverlayStore
    ) -> None:
        for tag in ("t", "other"):
            await overlays.put("n", "k", tag, Overlay(sections={}))

        await overlays.delete("n", "k", "t")
        await overlays.delete("n", "k", "t")

        assert await overlays.get("n", "k", "t") is None
        assert await overlays.list_tags("n", "k") == ["other"]

    async def test_tags_are_found_by_what_they_start_with(self, overlays: OverlayStore) -> None:
        tags = [
            *("opt-1-0", "opt-1-1", "opt-10-0", "opt_1-0", "OPT-1-0", "%", "_", "%%", "a%b", "a_b"),
            *("acb", "a\x00b", "a\U0010ffffb", "\U0010ffff!", "\ud7ffx", "\ue000", "é", "e\u0301"),
            *("\x00", "\x00\x01", "\x02", "\x02\x02", "half \ud800", "half \ud801", "a'b", "a\\b"),
        ]
        for tag in tags:
            await overlays.put("n", "k", tag, Overlay(sections={}))
        await overlays.put("n", "other", "opt-1-9", Overlay(sections={}))

        for prefix in {"", *tags, *(tag[:1] for tag in tags), "opt-1-", "a%", "a_", "x", "half "}:
            expected = sorted(tag for tag in tags if tag.startswith(prefix))
            assert await overlays.list_tags("n", "k", prefix=prefix) == expected, repr(prefix)
        assert await overlays.list_tags("n", "k", prefix="opt-1-") == ["opt-1-0", "opt-1-1"]

    async def test_writers_at_once_leave_one_whole_overlay(self, overlays: OverlayStore) -> None:
        written = [
            Overlay(sections={"s": str(n)}, parameters={"n": n}, examples=({"n": n},))
            for n in range(20)
        ]

        await asyncio.gather(*(overlays.put("n", "k", "t", one) for one in written))

        assert await overlays.get("n", "k", "t") in written
