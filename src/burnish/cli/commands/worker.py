"""`burnish worker`: serves requests and experiments from a mailbox."""

from __future__ import annotations

from typing import Annotated

import typer

from burnish.cli.options import Config, Db
from burnish.cli.project_location import Place
from burnish.cli.worker_request import WorkerRequest


def worker(
    context: typer.Context,
    *,
    loops: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Which of main, eval and optimize, by commas; and runs, for those of servers.",
        ),
    ] = "main,eval,optimize",
    mailbox: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="The Redis or Valkey server, such as redis://HOST:6379/0.",
            show_default="BURNISH_MAILBOX",
        ),
    ] = None,
    overrides: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE",
            help="Where override tags are: a folder, redis://… or s3://….",
            show_default="BURNISH_OVERRIDES, else .burnish/overrides beside the config",
        ),
    ] = None,
    concurrency: Annotated[
        int | None,
        typer.Option(min=1, help="Requests at once.", show_default="the agent's own"),
    ] = None,
    grace: Annotated[
        float,
        typer.Option(min=0, metavar="SECONDS", help="For what runs, after SIGTERM or Ctrl-C."),
    ] = 30.0,
    health_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Answer /health/live and /health/ready there; 0 is any free port.",
        ),
    ] = None,
    health_host: Annotated[
        str, typer.Option(metavar="HOST", help="Where the health port listens.")
    ] = "127.0.0.1",
    stall: Annotated[
        float,
        typer.Option(min=2, metavar="SECONDS", help="So long without life is a stalled worker."),
    ] = 60.0,
    exit_on_stall: Annotated[
        bool,
        typer.Option("--exit-on-stall", help="End a stalled worker with 70, to be started again."),
    ] = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Serve the agent of this folder to other processes and machines, until SIGTERM or Ctrl-C.

    Then nothing more is taken, what runs may end, and the rest goes back for other workers. A second
    signal ends at once.
    """
    from burnish.cli.working import run_worker  # noqa: PLC0415

    request = WorkerRequest(
        loops=tuple(name.strip() for name in loops.split(",") if name.strip()),
        mailbox=mailbox,
        overrides=overrides,
        concurrency=concurrency,
        grace=grace,
        health_host=health_host,
        health_port=health_port,
        stall=stall,
        exit_on_stall=exit_on_stall,
    )
    run_worker(context.obj, Place.of(context, config, db), request)
