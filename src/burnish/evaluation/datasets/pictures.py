"""Pictures of dataset rows: found in files below a folder or in data URLs, checked, and loaded."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import re
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from burnish.domain import ConflictError, Item, Picture, UsageError
from burnish.domain.experiments.pictures import PictureCell, picture_cells
from burnish.evaluation.datasets.problems import ProblemKind, RowProblem
from burnish.evaluation.datasets.rows import RawRow
from burnish.evaluation.datasets.sources import RowSource

LARGEST = 10 * 1024 * 1024
KINDS = "PNG, JPEG, GIF or WebP"
_STARTS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
_DATA_URL = re.compile(r"data:(?P<kind>[\w/+.-]*)(?:;[\w=.-]+)*;base64,(?P<data>.*)", re.DOTALL)


class BadPictureError(ValueError):
    """A cell that cannot be used as a picture; the message says why."""


@dataclass(frozen=True, slots=True)
class PictureFolder:
    """The picture columns of a suite, and the folder that their files lie in.

    Without a folder, as for rows that came over HTTP, pictures are data URLs only: nobody who sends
    rows is to read files of this machine.
    """

    columns: tuple[str, ...]
    folder: Path | None
    _known: dict[Path, tuple[tuple[int, int], PictureCell]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def require(self, present: Set[str]) -> None:
        """Refuse, before anything is paid, columns that no row has."""
        for name in self.columns:
            if name not in present:
                raise UsageError(
                    what=f"the pictures of {name!r} cannot be shown",
                    why=f"the dataset has no such column; it has {', '.join(sorted(present))}",
                    fix="correct `pictures` in [suite] or add the column",
                    code="unknown_field",
                )

    def cell(self, value: Any) -> Any:
        """What stands in the row: each picture as an object that holds its hash."""
        if value is None or value == "":
            return None
        if isinstance(value, list):
            return [self.cell(one) for one in value]
        if picture_cells(value):
            return value
        if not isinstance(value, str):
            raise BadPictureError(f"{value!r:.60} is neither a path nor a data URL")
        if value.startswith("data:"):
            return _described(value, _decoded(value)).to_json()
        return self._file(value).to_json()

    async def load(self, item: Item) -> Item:
        """The item with the bytes of its pictures; a file that changed since is a conflict."""
        cells = {name: picture_cells(item.data.get(name)) for name in self.columns}
        if not any(cells.values()):
            return item
        pictures = await asyncio.to_thread(
            lambda: {name: tuple(map(self.picture, many)) for name, many in cells.items() if many}
        )
        return replace(item, pictures=pictures)

    def picture(self, cell: PictureCell) -> Picture:
        """The picture of a cell, if it is still what the cell says."""
        try:
            data = _decoded(cell.source) if cell.source[:5] == "data:" else self._read(cell.source)
            found = _described(cell.source, data)
        except BadPictureError as error:
            raise _changed(cell, str(error)) from error
        if found.sha256 != cell.sha256:
            raise _changed(cell, "its content is not what the dataset was read with")
        return Picture(found.media_type, base64.b64encode(data).decode())

    def path(self, source: str) -> Path:
        """The file of a cell, which lies in the folder whatever the cell says."""
        if "://" in source:
            raise BadPictureError(f"{source[:100]!r} is an address; pictures are not fetched")
        if self.folder is None:
            raise BadPictureError(
                "rows without a file name no files; put the picture in a data URL"
            )
        folder = self.folder.resolve()
        path = (folder / source).resolve()
        if not path.is_relative_to(folder):
            raise BadPictureError(f"{source[:100]!r} lies outside of the dataset's folder")
        return path

    def _file(self, source: str) -> PictureCell:
        path = self.path(source)
        try:
            status = path.stat()
        except OSError as error:
            raise BadPictureError(f"there is no file {source[:200]!r} in {self.folder}") from error
        stamp = (status.st_size, status.st_mtime_ns)
        known = self._known.get(path)
        if known is None or known[0] != stamp:
            cell = _described(source, self._read(source))
            if known is not None and known[1].sha256 != cell.sha256:
                raise _changed(known[1], "its content is not what it was at the start")
            self._known[path] = known = (stamp, cell)
        return replace(known[1], source=source)

    def _read(self, source: str) -> bytes:
        path = self.path(source)
        try:
            with path.open("rb") as file:
                return file.read(LARGEST + 1)
        except OSError as error:
            why = error.strerror or str(error)
            raise BadPictureError(f"{source[:200]!r} cannot be read: {why}") from error


class PictureRows:
    """The rows of another source, with picture columns as cells that say what they hold."""

    def __init__(self, rows: RowSource, pictures: PictureFolder) -> None:
        self._rows = rows
        self._pictures = pictures
        self.label = rows.label
        self.unit = rows.unit

    def read(self) -> Iterator[RawRow | RowProblem]:
        """Rows in order; a picture that cannot be used is a finding."""
        for row in self._rows.read():
            if isinstance(row, RowProblem) or not isinstance(row.value, Mapping):
                yield row
                continue
            yield self._described(row)

    def signature(self) -> object:
        """That of the rows; a picture that changes shows when it is read."""
        return self._rows.signature()

    def _described(self, row: RawRow) -> RawRow | RowProblem:
        made: dict[str, Any] = {}
        for name in self._pictures.columns:
            try:
                if name in row.value:
                    made[name] = self._pictures.cell(row.value[name])
            except BadPictureError as error:
                return RowProblem(
                    file=self.label,
                    line=row.line,
                    column=None,
                    kind=ProblemKind.BAD_PICTURE,
                    message=f"the picture in {name!r} cannot be used: {error}",
                    unit=self.unit,
                )
        return row._replace(value={**row.value, **made})


def _described(source: str, data: bytes) -> PictureCell:
    if len(data) > LARGEST:
        raise BadPictureError(f"it is larger than {LARGEST // 1024**2} MB")
    return PictureCell(source, _media_type(data), hashlib.sha256(data).hexdigest())


def _media_type(data: bytes) -> str:
    """By the content: names and declarations may say anything."""
    for start, kind in _STARTS.items():
        if data.startswith(start):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    raise BadPictureError(f"its content is no {KINDS} picture")


def _decoded(url: str) -> bytes:
    parts = _DATA_URL.fullmatch(url)
    if parts is None:
        raise BadPictureError("it is no data URL of the form data:image/png;base64,…")
    if len(parts["data"]) > LARGEST * 4 // 3 + 4:
        raise BadPictureError(f"it is larger than {LARGEST // 1024**2} MB")
    try:
        return base64.b64decode(parts["data"], validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadPictureError("its base64 is broken") from error


def _changed(cell: PictureCell, why: str) -> ConflictError:
    return ConflictError(
        what=f"{cell.label[1:-1]} of the dataset cannot be used any more",
        why=why,
        fix="put it back, or start again with the pictures as they are now",
        code="dataset_changed",
    )
