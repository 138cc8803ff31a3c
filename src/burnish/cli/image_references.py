"""How people name an image run or a commit: its id, a part of it, or `latest`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from burnish.app.images.runs import ImageRuns
from burnish.cli.references import LATEST
from burnish.domain import UsageError
from burnish.domain.images import ImageCommit, ImageRun

_PAGE = 500
_LISTED = 5
_WHOLE_ID = 36


async def resolve_run(images: ImageRuns, reference: str) -> ImageRun:
    """The one run that is meant; UsageError when there is none or more than one."""
    wanted = reference.strip().lower()
    if wanted == LATEST:
        page = await images.page(limit=1)
        if page.items:
            return page.items[0]
        raise _unknown("run", "there are no image runs yet", "run `burnish image run` first")
    found: list[ImageRun] = []
    async for one in _runs(images):
        if one.run_id == wanted:
            return one
        if wanted and (one.run_id.startswith(wanted) or one.run_id.endswith(wanted)):
            found.append(one)
    if len(found) != 1:
        raise _not_one("run", reference, [one.run_id for one in found])
    return found[0]


async def resolve_commit(images: ImageRuns, reference: str, project: str | None = None) -> str:
    """The id of the one commit that is meant, of a project or of all."""
    wanted = reference.strip().lower()
    if len(wanted) >= _WHOLE_ID:
        return wanted
    found: list[str] = []
    async for one in _commits(images, project):
        if one.commit_id == wanted:
            return wanted
        if wanted and (one.commit_id.startswith(wanted) or one.commit_id.endswith(wanted)):
            found.append(one.commit_id)
    if len(found) != 1:
        raise _not_one("commit", reference, found)
    return found[0]


async def _runs(images: ImageRuns) -> AsyncIterator[ImageRun]:
    after: Sequence[Any] | None = None
    while True:
        page = await images.page(limit=_PAGE, after=after)
        for one in page.items:
            yield one
        if page.next is None:
            return
        after = page.next


async def _commits(images: ImageRuns, project: str | None) -> AsyncIterator[ImageCommit]:
    projects = [project] if project is not None else [one async for one in _projects(images)]
    for name in projects:
        after: Sequence[Any] | None = None
        while True:
            page = await images.commits(name, limit=_PAGE, after=after)
            for one in page.items:
                yield one
            if page.next is None:
                break
            after = page.next


async def _projects(images: ImageRuns) -> AsyncIterator[str]:
    after: Sequence[Any] | None = None
    while True:
        page = await images.projects(limit=_PAGE, after=after)
        for one in page.items:
            yield one.project_id
        if page.next is None:
            return
        after = page.next


def _not_one(noun: str, reference: str, found: Sequence[str]) -> UsageError:
    if not found:
        return _unknown(
            noun,
            f"no id begins or ends with {reference!r}",
            "run `burnish image list` for all runs, `burnish image show ID` for their commits",
        )
    some = ", ".join(found[:_LISTED])
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    why = f"{reference!r} could be {some}{more}"
    return _unknown(noun, why, "write more of the id", "ambiguous_reference")


def _unknown(noun: str, why: str, fix: str, code: str = "not_found") -> UsageError:
    return UsageError(what=f"the {noun} cannot be found", why=why, fix=fix, code=code)
