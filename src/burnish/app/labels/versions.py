"""Versions of label sets: agreement of people, what they say together, and labels as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from burnish.app.datasets.stored import load_dataset
from burnish.app.datasets.uploads import store_rows
from burnish.app.labels.label_sets import require_person
from burnish.app.wiring import Workspace
from burnish.domain import Json, UsageError, exact_hash
from burnish.domain.errors import RowsError
from burnish.domain.labels import (
    COMMENT,
    Label,
    LabelItem,
    LabelRules,
    LabelSet,
    LabelState,
    LabelVersion,
)
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.datasets.problems import RowProblem
from burnish.evaluation.datasets.sources import FileRows
from burnish.evaluation.judging.people import (
    PeopleAgreement,
    as_label,
    decided,
    people_agreement,
    read_value,
)

REFERENCE = "labels:"
_LONGEST_COMMENT = 2000
_LISTED = 100
_COLUMNS = ("item_id", "person", "label", "comment", "at")
# Columns of a version's rows; those of the item that are called so get `item_` before their name.
_OWN = ("id", "output", "other", "label", COMMENT)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """An item with all that people said of it; `label` is what they say together."""

    item: LabelItem
    labels: Sequence[Label] = field(default_factory=tuple)
    label: Json = None


async def read_agreement(
    workspace: Workspace, label_set: LabelSet, *, limit: int = 50
) -> tuple[PeopleAgreement, list[LabelRow]]:
    """How people agree, and the first items on which they differ."""
    every = await _labelled(workspace, label_set)
    given: dict[str, dict[str, Json]] = {}
    for one in every:
        given.setdefault(one.person, {})[one.item_id] = one.value
    found = people_agreement(label_set.rules, given)
    items = await workspace.labels.items(label_set.id, found.differing[:limit])
    return found, _rows(label_set.rules, items, every)


async def _labelled(workspace: Workspace, label_set: LabelSet) -> list[Label]:
    every = await workspace.labels.labels(label_set.id)
    return [one for one in every if one.state is LabelState.LABELLED]


def _rows(rules: LabelRules, items: Sequence[LabelItem], labels: Sequence[Label]) -> list[LabelRow]:
    by_item: dict[str, list[Label]] = {}
    for one in labels:
        by_item.setdefault(one.item_id, []).append(one)
    found = []
    for item in items:
        mine = by_item.get(item.id, [])
        label = decided(rules, [one.value for one in mine]) if mine else None
        found.append(LabelRow(item=item, labels=mine, label=label))
    return found


async def make_version(
    workspace: Workspace, label_set: LabelSet, *, author: str = "", note: str = ""
) -> LabelVersion:
    """What people say now, as a version with a dataset of its own; the same again is that version."""
    labels = await _labelled(workspace, label_set)
    items = await workspace.labels.items(label_set.id, sorted({one.item_id for one in labels}))
    rows = _rows(label_set.rules, items, labels)
    sure = [row for row in rows if row.label is not None]
    if not sure:
        raise UsageError(
            what=f"no version of {label_set.name!r} was made",
            why="people are split on each item" if rows else "nothing is labelled yet",
            fix="label some items first",
            code="no_labels",
        )
    dataset = Dataset.of([_dataset_row(label_set.rules, row) for row in sure], name=label_set.name)
    stored = (await store_rows(workspace, dataset)).record
    origins = {row.item.id: {"label_set": label_set.name, **row.item.origin} for row in sure}
    await workspace.dataset_pages.add_origins(stored.id, origins)
    given: list[list[Json]] = [[one.item_id, one.person, one.value, one.comment] for one in labels]
    version = LabelVersion(
        version=0,
        digest=exact_hash([label_set.rules.to_json(), stored.fingerprint, given]),
        dataset_id=stored.id,
        rows=len(sure),
        labels=len(labels),
        undecided=len(rows) - len(sure),
        people=tuple(sorted({one.person for one in labels})),
        author=author,
        note=note,
    )
    return await workspace.labels.add_version(label_set.id, version, given)


def _dataset_row(rules: LabelRules, row: LabelRow) -> dict[str, Json]:
    item = row.item
    own: dict[str, Json] = {"id": item.id, "output": item.output, "other": item.other}
    own["label"] = as_label(rules, row.label)
    # Alone the comment says it all; of several, each with its label, the names left out.
    said = [
        one.comment if len(row.labels) == 1 else f"{one.value}: {one.comment}"
        for one in row.labels
        if one.comment
    ]
    own[COMMENT] = "\n".join(said) or None
    fields = {f"item_{name}" if name in _OWN else name: value for name, value in item.data.items()}
    return {**fields, **{name: value for name, value in own.items() if value is not None}}


async def find_version(
    workspace: Workspace, reference: str
) -> tuple[LabelSet, LabelVersion | None]:
    """The set and version of `NAME` or `NAME@VERSION`; without a number the newest, if there is any."""
    name, _, number = reference.removeprefix(REFERENCE).partition("@")
    label_set = await workspace.labels.get(name)
    if number and not number.isdecimal():
        raise UsageError(
            what=f"the labels {reference!r} cannot be found",
            why=f"{number!r} is no version",
            fix="write NAME or NAME@2",
            code="not_found",
        )
    wanted = int(number) if number else label_set.last_version
    if not wanted:
        return label_set, None
    return label_set, (await workspace.labels.version(label_set.id, wanted))[0]


async def version_rows(workspace: Workspace, reference: str) -> tuple[LabelSet, Dataset]:
    """The rows of a version; of a set that has none yet, of one that is made now."""
    label_set, version = await find_version(workspace, reference)
    if version is None:
        version = await make_version(workspace, label_set)
    return label_set, await load_dataset(workspace.datasets, version.dataset_id)


def labels_csv(labels: Sequence[Label], *, history: bool = False) -> str:
    """A line a label; with `history` also skipped and withdrawn ones, and what was said before."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*_COLUMNS, "state", "counts"] if history else _COLUMNS)
    for one in labels:
        if not history and one.state is not LabelState.LABELLED:
            continue
        line = [one.item_id, one.person, one.value, one.comment, one.created_at]
        writer.writerow([*line, one.state.value, one.current] if history else line)
    return text.getvalue()


