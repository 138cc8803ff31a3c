"""`burnish cases`: keep what failed in a run as cases of a regression suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from burnish.app.datasets.regression_cases import Which, save_cases
from burnish.app.datasets.stored import row_of
from burnish.app.datasets.uploads import StoredUpload
from burnish.app.references import BEST, LATEST, find_candidate, resolve, resolve_any
from burnish.app.wiring import Workspace
from burnish.cli.commands.datasets.trace_rows import rows_text
from burnish.cli.commands.init import write_files
from burnish.cli.console import Streams
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless
from burnish.domain import Experiment, UsageError
from burnish.domain.wording import counted


def cases(
    context: typer.Context,
    reference: Annotated[
        str,
        typer.Argument(
            metavar="[RUN]", help="Whose items: an experiment or an optimization, or `latest`."
        ),
    ] = LATEST,
    *,
    name: Annotated[str, typer.Option(help="The dataset that they are added to.")] = "regressions",
    candidate: Annotated[
        str, typer.Option(help="Of an optimization: whose trial, by its number or id.")
    ] = BEST,
    regressed: Annotated[
        bool,
        typer.Option(
            "--regressed", help="Only items that passed with the baseline, and not all that failed."
        ),
    ] = False,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="EXPERIMENT",
            help="With --regressed: what they passed in.",
            show_default="the baseline of the optimization",
        ),
    ] = None,
    item: Annotated[
        list[str] | None,
        typer.Option(help="Only this item, if it failed. Repeatable.", show_default="all"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE.jsonl",
            help="Also write all cases there, with `origin`.",
        ),
    ] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Keep the items that failed in a run as cases of a regression suite, with their origin.

    Rows that the dataset has already are left out. Run the suite with
    `burnish eval --set suite.dataset=stored:NAME`.
    """
    streams: Streams = context.obj
    if baseline is not None and not regressed:
        raise UsageError(
            what="--baseline cannot be used",
            why="every item that failed is kept, whatever it did before",
            fix="add --regressed",
            code="bad_usage",
        )
    location = ProjectLocation.of(context, config, db)
    wanted: dict[str, Any] = {
        "which": Which.REGRESSED if regressed else Which.FAILING,
        "item_ids": item,
    }
    stored, added, rows = run(_save(location, reference, candidate, name, baseline, wanted))
    if output is not None:
        write_files(output.parent, {output.name: rows_text(rows).encode("utf-8", "replace")})
    _tell(streams, stored, added, output)


async def _save(
    location: ProjectLocation,
    reference: str,
    candidate: str,
    name: str,
    baseline: str | None,
    wanted: dict[str, Any],
) -> tuple[StoredUpload, int, list[dict[str, Any]]]:
    async with location.read() as workspace:
        experiment_id = await _experiment_of(workspace, reference, candidate)
        before = None if baseline is None else await resolve(workspace.experiments, baseline)
        stored, added = await save_cases(
            workspace,
            name,
            experiment_id,
            append=True,
            baseline_experiment_id=None if before is None else before.id,
            **wanted,
        )
        dataset = stored.record.id
        origins = await workspace.dataset_pages.origins(dataset)
        rows = [
            {**row_of(one), "origin": dict(origins.get(one.id, {}))}
            async for one in workspace.datasets.stream_items(dataset)
        ]
        return stored, added, rows


async def _experiment_of(workspace: Workspace, reference: str, candidate: str) -> str:
    found = await resolve_any(workspace, reference)
    if isinstance(found, Experiment):
        return found.id
    candidates = await workspace.optimizations.list_candidates(found.id)
    chosen = find_candidate(found, candidates, candidate)
    trials = await workspace.optimizations.list_trials(found.id)
    trial = next((one for one in trials if one.candidate_id == chosen.id), None)
    if trial is None:
        raise UsageError(
            what=f"candidate {chosen.number} has no items to keep",
            why="it had no trial",
            fix="name another with --candidate",
            code="not_found",
        )
    return trial.experiment_id


def _tell(streams: Streams, stored: StoredUpload, added: int, output: Path | None) -> None:
    record = stored.record
    if streams.json_output:
        streams.print_document(
            {
                "dataset_id": record.id,
                "name": record.name,
                "cases": record.items,
                "added": added,
                "file": None if output is None else str(output.absolute()),
            }
        )
        return
    name = harmless(record.name)
    streams.say(
        f"{counted(added, 'new case')} in {name}, which has {counted(record.items, 'case')}"
    )
    if output is not None:
        streams.say(f"wrote {output}")
    streams.say(f"run them: burnish eval --set suite.dataset=stored:{name}")
