"""`burnish resume`: go on with an optimization that was stopped."""

from __future__ import annotations

import typer

from burnish.cli.options import Config, Db, Json, OptimizationReference
from burnish.cli.project_location import Place
from burnish.cli.runner_options import Mailbox, RayAddress, Runner, RunnerOptions


def resume(
    context: typer.Context,
    optimization: OptimizationReference,
    runner: Runner = None,
    mailbox: Mailbox = None,
    ray_address: RayAddress = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Go on with an optimization where it stopped: after Ctrl-C, a crash or a failure.

    It goes on with the settings and prompts it was started with, whatever burnish.toml says now.
    """
    from burnish.cli.optimizing import resume_optimization  # noqa: PLC0415

    place = Place.of(context, config, db)
    options = RunnerOptions(runner=runner, mailbox=mailbox, ray_address=ray_address)
    raise typer.Exit(resume_optimization(context.obj, place, optimization, options))
