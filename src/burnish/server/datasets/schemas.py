"""Datasets, their rows, and regression cases."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.datasets.regression_cases import CasesRequest, Which
from burnish.app.datasets.uploads import StoredUpload
from burnish.domain import DatasetRecord
from burnish.domain.dataset_pages import DatasetRow
from burnish.server.http import examples
from burnish.server.http.requests import NewName, Strict
from burnish.server.http.responses import View

_ID = "0199d1c8-6a11-7c02-8f5e-0c4d2b1a9e33"
_DATASET: dict[str, Any] = {
    "dataset_id": _ID,
    "name": "reviews",
    "items": 120,
    "fingerprint": "9b1d…",
    "created_at": examples.MOMENT,
}
Identity = Annotated[str, Field(min_length=1, max_length=100)]


class DatasetView(View):
    """One content of a dataset: the same name with other rows is another dataset."""

    model_config = ConfigDict(json_schema_extra={"examples": [_DATASET]})

    dataset_id: str
    name: str
    items: int
    fingerprint: str
    created_at: str

    @classmethod
    def of(cls, record: DatasetRecord) -> DatasetView:
        """From its record."""
        return cls(**_fields(record))


class DatasetPage(BaseModel):
    """Some datasets; `next_cursor` is None on the last page."""

    items: list[DatasetView]
    next_cursor: str | None


class RowNote(View):
    """Something odd about a row that was left out or kept all the same."""

    where: str = Field(examples=["line 7"])
    kind: str = Field(examples=["duplicate_row"])
    message: str


class StoredDataset(DatasetView):
    """A dataset that was sent. `created` is false when its content was here before."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{**_DATASET, "created": True, "warnings": []}]}
    )

    created: bool
    warnings: list[RowNote] = Field(description="The first hundred.")

    @classmethod
    def of_upload(cls, stored: StoredUpload) -> StoredDataset:
        """From what was kept."""
        return cls(**_upload(stored))


class RowView(View):
    """A row. `origin` tells which run a regression case came from."""

    item_id: str
    position: int
    split: str | None
    data: dict[str, Any]
    origin: dict[str, Any] | None

    @classmethod
    def of(cls, row: DatasetRow) -> RowView:
        """From a line of a page."""
        return cls(
            item_id=row.item.id,
            position=row.position,
            split=row.item.split,
            data=dict(row.item.data),
            origin=None if row.origin is None else dict(row.origin),
        )


class RowPage(BaseModel):
    """Some rows; `next_cursor` is None on the last page."""

    items: list[RowView]
    next_cursor: str | None


class NewCases(Strict):
    """Items of an experiment that are to be kept as regression cases."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "reviews-regressions",
                    "experiment_id": examples.EXPERIMENT_ID,
                    "which": "failing",
                }
            ]
        }
    )

    name: NewName
    experiment_id: Identity = Field(
        description="An evaluation, or the trial of a candidate (`experiment_id` there)."
    )
    which: Which = Field(default=Which.FAILING, strict=False)
    baseline_experiment_id: Identity | None = Field(
        default=None,
        description="What regressed items passed in; else the baseline of the optimization.",
    )
    into: Identity | None = Field(
        default=None, description="A dataset whose rows come first; it stays as it is."
    )

    def request(self) -> CasesRequest:
        """As regression cases take it."""
        return CasesRequest(
            name=self.name,
            experiment_id=self.experiment_id,
            which=self.which,
            baseline_experiment_id=self.baseline_experiment_id,
            into=self.into,
        )


class StoredCases(StoredDataset):
    """The dataset with the cases, and how many of its rows are new."""

    added: int

    @classmethod
    def of_cases(cls, stored: StoredUpload, added: int) -> StoredCases:
        """From what was kept."""
        return cls(**_upload(stored), added=added)


def _fields(record: DatasetRecord) -> dict[str, Any]:
    return {
        "dataset_id": record.id,
        "name": record.name,
        "items": record.items,
        "fingerprint": record.fingerprint,
        "created_at": record.created_at,
    }


def _upload(stored: StoredUpload) -> dict[str, Any]:
    notes = [
        RowNote(where=one.place, kind=one.kind.value, message=one.message)
        for one in stored.warnings
    ]
    return {**_fields(stored.record), "created": stored.created, "warnings": notes}
