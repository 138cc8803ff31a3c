"""What the routes of Opik's clients work with."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Request

from burnish.integrations.opik.ingest import OpikIngest
from burnish.server.http.services import Serving

DEFAULT_WORKSPACE, DEFAULT_PROJECT = "default", "Default Project"
Place = Annotated[str, Header(alias="Comet-Workspace", min_length=1, max_length=200)]


async def _ingest(request: Request, serving: Serving) -> OpikIngest:
    """One for all requests: it keeps their writes apart."""
    state = request.app.state
    found = getattr(state, "opik_ingest", None)
    if found is None or found.workspace is not serving.workspace:
        found = state.opik_ingest = OpikIngest(serving.workspace)
    assert isinstance(found, OpikIngest)
    return found


Ingest = Annotated[OpikIngest, Depends(_ingest)]
