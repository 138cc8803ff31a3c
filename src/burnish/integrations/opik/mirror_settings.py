"""Where a run is mirrored to, from its settings and from Opik's own variables."""

from __future__ import annotations

import contextlib
import os
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from burnish.app.wiring import Workspace
from burnish.config.schema import MirrorTable
from burnish.domain import UsageError
from burnish.domain.mirrors import MirrorTarget
from burnish.integrations.opik.mirror import MirrorOutcome, mirroring

OPIK = "opik"
_URL, _WORKSPACE = "OPIK_URL_OVERRIDE", "OPIK_WORKSPACE"


def mirror_target(table: MirrorTable) -> MirrorTarget | None:
    """The target; None where nothing is to be mirrored."""
    if table.to is None:
        return None
    if table.to != OPIK:
        raise _unusable(f"nothing can be mirrored to {table.to!r}", "use opik")
    url = (table.url or os.environ.get(_URL) or "").rstrip("/")
    if not url:
        raise _unusable(
            "no url is given",
            f"set url in [mirror], or {_URL}, such as http://127.0.0.1:5173/api",
        )
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _unusable(f"{url!r} is no address", "write it like http://127.0.0.1:5173/api")
    if parts.username is not None or parts.password is not None:
        raise _unusable(
            "the url holds a password, which would be stored",
            f"put the key into the variable {table.api_key_env}",
        )
    return MirrorTarget(
        url=url,
        workspace=table.workspace or os.environ.get(_WORKSPACE) or "default",
        project=table.project,
        api_key_env=table.api_key_env,
    )


@contextlib.asynccontextmanager
async def mirrored(
    workspace: Workspace, optimization_id: str, target: MirrorTarget | None
) -> AsyncIterator[MirrorOutcome | None]:
    """Mirror an optimization within the block, and with it what earlier ones left."""
    if target is None:
        yield None
        return
    await workspace.mirrors.enrol(optimization_id, target)
    async with mirroring(workspace) as outcome:
        yield outcome


def _unusable(why: str, fix: str) -> UsageError:
    return UsageError(what="the run cannot be mirrored", why=why, fix=fix, code="invalid_mirror")
