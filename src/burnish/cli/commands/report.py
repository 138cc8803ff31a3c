"""`burnish report`: an optimization as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.cli.options import Config, Db, Json
from burnish.cli.place import Place
from burnish.cli.session import Session
from burnish.domain import UsageError

if TYPE_CHECKING:
    from burnish.domain import OptimizationRepository

LATEST = "latest"
_PAGE = 200
_LISTED = 5


def report(
    context: typer.Context,
    optimization: Annotated[
        str,
        typer.Argument(
            metavar="OPTIMIZATION",
            help="An optimization's id, its beginning or end, or `latest`.",
            show_default=False,
        ),
    ] = LATEST,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to.", show_default="report-ID.html"
        ),
    ] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Write an optimization as one HTML page that opens offline: verdict, charts, diff, items, cost."""
    from burnish.cli.running import run  # noqa: PLC0415

    session: Session = context.obj
    path = run(_write(Place.of(context, config, db), optimization, output))
    if session.json_output:
        session.print_document({"path": str(path)})
    else:
        session.say(f"wrote {path}")


async def _write(place: Place, reference: str, output: Path | None) -> Path:
    from burnish.bootstrap.reports import write_report  # noqa: PLC0415

    async with place.read() as workspace:
        optimization_id = await _find(workspace.optimizations, reference)
        target = Path(f"report-{optimization_id}.html") if output is None else output
        return await write_report(workspace, optimization_id, target)


async def _find(optimizations: OptimizationRepository, reference: str) -> str:
    """The one optimization that is meant; UsageError when there is none or more than one."""
    wanted = reference.strip().lower()
    found: list[str] = []
    before: str | None = None
    while wanted:
        page = await optimizations.list_optimizations(limit=_PAGE, before=before)
        for record in page:
            if wanted in (LATEST, record.id):
                return record.id
            if record.id.startswith(wanted) or record.id.endswith(wanted):
                found.append(record.id)
        if len(page) < _PAGE:
            break
        before = page[-1].id
    if len(found) == 1:
        return found[0]
    if found:
        some = ", ".join(found[:_LISTED])
        more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
        why = f"{reference!r} could be {some}{more}"
        raise _unknown(why, "write more of the id", "ambiguous_reference")
    if wanted == LATEST:
        raise _unknown("there are no optimizations yet", "run `burnish optimize` first")
    raise _unknown(f"no id begins or ends with {reference!r}", "run `burnish list` for all of them")


def _unknown(why: str, fix: str, code: str = "not_found") -> UsageError:
    return UsageError(what="the optimization cannot be found", why=why, fix=fix, code=code)
