"""Whether there is anything to be used again: asked once before thousands of results are looked up.

Only ever added to, so a yes may be outdated and costs a look; a no is certain.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import CacheScope, ItemResult, Round
from burnish.storage.engine.bulk import BulkInsert
from burnish.storage.engine.codec import SafeText
from burnish.storage.optimizations.tables import cache_scopes

_columns = cache_scopes.c
_add = BulkInsert(cache_scopes, existing="skip")
_find = select(_columns.agent_fingerprint).where(
    _columns.agent_fingerprint == bindparam("of_agent", type_=SafeText),
    _columns.configuration_hash == bindparam("of_configuration", type_=SafeText),
)


def fresh(
    scope: CacheScope | None,
    results: Sequence[ItemResult],
    rounds: Sequence[Round],
    noted: Set[CacheScope],
) -> list[CacheScope]:
    """The scope, if the results or rounds bring its first one that can be used again."""
    if scope is None or scope in noted:
        return []
    useful = any(result.error is None for result in results) or any(one.judged for one in rounds)
    return [scope] if useful else []


async def note(connection: AsyncConnection, scopes: Sequence[CacheScope]) -> None:
    """Remember that results were saved under the scopes."""
    await _add(connection, [(one.agent_fingerprint, one.configuration_hash) for one in scopes])


async def is_known(connection: AsyncConnection, scope: CacheScope) -> bool:
    """Whether one was."""
    bound = {"of_agent": scope.agent_fingerprint, "of_configuration": scope.configuration_hash}
    return await connection.scalar(_find, bound) is not None
