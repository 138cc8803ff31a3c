"""Suites: a dataset, scorers and a policy, of the server's configuration or of the registry."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query
from pydantic import Field

from burnish.app.datasets.suites import KnownSuite, SuiteRegistry, read_items
from burnish.evaluation.power import compared_items, detectable_gain, detectable_words
from burnish.server.datasets import Identity, RowView
from burnish.server.evaluations.schemas import (
    NewRefineTable,
    NewUserTable,
    RefineTableView,
    UserTableView,
)
from burnish.server.http.errors import errors
from burnish.server.http.requests import (
    Cursor,
    ExpectedVersion,
    JsonObject,
    Limit,
    NewName,
    Person,
    Strict,
    decode_cursor,
    decode_place,
    encode_cursor,
)
from burnish.server.http.responses import Page, View
from burnish.server.http.services import Serving

router = APIRouter(prefix="/v1/private/suites", tags=["suites"])
_POLICY = (
    *("scorers", "split", "split_seed", "stratify_by"),
    *("repeats", "pass_threshold", "mode", "refine", "user", "pictures"),
)
_ORDER, _POSITION = "suite", "position"
SuiteName = Annotated[str, Path(min_length=1, max_length=200, description="Its id or name.")]


class NewSuite(Strict):
    """A suite on a stored dataset. Sent again with changes it becomes a new version."""

    name: NewName
    dataset_id: Identity
    scorers: Annotated[list[JsonObject], Field(min_length=1, max_length=50)] = Field(
        description="Built-in kinds with their settings; code and files stand in burnish.toml."
    )
    split: dict[Literal["train", "validation", "test"], float] | Literal["field"] | None = None
    split_seed: Annotated[int, Field(ge=0, lt=2**53)] = 0
    stratify_by: Annotated[str, Field(max_length=200)] | None = None
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    pass_threshold: float | None = Field(
        default=None,
        description="An item passes from this score; without it by the word of its scorers.",
    )
    mode: Literal["llm", "schema"] = "llm"
    refine: NewRefineTable | None = Field(
        default=None, description="How single outputs are refined during LLM-judged evaluation."
    )
    user: NewUserTable | None = Field(
        default=None, description="Who talks with the agent, where items are conversations."
    )
    pictures: Annotated[list[str], Field(max_length=20)] = Field(
        default_factory=list, description="Columns with pictures, as data URLs."
    )
    author: Person | None = None
    expected_version: ExpectedVersion = None

    def policy(self) -> dict[str, Any]:
        """What stands beside name and dataset."""
        return {name: getattr(self, name) for name in _POLICY} | {
            "refine": None if self.refine is None else self.refine.model_dump(),
            "user": None if self.user is None else self.user.model_dump(),
        }


class SuiteView(View):
    """A suite. That of the configuration has version 0, and a file of the server's for dataset."""

    suite_id: str
    name: str
    version: int
    source: Literal["configuration", "registry"]
    dataset_id: str | None
    scorers: list[str | dict[str, Any]]
    split: dict[str, float] | str | None
    split_seed: int
    stratify_by: str | None
    repeats: int
    pass_threshold: float | None
    mode: str
    refine: RefineTableView | None
    user: UserTableView | None
    pictures: list[str]
    author: str
    created_at: str

    @classmethod
    def of(cls, suite: KnownSuite) -> SuiteView:
        """From the registry."""
        return cls.read(
            suite,
            suite_id=suite.id,
            source="configuration" if suite.configured else "registry",
            **suite.table.model_dump(include=set(_POLICY)),
        )


class SuitePage(Page[SuiteView]):
    """Some suites; `next_cursor` is None on the last page."""


class SuiteItemPage(Page[RowView]):
    """Some rows; `total` is of all that fit, `splits` counts the whole dataset.

    `detectable` is the least gain that the items of a comparison can show, those held out where there
    are any, and `power` says it in words.
    """

    total: int
    splits: dict[str, int] = Field(examples=[{"train": 48, "validation": 48, "test": 24}])
    detectable: float | None
    power: str


async def _suites(serving: Serving) -> SuiteRegistry:
    return SuiteRegistry(serving.workspace, serving.project)


Suites = Annotated[SuiteRegistry, Depends(_suites)]


@router.get("", responses=errors())
async def list_suites(suites: Suites, limit: Limit = 50, cursor: Cursor = None) -> SuitePage:
    """Suites, that of the server's configuration first."""
    page = await suites.page(limit=limit, after=decode_cursor(_ORDER, cursor))
    return SuitePage.of(page, SuiteView.of, _ORDER)


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


@router.delete("/{suite}", responses=errors(404, 409))
async def delete_suite(suites: Suites, suite: SuiteName) -> SuiteView:
    """Take a suite away that nothing uses, and say what it was; results on it stay."""
    return SuiteView.of(await suites.delete(suite))


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
    place = decode_place(_POSITION, cursor, int)
    found = await read_items(
        serving.workspace,
        serving.project,
        await suites.get(suite),
        text=q,
        split=split,
        after=-1 if place is None else place[0],
        limit=limit + 1,
    )
    shown = found.rows[:limit]
    more = len(found.rows) > limit
    compared = compared_items(found.splits)
    return SuiteItemPage(
        items=[RowView.of(one) for one in shown],
        next_cursor=encode_cursor(_POSITION, (shown[-1].position,) if more else None),
        total=found.total,
        splits=dict(found.splits),
        detectable=detectable_gain(compared[0]),
        power=detectable_words(*compared),
    )
