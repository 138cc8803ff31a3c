"""Suites: a dataset, scorers and a policy."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.datasets.suites import KnownSuite
from burnish.server.datasets.schemas import Identity, RowView
from burnish.server.evaluations.refinement_schemas import NewRefineTable, RefineTableView
from burnish.server.http import examples
from burnish.server.http.requests import ExpectedVersion, JsonObject, NewName, Person, Strict
from burnish.server.http.responses import View

_POLICY: dict[str, Any] = {
    "scorers": [{"kind": "exact_match", "field": "label"}],
    "split": {"train": 0.4, "validation": 0.4, "test": 0.2},
    "split_seed": 0,
    "stratify_by": None,
    "repeats": 1,
    "pass_threshold": 1.0,
    "mode": "llm",
    "refine": None,
}
_DATASET_ID = "0199d1c8-6a11-7c02-8f5e-0c4d2b1a9e33"
_SUITE: dict[str, Any] = {
    "suite_id": "0199d1c8-70aa-7b1e-9d0f-5b3a1c2d4e5f",
    "name": "short-reviews",
    "version": 1,
    "source": "registry",
    "dataset_id": _DATASET_ID,
    **_POLICY,
    "author": "ada",
    "created_at": examples.MOMENT,
}


class NewSuite(Strict):
    """A suite on a stored dataset. Sent again with changes it becomes a new version."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "short-reviews", "dataset_id": _DATASET_ID, **_POLICY}]
        }
    )

    name: NewName
    dataset_id: Identity
    scorers: Annotated[list[JsonObject], Field(min_length=1, max_length=50)] = Field(
        description="Built-in kinds with their settings; code and files stand in burnish.toml."
    )
    split: dict[Literal["train", "validation", "test"], float] | Literal["field"] | None = None
    split_seed: Annotated[int, Field(ge=0, lt=2**53)] = 0
    stratify_by: Annotated[str, Field(max_length=200)] | None = None
    repeats: Annotated[int, Field(ge=1, le=100)] = 1
    pass_threshold: float = 1.0
    mode: Literal["llm", "schema"] = "llm"
    refine: NewRefineTable | None = Field(
        default=None, description="How single outputs are refined during LLM-judged evaluation."
    )
    author: Person | None = None
    expected_version: ExpectedVersion = None

    def policy(self) -> dict[str, Any]:
        """What stands beside name and dataset."""
        return {name: getattr(self, name) for name in _POLICY} | {
            "refine": None if self.refine is None else self.refine.model_dump()
        }


class SuiteView(View):
    """A suite. That of the configuration has version 0, and a file of the server's for dataset."""

    model_config = ConfigDict(json_schema_extra={"examples": [_SUITE]})

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
    pass_threshold: float
    mode: str
    refine: RefineTableView | None
    author: str
    created_at: str

    @classmethod
    def of(cls, suite: KnownSuite) -> SuiteView:
        """From the registry."""
        return cls(
            suite_id=suite.id,
            name=suite.name,
            version=suite.version,
            source="configuration" if suite.configured else "registry",
            dataset_id=suite.dataset_id,
            author=suite.author,
            created_at=suite.created_at,
            **suite.table.model_dump(include=set(_POLICY)),
        )


class SuitePage(BaseModel):
    """Some suites; `next_cursor` is None on the last page."""

    items: list[SuiteView]
    next_cursor: str | None


class SuiteItemPage(BaseModel):
    """Some rows; `total` is of all that fit, `splits` counts the whole dataset."""

    items: list[RowView]
    next_cursor: str | None
    total: int
    splits: dict[str, int] = Field(examples=[{"train": 48, "validation": 48, "test": 24}])
