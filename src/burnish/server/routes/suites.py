"""Suites: that of the server's configuration, and those of the registry."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path

from burnish.server.cursors import decode_cursor, encode_cursor
from burnish.server.routes.parameters import Cursor, Limit
from burnish.server.routes.registry import Suites
from burnish.server.schemas.problems import errors
from burnish.server.schemas.suites import NewSuite, SuitePage, SuiteView

router = APIRouter(prefix="/v1/private/suites", tags=["suites"])
_ORDER = "suite"


@router.get("", responses=errors())
async def list_suites(suites: Suites, limit: Limit = 50, cursor: Cursor = None) -> SuitePage:
    """Suites, that of the server's configuration first."""
    page = await suites.page(limit=limit, after=decode_cursor(_ORDER, cursor))
    return SuitePage(
        items=[SuiteView.of(one) for one in page.items],
        next_cursor=encode_cursor(_ORDER, page.next),
    )


@router.post("", status_code=201, responses=errors(404, 409))
async def save_suite(suites: Suites, new: NewSuite) -> SuiteView:
    """Make a suite, or a new version of it. The same again stays the version that it is."""
    saved = await suites.save(
        new.name,
        new.dataset_id,
        new.policy(),
        author=new.author or "",
        expected_version=new.expected_version,
    )
    return SuiteView.of(saved)


@router.get("/{suite}", responses=errors(404))
async def get_suite(
    suites: Suites,
    suite: Annotated[str, Path(min_length=1, max_length=200, description="Its id or name.")],
) -> SuiteView:
    """One suite as it is now."""
    return SuiteView.of(await suites.get(suite))