async def read_labels(
    workspace: Workspace, label_set: LabelSet, path: Path, *, person: str | None = None
) -> tuple[int, int]:
    """Labels of a file (CSV, JSON Lines), all or none: how many there are, and how many are new.

    Columns are `item_id` (or `id`), `label`, `person` unless it is given, and `comment`. Rows without
    a label are left out.
    """
    known = set(await workspace.labels.item_ids(label_set.id))
    labels: dict[tuple[str, str], Label] = {}
    problems: list[tuple[str, str]] = []
    source = FileRows(path)
    for row in source.read():
        if isinstance(row, RowProblem):
            if row.fatal:
                problems.append((row.place, row.message))
            continue
        try:
            one = _read_row(label_set.rules, row.value, known, person)
            if one is None:
                continue
            if (one.item_id, one.person) in labels:
                raise ValueError(f"{one.person} has another label of {one.item_id!r:.80} above")
            labels[one.item_id, one.person] = one
        except (ValueError, UsageError) as error:
            why = error.why if isinstance(error, UsageError) else str(error)
            problems.append((f"{source.unit} {row.line}", why))
    if problems:
        raise RowsError(
            what=f"{len(problems)} row{'s' * (len(problems) != 1)} cannot be used, and nothing was "
            "kept",
            why="; ".join(f"{place}: {why}" for place, why in problems[:5]),
            fix="correct those rows, then give all of it again",
            code="bad_label",
            problems=problems[:_LISTED],
        )
    return len(labels), await workspace.labels.write(label_set.id, list(labels.values()))


def _read_row(rules: LabelRules, row: Any, known: set[str], person: str | None) -> Label | None:
    if not isinstance(row, dict):
        raise ValueError("it is no object")  # noqa: TRY004 - as every other mistake of a row
    item_id = str(row.get("item_id") or row.get("id") or "")
    if row.get("label") in (None, ""):
        return None
    if item_id not in known:
        raise ValueError(f"the set has no item {item_id!r:.80}")
    comment = str(row.get("comment") or "").strip()
    if len(comment) > _LONGEST_COMMENT:
        raise ValueError(f"the comment is longer than {_LONGEST_COMMENT:,} characters")
    return Label(
        item_id=item_id,
        person=require_person(person or str(row.get("person") or "")),
        value=read_value(rules, row["label"]),
        comment=comment,
    )
