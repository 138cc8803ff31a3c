"""Suites that a server knows: that of its configuration, those made over HTTP, and their items."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnish.app.agents.registry import written_in_file
from burnish.app.datasets.stored import load_dataset, stored_id, stored_reference, with_stored_rows
from burnish.app.wiring import ModelPool, Workspace, build_suite
from burnish.config.schema import Settings, SuiteTable
from burnish.config.served_project import ServedProject, require_own_models, suite_name
from burnish.domain import ConflictError, Item, UsageError
from burnish.domain.experiments.repositories import DatasetRow
from burnish.domain.pages import Page
from burnish.domain.registry import ObjectKind, ObjectVersion
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.scorers.assert_checks import WHY_SLOW, may_take_for_ever
from burnish.support.names import require_name

_CODE_KINDS = ("python", "function")


def require_harmless(scorers: Sequence[Mapping[str, Any]]) -> None:
    """Refuse what would run code, read files of the server, or may never end."""
    for scorer in scorers:
        kind = scorer.get("kind")
        if kind in _CODE_KINDS or not isinstance(kind, str) or ":" in kind:
            raise _refused(f"a scorer of the kind {str(kind)[:80]!r} is code", "code_not_allowed")
        if kind == "weighted":
            parts = scorer.get("scorers")
            if not isinstance(parts, list) or not all(isinstance(one, dict) for one in parts):
                raise _refused("the parts of a weighted scorer are a list of objects")
            require_harmless(parts)
        if kind == "json_schema" and not isinstance(scorer.get("schema"), Mapping):
            raise _refused("the schema of a json_schema scorer is an object here, and no file")
        if not isinstance(scorer.get("criteria", ""), str):
            raise _refused("the criteria of a judge are text here, and no file")
        if kind == "regex":
            _require_quick(scorer)


def _require_quick(scorer: Mapping[str, Any]) -> None:
    pattern = scorer.get("pattern")
    if not isinstance(pattern, str):
        raise _refused("a regex scorer has its pattern here, and not in the rows")
    if may_take_for_ever(pattern):
        raise _refused(WHY_SLOW)


def _refused(why: str, code: str = "scorer_not_allowed") -> UsageError:
    return UsageError(
        what="the suite's scorers cannot be used",
        why=why,
        fix="use built-in kinds; scorers with code or files stand in the server's burnish.toml",
        code=code,
    )


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
        if own is None and wanted is not None:
            own = await asyncio.to_thread(self._project.own)
        elif own is None:
            own = await asyncio.to_thread(self._project.settings)
        mine = None if own is None or not suite_name(own) else own_suite(own)
        if mine is not None and wanted in (None, mine.id, mine.name):
            return mine
        if wanted is None:
            raise UsageError(
                what="no suite is named",
                why="the server has no burnish.toml whose own it could take",
                fix="name one of GET /v1/private/suites, or make it there first",
                code="no_suite",
            )
        objects = self._workspace.objects
        try:
            return _known(await objects.find(ObjectKind.SUITE, wanted))
        except UsageError:
            return _known(await objects.get(ObjectKind.SUITE, wanted))

    async def page(self, *, limit: int, after: Sequence[Any] | None) -> Page[KnownSuite]:
        """That of the configuration first, then the others by name."""
        own = await asyncio.to_thread(self._project.own)
        first = [] if after is not None or own is None else [own_suite(own)]
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
        require_own_models(values.get("user") or {}, own, of="user")
        table = SuiteTable(name=name, dataset=stored_reference(dataset_id), **values)
        rows = await load_dataset(self._workspace.datasets, dataset_id)
        async with ModelPool(own.models) as pool:
            await asyncio.to_thread(_require_fit, own, table, rows, pool)
        saved = await self._workspace.objects.save(
            ObjectKind.SUITE,
            name,
            _document(table),
            author=author,
            expected_version=expected_version,
        )
        return _known(saved)

    async def delete(self, wanted: str) -> KnownSuite:
        """Take a suite away, and say what it was; results on it stay."""
        suite = await self.get(wanted)
        if suite.configured:
            raise written_in_file("suite", suite.name)
        stored = await self._workspace.objects.find(ObjectKind.SUITE, suite.id)
        await self._workspace.removals.suite(stored)
        return suite


def own_suite(own: Settings) -> KnownSuite:
    """The suite of the configuration; its id follows from its name."""
    name = suite_name(own)
    return KnownSuite(id=str(uuid.uuid5(_NAMESPACE, name)), name=name, version=0, table=own.suite)


def _require_fit(own: Settings, table: SuiteTable, rows: Dataset, pool: ModelPool) -> None:
    """Refuse what no run could use."""
    settings = own.model_copy(update={"suite": table}).with_rows(rows)
    suite = build_suite(settings.suite_spec(), pool.model)
    suite.scorers.require_fields(rows.index().fields)
    suite.splits()


def _document(table: SuiteTable) -> dict[str, Any]:
    """What is stored. Without what came later it is the document of before, and so equal."""
    document = table.model_dump()
    return {
        name: value
        for name, value in document.items()
        if name not in _LATER or value not in (None, [])
    }


def _known(stored: ObjectVersion) -> KnownSuite:
    return KnownSuite(
        id=stored.id,
        name=stored.name,
        version=stored.version,
        table=SuiteTable.model_validate(dict(stored.document)),
        author=stored.author,
        created_at=stored.created_at,
    )


UNSPLIT = "none"
_LATER = ("refine", "user", "pictures")


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteItems:
    """Some items by their place in the dataset; `total` is of all that were asked for."""

    rows: Sequence[DatasetRow]
    total: int
    splits: Mapping[str, int]


async def read_items(
    workspace: Workspace,
    project: ServedProject,
    suite: KnownSuite,
    *,
    text: str | None = None,
    split: str | None = None,
    after: int = -1,
    limit: int = 50,
) -> SuiteItems:
    """Items past a place, with a text in them and of a split where these are given."""
    own = await asyncio.to_thread(project.settings)
    settings = own.model_copy(update={"suite": suite.table})
    settings = await with_stored_rows(workspace, settings)
    async with ModelPool(own.models) as pool:
        every, splits = await asyncio.to_thread(_items, settings, pool)
    counts = Counter(splits.get(one.id, UNSPLIT) for one in every)
    chosen = await asyncio.to_thread(_chosen, every, splits, text, split)
    shown = [one for one in chosen if one.position > after][:limit]
    return SuiteItems(rows=shown, total=len(chosen), splits=counts)


def _items(settings: Settings, pool: ModelPool) -> tuple[list[Item], Mapping[str, str]]:
    suite = build_suite(settings.suite_spec(), pool.model)
    return list(suite.dataset.items()), suite.splits()


def _chosen(
    items: Sequence[Item], splits: Mapping[str, str], text: str | None, split: str | None
) -> list[DatasetRow]:
    wanted = text.lower() if text else ""
    found = []
    for position, one in enumerate(items):
        own = splits.get(one.id)
        if split is not None and (own or UNSPLIT) != split:
            continue
        if wanted and not _holds(one, wanted):
            continue
        found.append(DatasetRow(position=position, item=Item(id=one.id, data=one.data, split=own)))
    return found


def _holds(item: Item, wanted: str) -> bool:
    if wanted in item.id.lower():
        return True
    return wanted in json.dumps(dict(item.data), ensure_ascii=False).lower()
