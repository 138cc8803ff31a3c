"""`burnish resume`: go on with an optimization or an evaluation where it stopped."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.app.evaluate.leases import require_standalone
from burnish.app.references import resolve_job
from burnish.cli.commands.eval import evaluate_request
from burnish.cli.commands.optimize import run_and_present
from burnish.cli.console import Streams
from burnish.cli.eval_request import EvalRequest
from burnish.cli.options import Config, Db, JobReference, Json, Mailbox, RayAddress, Runner
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.search import SearchWatch, chosen_runner, resume_search
from burnish.domain import Experiment, OptimizationRecord, UsageError


def resume(
    context: typer.Context,
    reference: JobReference,
    runner: Runner = None,
    mailbox: Mailbox = None,
    ray_address: RayAddress = None,
    optimizer_timeout: Annotated[
        float | None,
        typer.Option(help="Seconds that a method of the optimizer may take, from now on."),
    ] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Go on with an optimization or an evaluation that stopped: after Ctrl-C, a crash or a failure.

    An optimization goes on with the settings and prompts it was started with, whatever burnish.toml
    says now. An evaluation runs what it lacks, as `burnish eval --resume` does.
    """
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    choice = chosen_runner(streams, location, runner, mailbox, ray_address)
    found = run(_find(location, reference))
    if isinstance(found, Experiment):
        require_standalone(found, "resume")
        _require_no_runner(found, runner, mailbox, ray_address)
        request = EvalRequest(resume=found.id)
        raise typer.Exit(evaluate_request(streams, location, request))
    watch = SearchWatch()
    work = resume_search(location, found, watch, choice, optimizer_seconds=optimizer_timeout)
    raise typer.Exit(run_and_present(streams, location, watch, work))


async def _find(location: ProjectLocation, reference: str) -> Experiment | OptimizationRecord:
    async with location.read() as workspace:
        return await resolve_job(workspace, reference)


def _require_no_runner(evaluation: Experiment, *given: str | None) -> None:
    if any(given):
        raise UsageError(
            what=f"evaluation {evaluation.id} runs here only",
            why="--runner, --mailbox and --ray-address are for optimizations",
            fix="leave them out",
            code="bad_usage",
        )
