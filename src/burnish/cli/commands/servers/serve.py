"""`burnish serve`: the HTTP API of a project."""

from __future__ import annotations

import sys
from enum import StrEnum
from importlib import import_module
from typing import Annotated

import typer

from burnish.cli.console import Streams
from burnish.cli.options import Config, Db
from burnish.cli.project_location import ProjectLocation

_WHO, _RUNS, _LOGS = "Who may use it", "Runs", "Logs"
# By name: neither layer knows the other, and what they share stands in config.
_SERVER = "burnish.server.http.serving"


class LogFormat(StrEnum):
    """How log lines look."""

    AUTO = "auto"
    JSON = "json"
    TEXT = "text"


class LogLevel(StrEnum):
    """What is logged at least."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def serve(
    context: typer.Context,
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", "-p", min=0, max=65535, help="The port; 0 picks a free one.")
    ] = 8720,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A further name by which the server is reached, such as that of a proxy. "
            "Repeatable.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    allow_url: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST",
            help="A host, or host:port, that agents made over HTTP may be services of; `*` is every "
            "public address. Repeatable.",
            rich_help_panel=_WHO,
        ),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option(
            "--insecure",
            help="Listen where others can reach it although no BURNISH_API_KEY is set.",
            rich_help_panel=_WHO,
        ),
    ] = False,
    max_runs: Annotated[
        int, typer.Option(min=1, max=100, help="Optimizations at once.", rich_help_panel=_RUNS)
    ] = 2,
    execute: Annotated[
        bool,
        typer.Option(
            "--runs/--no-runs",
            help="Whether to run optimizations here, or leave them to other processes.",
            rich_help_panel=_RUNS,
        ),
    ] = True,
    lease_seconds: Annotated[
        float,
        typer.Option(
            min=1.0,
            help="After so long without a sign of life another server takes a run over.",
            rich_help_panel=_RUNS,
        ),
    ] = 30.0,
    mailbox: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Have evaluations done by `burnish worker` processes on this Redis server.",
            rich_help_panel=_RUNS,
        ),
    ] = None,
    log_format: Annotated[
        LogFormat,
        typer.Option(help="`auto` is text on a terminal, else JSON.", rich_help_panel=_LOGS),
    ] = LogFormat.AUTO,
    log_level: Annotated[
        LogLevel, typer.Option(help="What is logged at least.", rich_help_panel=_LOGS)
    ] = LogLevel.INFO,
    config: Config = None,
    db: Db = None,
) -> None:
    """Serve the project over HTTP: start runs, follow them live, read what came out.

    Several servers on one PostgreSQL share their runs. On any address but this machine's own,
    BURNISH_API_KEY must hold a key, or several as NAME:SCOPE:KEY with the scope read or write.
    """
    from burnish.config.served_project import ServedProject, ServeOptions  # noqa: PLC0415

    location = ProjectLocation.of(context, config, db)
    if location.config_given is not None and not location.config.exists():
        location.settings()  # Says that it is not there.
    without_agent = ServedProject(location.config).own() is None
    options = ServeOptions(
        config=location.config,
        database=location.database,
        host=host,
        port=port,
        allowed_hosts=tuple(allow_host or ()),
        allowed_urls=tuple(allow_url or ()),
        insecure=insecure,
        max_runs=max_runs,
        execute=execute,
        lease_seconds=lease_seconds,
        mailbox=mailbox,
        plain_logs=log_format is LogFormat.TEXT
        or (log_format is LogFormat.AUTO and sys.stderr.isatty()),
        log_level=log_level.value,
    )
    streams: Streams = context.obj

    def listening(address: str) -> None:
        folder = options.config.absolute().parent
        streams.say(f"burnish serves {folder} at {address}", "stop it with Ctrl-C")
        if without_agent:
            streams.say(
                f"there is no agent in a burnish.toml here: make one in the browser: {address}/start",
                f"pictures need none: {address}/workbench",
            )
        streams.out.flush()

    if options.insecure:
        streams.messages.print(
            "WARNING: --insecure: whoever reaches this server may start runs that cost money",
            style="bold red",
            soft_wrap=True,
        )
    import_module(_SERVER).run(options, listening)
