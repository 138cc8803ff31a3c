"""What every repository of agents keeps to. Subclass it and provide its fixtures."""

from __future__ import annotations

import asyncio

import pytest

from burnish.domain import AgentRepository, Configuration, ConflictError, UsageError
from burnish.testing.samples.experiments import (
    AWKWARD_JSON,
    AWKWARD_TEXTS,
)


def configuration(text: str) -> Configuration:
    """A configuration with one section."""
    return Configuration.of({"sections": {"system": text}})


class AgentRepositoryContract:
    """Provide `agents`."""

    async def test_versions_count_from_1_for_each_agent_and_the_newest_is_active(
        self, agents: AgentRepository
    ) -> None:
        for text in ("one", "two", "three"):
            await agents.add_version("router", configuration(text))
        other = await agents.add_version("other", configuration("one"))

        versions = await agents.list_versions("router")

        assert other.version == 1
        assert [(one.version, one.active) for one in versions] == [
            (3, True),
            (2, False),
            (1, False),
        ]
        assert [one.configuration.sections["system"] for one in versions] == ["three", "two", "one"]
        assert await agents.active_version("router") == versions[0]
        assert await agents.get_version("router", 2) == versions[1]
        first = await agents.versions_page("router", limit=2)
        rest = await agents.versions_page("router", limit=2, after=first.next)
        assert [*first.items, *rest.items] == versions
        assert rest.next is None

    @pytest.mark.parametrize("text", AWKWARD_TEXTS)
    async def test_a_version_comes_back_as_it_was(self, agents: AgentRepository, text: str) -> None:
        given = Configuration.of(
            {
                "sections": {"system": "漢字 \x00 {{ticket}}", "user.extra": "2"},
                "parameters": {"temperature": 0.0, "seed": 2**60},
                "examples": [{"input": {"ticket": "t"}, "output": "x"}],
            }
        )

        added = await agents.add_version(
            text, given, author=text, note=text, origin={"a": AWKWARD_JSON}
        )

        assert (added.agent_name, added.author, added.note) == (text, text, text)
        assert added.origin == {"a": AWKWARD_JSON}
        assert added.configuration == given
        assert added.configuration.hash == given.hash
        assert added.created_at.endswith("Z")
        assert await agents.active_version(text) == added

    async def test_an_agent_that_was_never_promoted_has_none(self, agents: AgentRepository) -> None:
        assert await agents.active_version("none\x00") is None
        assert await agents.list_versions("none\x00") == []

    async def test_an_earlier_version_can_be_active_again(self, agents: AgentRepository) -> None:
        for text in ("one", "two"):
            await agents.add_version("router", configuration(text))

        back = await agents.activate("router", 1)
        third = await agents.add_version("router", configuration("three"))

        assert (back.version, back.active) == (1, True)
        assert third.version == 3, "numbers are never given twice"
        assert [one.active for one in await agents.list_versions("router")] == [True, False, False]

    @pytest.mark.parametrize("version", [0, -1, 2, 10**9])
    async def test_an_unknown_version_is_not_found(
        self, agents: AgentRepository, version: int
    ) -> None:
        await agents.add_version("router", configuration("one"))

        for name in ("router", "nobody"):
            with pytest.raises(UsageError) as caught:
                await agents.activate(name, version)
            assert caught.value.code == "not_found"
            with pytest.raises(UsageError):
                await agents.get_version(name, version)
        assert [one.active for one in await agents.list_versions("router")] == [True]

    async def test_a_version_is_refused_when_another_is_active_by_now(
        self, agents: AgentRepository
    ) -> None:
        await agents.add_version("router", configuration("one"), expected_active=0)
        await agents.add_version("router", configuration("two"), expected_active=1)

        for expected in (0, 1, 7):
            with pytest.raises(ConflictError, match="2"):
                await agents.add_version("router", configuration("x"), expected_active=expected)
        with pytest.raises(ConflictError):
            await agents.add_version("new", configuration("x"), expected_active=1)

        assert [one.version for one in await agents.list_versions("router")] == [2, 1]
        assert await agents.list_versions("new") == []

    async def test_promotions_at_once_get_numbers_of_their_own(
        self, agents: AgentRepository
    ) -> None:
        added = await asyncio.gather(
            *(agents.add_version("router", configuration(str(n))) for n in range(12))
        )

        versions = await agents.list_versions("router")
        assert sorted(one.version for one in added) == list(range(1, 13))
        assert [one.active for one in versions] == [True] + [False] * 11
        stored = {one.version: one.configuration for one in versions}
        assert all(stored[one.version] == one.configuration for one in added)

    async def test_of_those_who_expect_the_same_version_one_wins(
        self, agents: AgentRepository
    ) -> None:
        outcomes = await asyncio.gather(
            *(
                agents.add_version("router", configuration(str(n)), expected_active=0)
                for n in range(8)
            ),
            return_exceptions=True,
        )

        assert [type(one) for one in outcomes].count(ConflictError) == 7
        assert [one.version for one in await agents.list_versions("router")] == [1]
