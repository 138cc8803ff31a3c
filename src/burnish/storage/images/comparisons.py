"""Reads and writes comparisons of pictures, and finds files, in the caller's transaction."""

from __future__ import annotations

from sqlalchemy import bindparam, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from burnish.domain import UsageError
from burnish.domain.images import ImageComparison, ImageFile
from burnish.storage.engine.codec import SafeText
from burnish.storage.images.commits import ensure_project
from burnish.storage.images.file_checks import no_file
from burnish.storage.images.rows import comparison_row, read_comparison, read_file
from burnish.storage.images.tables import image_commit_files, image_comparisons

# The one that is there already wins, as with commits.
_add = {
    name: make(image_comparisons).on_conflict_do_nothing()
    for name, make in (("sqlite", sqlite.insert), ("postgresql", postgresql.insert))
}
_one = select(image_comparisons).where(image_comparisons.c.id == bindparam("of_id", type_=SafeText))
# Everybody says the same of the same bytes, so the first that tells of them will do.
_files = [
    select(*(table.c[name] for name in ("digest", "media_type", "width", "height", "size")))
    .where(table.c.digest == bindparam("of_digest", type_=SafeText))
    .limit(1)
    for table in (image_commit_files, image_comparisons)
]


async def add(connection: AsyncConnection, comparison: ImageComparison, now: str) -> None:
    """Write a comparison, unless it is there."""
    await ensure_project(connection, comparison.project_id, now)
    await connection.execute(_add[connection.dialect.name], comparison_row(comparison, now))


async def get(connection: AsyncConnection, comparison_id: str) -> ImageComparison:
    """One comparison."""
    row = (await connection.execute(_one, {"of_id": comparison_id})).one_or_none()
    if row is None:
        raise UsageError(
            what=f"there is no comparison {comparison_id!r}",
            why="no comparison with that id is stored",
            fix="compare the two commits again",
            code="not_found",
        )
    return read_comparison(row)


async def file(connection: AsyncConnection, digest: str) -> ImageFile:
    """What a commit says of a file, else what a comparison says."""
    for statement in _files:
        row = (await connection.execute(statement, {"of_digest": digest})).one_or_none()
        if row is not None:
            return read_file(row)
    raise no_file(digest)
