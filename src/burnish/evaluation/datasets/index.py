"""Dataset index: one pass over the rows, what they hold and what is wrong with them."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from burnish.domain import UsageError, exact_hash
from burnish.evaluation.datasets.problems import ProblemKind, ProblemLog, RowProblem
from burnish.evaluation.datasets.rows import RawRow, RefusedRow, Row, take_apart
from burnish.evaluation.datasets.sources import RowSource

_DIGEST = 32
_ID_LENGTH = 16
_FOREIGN_LENGTH = 40


@dataclass(frozen=True, kw_only=True)
class DatasetIndex:
    """What one pass over the rows remembers of them: about 200 bytes a row, whatever its size.

    `lines` is the line (or row number) by item id, in order; `splits` the rows' own split by id;
    `foreign_splits` counts other values of a `split` column; `fields` counts the rows that have
    each column; `skipped` are the lines of empty and repeated rows. Of `problems` and `warnings`
    the first hundred are kept, `counts` has all by kind.
    """

    source: str
    unit: str
    lines: Mapping[str, int]
    splits: Mapping[str, str]
    foreign_splits: Mapping[str, int]
    fields: Mapping[str, int]
    fingerprint: str
    skipped: frozenset[int]
    problems: tuple[RowProblem, ...]
    warnings: tuple[RowProblem, ...]
    counts: Mapping[ProblemKind, int]
    digests: bytes = field(repr=False)
    own_ids: bool = False

    @property
    def columns(self) -> frozenset[str]:
        """What agents, scorers and placeholders find: the fields, and rows' own id and split."""
        own = {"id"} if self.own_ids else set()
        return frozenset({*self.fields, *own, *({"split"} if self.splits else ())})

    @property
    def count(self) -> int:
        """How many items there are."""
        return len(self.lines)

    @cached_property
    def ids(self) -> tuple[str, ...]:
        """Item ids in the rows' order."""
        return tuple(self.lines)

    def item_hash(self, position: int) -> str:
        """The hash of the item at this position, from 0."""
        return self.digests[position * _DIGEST : (position + 1) * _DIGEST].hex()


def build_index(source: RowSource) -> DatasetIndex:
    """Read every row once and check it. Findings are collected, never raised."""
    building = _IndexPass(source)
    for found in source.read():
        building.add(found)
    return building.finish()


class _IndexPass:
    def __init__(self, source: RowSource) -> None:
        self._source = source
        self._log = ProblemLog()
        self._lines: dict[str, int] = {}
        self._content_lines: dict[bytes, int] = {}
        self._splits: dict[str, str] = {}
        self._foreign_splits: Counter[str] = Counter()
        self._fields: Counter[str] = Counter()
        self._skipped: set[int] = set()
        self._digests = bytearray()
        self._own_ids = False
        self._fingerprint = hashlib.sha256()

    def add(self, found: RawRow | RowProblem) -> None:
        if isinstance(found, RowProblem):
            self._log.add(found)
            return
        try:
            row = take_apart(found.value)
            if not row.data:
                raise RefusedRow(ProblemKind.EMPTY_ROW, "the row is empty and is left out")
            digest = bytes.fromhex(_content_hash(row))
            item_id = self._identify(found.line, row, digest)
        except RefusedRow as refused:
            self._report(found.line, refused.kind, refused.message)
            if not refused.kind.fatal:
                self._skipped.add(found.line)
            return
        self._remember(found.line, row, item_id, digest)

    def finish(self) -> DatasetIndex:
        return DatasetIndex(
            source=self._source.label,
            unit=self._source.unit,
            lines=self._lines,
            splits=self._splits,
            foreign_splits=self._foreign_splits,
            fields=self._fields,
            fingerprint=self._fingerprint.hexdigest(),
            skipped=frozenset(self._skipped),
            problems=tuple(self._log.problems),
            warnings=tuple(self._log.warnings),
            counts=self._log.counts,
            digests=bytes(self._digests),
            own_ids=self._own_ids,
        )

    def _identify(self, line: int, row: Row, digest: bytes) -> str:
        unit = self._source.unit
        item_id = row.id or digest.hex()[:_ID_LENGTH]
        twin = self._content_lines.setdefault(digest[:_ID_LENGTH], line)
        if twin != line and row.id is None:
            raise RefusedRow(
                ProblemKind.DUPLICATE_ROW,
                f"the same content as {unit} {twin}; it is left out",
            )
        if item_id in self._lines:
            raise RefusedRow(
                ProblemKind.DUPLICATE_ID,
                f"the id {item_id!r} is taken by {unit} {self._lines[item_id]}",
            )
        if twin != line:
            message = f"the same content as {unit} {twin}; it is kept, as it has an id of its own"
            self._report(line, ProblemKind.SAME_CONTENT, message)
        return item_id

    def _remember(self, line: int, row: Row, item_id: str, digest: bytes) -> None:
        self._lines[item_id] = line
        self._digests += digest
        if row.split is not None:
            self._splits[item_id] = row.split
        if row.foreign_split is not None:
            self._foreign_splits[row.foreign_split[:_FOREIGN_LENGTH]] += 1
        self._fields.update(row.data.keys())
        self._own_ids = self._own_ids or row.id is not None
        # The id's length stands first, so that no other ids and hashes run into the same bytes.
        self._fingerprint.update(f"{len(item_id)}:{item_id}:{row.split}:".encode() + digest)

    def _report(self, line: int, kind: ProblemKind, message: str) -> None:
        self._log.add(
            RowProblem(
                file=self._source.label,
                line=line,
                column=None,
                kind=kind,
                message=message,
                unit=self._source.unit,
            )
        )


def _content_hash(row: Row) -> str:
    try:
        return exact_hash(row.data)
    except UsageError as error:
        raise RefusedRow(ProblemKind.NOT_JSON, f"{error.what}: {error.why}") from error
    except RecursionError as error:
        raise RefusedRow(ProblemKind.NOT_JSON, "lists or objects nest too deeply") from error
