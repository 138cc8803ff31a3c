"""Whether what a server needs answers."""

from __future__ import annotations

import asyncio
import os

from burnish.app.wiring import Workspace
from burnish.domain import UnavailableError
from burnish.jobs.event_listeners import VARIABLE as EVENTS

MAILBOX = "BURNISH_MAILBOX"
_SECONDS = 1.5


async def check_ready(workspace: Workspace) -> dict[str, str]:
    """`ok` by part; UnavailableError names the parts that do not answer in time."""
    checks = {"database": workspace.run_jobs.depth()}
    for name, variable in (("events", EVENTS), ("mailbox", MAILBOX)):
        if url := os.environ.get(variable):
            checks[name] = _ping(url)
    answers = await asyncio.gather(
        *(asyncio.wait_for(one, _SECONDS) for one in checks.values()), return_exceptions=True
    )
    away = [
        name
        for name, answer in zip(checks, answers, strict=True)
        if isinstance(answer, BaseException)
    ]
    if away:
        raise UnavailableError(
            what="the server is not ready",
            why=f"no answer from: {', '.join(away)}",
            fix="look after that; the server goes on by itself once it answers",
            code="not_ready",
        )
    return dict.fromkeys(checks, "ok")


async def _ping(url: str) -> int:
    from burnish.support.redis_client import open_client  # noqa: PLC0415 - an extra

    client = open_client(url, what="overrides cannot be kept in Redis")
    try:
        await client.ping()
        return 0
    finally:
        await client.aclose()
