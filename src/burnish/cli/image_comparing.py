"""Two commits side by side."""

from __future__ import annotations

from pathlib import Path

from burnish.app.images.documents import comparison_document
from burnish.cli.console import Session
from burnish.cli.display.image_comparisons import print_comparison
from burnish.cli.image_place import read_images, write_picture
from burnish.cli.image_references import resolve_commit
from burnish.cli.project_location import Place
from burnish.cli.running import run
from burnish.domain.images import ImageComparison


def compare_commits(
    session: Session,
    place: Place,
    references: tuple[str, str],
    *,
    output: Path | None,
    judge: str | None,
) -> None:
    """Compare, print, and write the map of differences where that is wanted."""
    found = run(_compare(place, references, output, judge))
    if session.json_output:
        written = None if output is None else str(output)
        session.print_document({**comparison_document(found), "output": written})
    else:
        print_comparison(session.console, found, output=output)


async def _compare(
    place: Place, references: tuple[str, str], output: Path | None, judge: str | None
) -> ImageComparison:
    async with read_images(place) as images:
        left, right = [await resolve_commit(images, one) for one in references]
        found = await images.compare(left, right, judge=judge)
        if output is not None:
            data, _ = await images.image(found.difference_map.digest)
            write_picture(output, data)
        return found
