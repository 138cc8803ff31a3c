"""Agent versions: configurations of agents over time, one of them active."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Integer, bindparam, insert, or_, select, update

from burnish.domain import AgentVersion, Configuration, ConflictError, UsageError
from burnish.domain.pages import Page
from burnish.storage.engine.bulk import skipping_insert, value_of
from burnish.storage.engine.codec import PlainText, SafeText
from burnish.storage.engine.connections import AsyncConnection
from burnish.storage.engine.database import AnyRow, Database
from burnish.storage.engine.listing import page_of, sorted_page
from burnish.storage.registry.tables import agent_versions, agents

_of_agent = agents.c.name == bindparam("of_agent", type_=SafeText)
_wanted = bindparam("of_version", type_=Integer)
_expected = bindparam("expected", type_=Integer)
_register = skipping_insert(agents, "name")
# The row stays locked until the end, so promotions at once get numbers one after the other.
_next_version = (
    update(agents)
    .where(_of_agent, or_(_expected.is_(None), agents.c.active_version == _expected))
    .values(last_version=agents.c.last_version + 1, active_version=agents.c.last_version + 1)
    .returning(agents.c.last_version)
)
_active_number = select(agents.c.active_version).where(_of_agent)
_add = insert(agent_versions)
_activate = update(agents).where(_of_agent).values(active_version=_wanted)

_versions = select(agent_versions, agents.c.active_version).join(agents).where(_of_agent)
_one = _versions.where(agent_versions.c.version == _wanted)
_active = _versions.where(agent_versions.c.version == agents.c.active_version)
_all = _versions.order_by(agent_versions.c.version.desc())
_written_before = _versions.where(
    agent_versions.c.created_at == bindparam("at", type_=PlainText),
    agent_versions.c.configuration_hash == bindparam("of_hash", type_=PlainText),
)


class SqlAgentRepository:
    """An AgentRepository on an open database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_version(
        self,
        agent_name: str,
        configuration: Configuration,
        *,
        author: str = "",
        note: str = "",
        origin: Mapping[str, Any] | None = None,
        expected_active: int | None = None,
    ) -> AgentVersion:
        """A new version, active at once."""
        row = {
            "agent_name": agent_name,
            "configuration_hash": configuration.hash,
            "author": author,
            "note": note,
            "origin": dict(origin or {}),
            "created_at": self._database.stamp(),
            "configuration": configuration.to_json(),
        }
        attempts = 0

        async def work(connection: AsyncConnection) -> AnyRow:
            nonlocal attempts
            attempts += 1
            # An earlier attempt may have got through, with only its answer lost.
            written = await _find_written(connection, row) if attempts > 1 else None
            if written is not None:
                return written
            number = await _take_number(connection, agent_name, expected_active)
            await connection.execute(_add, {**row, "version": number})
            return await _version(connection, agent_name, number)

        return _read(await self._database.write(work))

    async def activate(self, agent_name: str, version: int) -> AgentVersion:
        """Make an earlier version the active one again."""

        async def work(connection: AsyncConnection) -> AnyRow:
            await _version(connection, agent_name, version)
            await connection.execute(_activate, {"of_agent": agent_name, "of_version": version})
            return await _version(connection, agent_name, version)

        return _read(await self._database.write(work))

    async def active_version(self, agent_name: str) -> AgentVersion | None:
        """The one in use."""
        found = await self._database.one_row(_active, {"of_agent": agent_name})
        return None if found is None else _read(found)

    async def get_version(self, agent_name: str, version: int) -> AgentVersion:
        """One version."""
        return _read(
            await self._database.read(lambda connection: _version(connection, agent_name, version))
        )

    async def versions_page(
        self, agent_name: str, *, limit: int = 50, after: Sequence[Any] | None = None
    ) -> Page[AgentVersion]:
        """The newest first."""
        keys = [agent_versions.c.version]
        statement = sorted_page(_versions, keys, down=True, limit=limit, after=after)
        rows = await self._database.all_rows(statement, {"of_agent": agent_name})
        return page_of(rows, limit, _read, "version")

    async def list_versions(self, agent_name: str) -> list[AgentVersion]:
        """Newest first."""
        rows = await self._database.all_rows(_all, {"of_agent": agent_name})
        return [_read(row) for row in rows]


async def _take_number(connection: AsyncConnection, agent_name: str, expected: int | None) -> int:
    new = {"name": agent_name, "active_version": 0, "last_version": 0}
    await connection.execute(_register[connection.dialect.name], new)
    bound = {"of_agent": agent_name, "expected": expected}
    number: int | None = await connection.scalar(_next_version, bound)
    if number is None:
        active = await connection.scalar(_active_number, {"of_agent": agent_name})
        raise ConflictError(
            what=f"the agent {agent_name!r} was not changed",
            why=f"its active version is {active} by now, and not {expected}"
            if expected
            else f"its version {active} is active by now",
            fix="look at that version, then promote again",
            code="version_moved",
        )
    return number


async def _version(connection: AsyncConnection, agent_name: str, version: int) -> AnyRow:
    bound = {"of_agent": agent_name, "of_version": version}
    row = (await connection.execute(_one, bound)).one_or_none()
    if row is None:
        raise UsageError(
            what=f"the agent {agent_name!r} has no version {version}",
            why="no such version is stored",
            fix="name one that was promoted",
            code="not_found",
        )
    return row


async def _find_written(connection: AsyncConnection, row: Mapping[str, Any]) -> AnyRow | None:
    bound = {
        "of_agent": row["agent_name"],
        "at": row["created_at"],
        "of_hash": row["configuration_hash"],
    }
    return (await connection.execute(_written_before, bound)).one_or_none()


def _read(row: AnyRow) -> AgentVersion:
    return value_of(
        AgentVersion,
        row,
        configuration=Configuration.of(row.configuration),
        active=row.version == row.active_version,
    )
