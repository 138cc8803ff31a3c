"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        metavar="PATH",
        help="burnish.toml or its folder.",
        show_default="./burnish.toml",
    ),
]
Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="URL",
        help="Database: a file or postgresql://…",
        show_default="BURNISH_DB, else .burnish/burnish.db beside the config",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the whole trace of an error.")]
Reference = Annotated[
    str,
    typer.Argument(
        metavar="EXPERIMENT",
        help="An experiment's id, its beginning or end, or `latest`.",
        show_default=False,
    ),
]
OptimizationReference = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="An optimization's id, its beginning or end, or `latest`.",
        show_default=False,
    ),
]
