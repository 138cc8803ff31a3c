"""Schemas of label sets: what is asked for, and what whoever labels is shown and is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from burnish.app.labels.label_sets import LabelSource, TaskPage
from burnish.app.labels.versions import LabelRow
from burnish.domain.labels import LabelKind, LabelRules, LabelSet, LabelState, LabelVersion
from burnish.evaluation.judging.agreement import Estimate
from burnish.server.datasets import Identity
from burnish.server.http.requests import NewName, Note, Person, Strict
from burnish.server.http.responses import Page, View


class NewLabelSet(Strict):
    """What is to be labelled: the outputs of an experiment, of two, or a stored dataset's rows."""

    name: NewName
    kind: LabelKind = Field(strict=False)
    experiment_id: Identity | None = None
    other_experiment_id: Identity | None = Field(
        default=None, description="For preferences: the outputs that those are compared with."
    )
    dataset_id: Identity | None = None
    output: Identity = "output"
    other: Identity = "other"
    fields: Annotated[list[str], Field(max_length=100)] | None = Field(
        default=None, description="The columns that people see; without it all but judgements."
    )
    classes: Annotated[list[Identity], Field(max_length=10)] = Field(default_factory=list)
    low: Annotated[int, Field(ge=0, le=100)] = 1
    high: Annotated[int, Field(ge=0, le=100)] = 5
    instructions: Note = ""
    limit: Annotated[int, Field(ge=1, le=10_000)] | None = None
    seed: Annotated[int, Field(ge=0, lt=2**53)] | None = Field(
        default=None, description="Decides each person's order and the sides; else drawn at random."
    )
    author: Person | None = None

    def rules(self) -> LabelRules:
        """What a label may be."""
        return LabelRules(
            kind=self.kind,
            classes=tuple(self.classes),
            low=self.low,
            high=self.high,
            instructions=self.instructions,
        )

    def source(self) -> LabelSource:
        """What it is made of."""
        return LabelSource(
            experiment=self.experiment_id,
            other_experiment=self.other_experiment_id,
            dataset_id=self.dataset_id,
            output=self.output,
            other=self.other,
            fields=None if self.fields is None else tuple(self.fields),
            limit=self.limit,
        )


class LabelProgress(View):
    """How much a person has done."""

    person: str
    labelled: int
    skipped: int


class LabelVersionView(View):
    """The labels of a moment. `digest` is of all that they say; `dataset_id` names the rows."""

    version: int
    digest: str
    dataset_id: str
    rows: int
    labels: int
    undecided: int
    people: list[str]
    author: str
    note: str
    created_at: str

    @classmethod
    def of(cls, version: LabelVersion) -> LabelVersionView:
        """From its record."""
        return cls.read(version, people=list(version.people))


class LabelSetView(View):
    """A label set. `source` tells who wrote what is labelled, so it is not for whoever labels."""

    label_set_id: str
    name: str
    kind: LabelKind
    classes: list[str]
    low: int
    high: int
    instructions: str
    items: int
    last_version: int
    author: str
    created_at: str
    people: list[LabelProgress]
    source: dict[str, Any]
    left_out: dict[str, int] = Field(description="Of a new set, by why.")

    @classmethod
    def of(
        cls,
        found: LabelSet,
        progress: Mapping[str, Counter[LabelState]],
        left_out: Mapping[str, int] | None,
    ) -> LabelSetView:
        """With how much each person has done."""
        people = [
            LabelProgress(
                person=person,
                labelled=states[LabelState.LABELLED],
                skipped=states[LabelState.SKIPPED],
            )
            for person, states in progress.items()
        ]
        return cls.read(
            found,
            found.rules,
            label_set_id=found.id,
            people=people,
            classes=list(found.rules.classes),
            left_out=dict(left_out or {}),
        )


class LabelSetPage(Page[LabelSetView]):
    """Some label sets, the newest first."""


class TaskView(View):
    """An item as a person sees it, with what that person said of it; nothing else."""

    position: int
    item_id: str
    fields: dict[str, Any]
    output: str | None
    left: str | None
    right: str | None
    state: LabelState | None
    value: int | str | None
    comment: str


class LabelTasks(View):
    """Some items in the person's own order, and how far the person is."""

    name: str
    kind: LabelKind
    values: list[int | str]
    instructions: str
    total: int
    labelled: int
    skipped: int
    next_open: int | None
    tasks: list[TaskView]

    @classmethod
    def of(cls, found: LabelSet, page: TaskPage) -> LabelTasks:
        """What the page of labelling is sent, and no more."""
        rules = found.rules
        preference = rules.kind is LabelKind.PREFERENCE
        values = ["left", "right", "tie"] if preference else list(rules.values)
        tasks = [TaskView.read(one) for one in page.tasks]
        return cls.read(page, rules, name=found.name, values=values, tasks=tasks)


class NewLabel(Strict):
    """What a person says of an item. Of two outputs the value is left, right or tie, as shown."""

    item_id: Annotated[str, Field(min_length=1, max_length=300)]
    person: Annotated[str, Field(min_length=1, max_length=100)]
    state: LabelState = Field(default=LabelState.LABELLED, strict=False)
    value: int | str | None = None
    comment: Note = ""


class KeptLabel(View):
    """Whether a label says something new; sent again it does not."""

    changed: bool


class LabelUpload(View):
    """How many labels a file had, and how many say something new."""

    labels: int
    new: int


class EstimateView(View):
    """A number with its 95% interval."""

    value: float
    interval: list[float]
    rows: int

    @classmethod
    def of(cls, one: Estimate | None) -> EstimateView | None:
        """None stays None."""
        return None if one is None else cls(**one.to_json())


class PairView(View):
    """How two people agree. Kappa is null where the labels of one of them are all the same."""

    people: list[str]
    rows: int
    agreement: EstimateView
    kappa: EstimateView | None
    distance: EstimateView | None
    confusion: dict[str, dict[str, int]]


class GivenLabel(View):
    """What one person said of an item."""

    person: str
    value: int | str
    comment: str


class DifferingItem(View):
    """An item on which people differ, and what most say; null where they are split evenly."""

    item_id: str
    fields: dict[str, Any]
    output: str | None
    other: str | None
    labels: list[GivenLabel]
    label: float | str | None

    @classmethod
    def of(cls, row: LabelRow) -> DifferingItem:
        """Who wrote the outputs stays out of it."""
        given = [GivenLabel.read(one) for one in row.labels]
        return cls.read(
            row.item, item_id=row.item.id, fields=row.item.data, labels=given, label=row.label
        )


class LabelAgreement(View):
    """How people agree. `unanimous` is the share of items, of the `shared`, on which all do."""

    shared: int
    unanimous: EstimateView | None
    pairs: list[PairView]
    differing: int
    items: list[DifferingItem]


class NewLabelVersion(Strict):
    """What is to be known about a version."""

    author: Person | None = None
    note: Note = ""
