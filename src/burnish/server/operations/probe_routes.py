"""Whether a server is there and ready: the only routes of the API that need no key."""

from __future__ import annotations

from fastapi import APIRouter

from burnish.app.readiness import check_ready
from burnish.server.http.errors import errors
from burnish.server.http.services import Serving
from burnish.server.operations.schemas import Live, Ready

router = APIRouter(tags=["operations"])


@router.get("/health/live", responses=errors())
async def live() -> Live:
    """The process answers; if it does not, start it anew."""
    return Live(status="ok")


@router.get("/health/ready", responses=errors())
async def ready(serving: Serving) -> Ready:
    """The database and whatever else is configured answer; if not, send requests elsewhere."""
    return Ready(status="ok", checks=await check_ready(serving.workspace))
