"""Suites that a server knows: that of its configuration, and those that were made over HTTP."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.app.builders import build_suite
from burnish.app.datasets.requested_scorers import require_harmless
from burnish.app.datasets.stored import load_dataset, stored_id, stored_reference
from burnish.app.model_pool import ModelShelf
from burnish.app.names import require_name
from burnish.app.wiring import Workspace
from burnish.config.schema import Settings, SuiteTable
from burnish.config.served_project import ServedProject, require_own_models, suite_name
from burnish.domain import ConflictError, UsageError
from burnish.domain.configured_objects import ObjectKind, ObjectVersion
from burnish.domain.read_models import Page
from burnish.evaluation.datasets import Dataset

# Any fixed value: it only keeps our ids apart from other uses of UUIDv5.
_NAMESPACE = uuid.UUID("9a0b7b1e-3c55-5f0a-8a3f-2d9f6f3c1b77")
_START: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownSuite:
    """A suite. Version 0 is that of the configuration, which is read anew each time."""

    id: str
    name: str
    version: int
    table: SuiteTable
    author: str = ""
    created_at: str = ""

    @property
    def configured(self) -> bool:
        """Whether it stands in the server's burnish.toml."""
        return self.version == 0

    @property
    def dataset_id(self) -> str | None:
        """The stored dataset; None when it is a file of the server."""
        return stored_id(self.table.dataset)


class SuiteRegistry:
    """Makes and finds suites."""

    def __init__(self, workspace: Workspace, project: ServedProject) -> None:
        self._workspace = workspace
        self._project = project

    async def get(self, wanted: str | None, own: Settings | None = None) -> KnownSuite:
        """By id or name; without either, that of the configuration."""
        if own is None:
            own = await asyncio.to_thread(self._project.settings)
        mine = own_suite(own)
        if wanted in (None, mine.id, mine.name):
            return mine
        assert wanted is not None
        objects = self._workspace.objects
        try:
            return _known(await objects.find(ObjectKind.SUITE, wanted))
        except UsageError:
            return _known(await objects.get(ObjectKind.SUITE, wanted))

    async def page(self, *, limit: int, after: Sequence[Any] | None) -> Page[KnownSuite]:
        """That of the configuration first, then the others by name."""
        own = own_suite(await asyncio.to_thread(self._project.settings))
        first = [] if after is not None else [own]
        if len(first) >= limit:
            return Page(items=first, next=_START)
        found = await self._workspace.objects.page(
            ObjectKind.SUITE, limit=limit - len(first), after=after
        )
        return Page(items=[*first, *map(_known, found.items)], next=found.next)

    async def save(
        self,
        name: str,
        dataset_id: str,
        values: Mapping[str, Any],
        *,
        author: str,
        expected_version: int | None,
    ) -> KnownSuite:
        """A new suite, or a new version of it; checked as a run would check it."""
        require_name("suite", name)
        own = await asyncio.to_thread(self._project.settings)
        if name == suite_name(own):
            raise ConflictError(
                what=f"the suite {name!r} was not made",
                why="the server's configuration has one of that name",
                fix="choose another name, or change it in burnish.toml",
                code="name_taken",
            )
        require_harmless(values["scorers"])
        require_own_models({"scorers": values["scorers"]}, own, of="scorer")
        require_own_models(values.get("refine") or {}, own, of="refinement")
        table = SuiteTable(name=name, dataset=stored_reference(dataset_id), **values)
        rows = await load_dataset(self._workspace.datasets, dataset_id)
        async with ModelShelf(own.models) as shelf:
            await asyncio.to_thread(_require_fit, own, table, rows, shelf)
        saved = await self._workspace.objects.save(
            ObjectKind.SUITE,
            name,
            _document(table),
            author=author,
            expected_version=expected_version,
        )
        return _known(saved)


def own_suite(own: Settings) -> KnownSuite:
    """The suite of the configuration; its id follows from its name."""
    name = suite_name(own)
    return KnownSuite(id=str(uuid.uuid5(_NAMESPACE, name)), name=name, version=0, table=own.suite)


def _require_fit(own: Settings, table: SuiteTable, rows: Dataset, shelf: ModelShelf) -> None:
    """Refuse what no run could use."""
    settings = own.model_copy(update={"suite": table}).placed_in(own.folder).with_rows(rows)
    suite = build_suite(settings.suite_spec(), shelf.model)
    missing = suite.scorers.missing_fields(rows.index().fields)
    if missing:
        columns = ", ".join(sorted(rows.index().fields))
        raise UsageError(
            what="the scorers cannot compare",
            why=f"the dataset has no column {min(missing)!r}; it has {columns}",
            fix="correct the scorer's `field`, or upload rows that have the column",
            code="unknown_field",
        )
    suite.splits()


def _document(table: SuiteTable) -> dict[str, Any]:
    """What is stored. Without refinement it is the document of before there was any, and so equal."""
    document = table.model_dump()
    if document["refine"] is None:
        del document["refine"]
    return document


def _known(stored: ObjectVersion) -> KnownSuite:
    return KnownSuite(
        id=stored.id,
        name=stored.name,
        version=stored.version,
        table=SuiteTable.model_validate(dict(stored.document)),
        author=stored.author,
        created_at=stored.created_at,
    )
