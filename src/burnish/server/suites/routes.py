"""Suites: that of the server's configuration, and those of the registry."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query

from burnish.app.datasets.suite_items import read_items
from burnish.domain import UsageError
from burnish.server.agents.registry import Suites
from burnish.server.datasets.schemas import RowView
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, decode_cursor, encode_cursor
from burnish.server.http.services import Serving
from burnish.server.suites.schemas import NewSuite, SuiteItemPage, SuitePage, SuiteView

router = APIRouter(prefix="/v1/private/suites", tags=["suites"])
_ORDER, _POSITION = "suite", "position"
SuiteName = Annotated[str, Path(min_length=1, max_length=200, description="Its id or name.")]


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
async def get_suite(suites: Suites, suite: SuiteName) -> SuiteView:
    """One suite as it is now."""
    return SuiteView.of(await suites.get(suite))


@router.get("/{suite}/items", responses=errors(404))
async def list_suite_items(
    serving: Serving,
    suites: Suites,
    suite: SuiteName,
    q: Annotated[
        str | None, Query(max_length=200, description="Part of the id or of any value.")
    ] = None,
    split: Annotated[
        Literal["train", "validation", "test", "none"] | None, Query(description="Only these.")
    ] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> SuiteItemPage:
    """The rows of a suite's dataset, each with the split that a run gives it."""
    place = _place(decode_cursor(_POSITION, cursor))
    found = await read_items(
        serving.workspace,
        serving.project,
        await suites.get(suite),
        text=q,
        split=split,
        after=place,
        limit=limit + 1,
    )
    shown = found.rows[:limit]
    more = len(found.rows) > limit
    return SuiteItemPage(
        items=[RowView.of(one) for one in shown],
        next_cursor=encode_cursor(_POSITION, (shown[-1].position,) if more else None),
        total=found.total,
        splits=dict(found.splits),
    )


def _place(after: list[Any] | None) -> int:
    if after is None:
        return -1
    if len(after) != 1 or type(after[0]) is not int:
        raise UsageError(
            what="the cursor cannot be used",
            why="it belongs to another list",
            fix="take `next_cursor` from the page before",
            code="invalid_cursor",
        )
    place: int = after[0]
    return place
