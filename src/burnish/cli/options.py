"""Options that several commands share, and what they come to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from burnish.domain import UsageError

_PANEL = "Where to evaluate"

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
Overrides = Annotated[
    str | None,
    typer.Option(
        "--overrides",
        metavar="PLACE",
        help="Where override tags are: a folder, redis://… or s3://….",
        show_default="BURNISH_OVERRIDES, else .burnish/overrides beside the config",
    ),
]
Batch = Annotated[
    bool,
    typer.Option(
        "--batch",
        help="Ask models in batches at their vendor: half the price, up to a day.",
    ),
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the whole trace of an error.")]
OptimizationReference = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="An optimization's id, a part of it, its name, or `latest`.",
        show_default=False,
    ),
]
JobReference = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="An optimization's or evaluation's id, a part of it, its name, or `latest`.",
        show_default=False,
    ),
]


_BUDGET = "What it may spend"
MaxEvaluations = Annotated[
    int | None, typer.Option(min=0, help="Item runs.", rich_help_panel=_BUDGET)
]
MaxCalls = Annotated[int | None, typer.Option(min=0, help="Model calls.", rich_help_panel=_BUDGET)]
MaxTokens = Annotated[
    int | None, typer.Option(min=0, help="Tokens in and out.", rich_help_panel=_BUDGET)
]
MaxCost = Annotated[
    float | None, typer.Option(min=0, metavar="USD", help="US dollars.", rich_help_panel=_BUDGET)
]
MaxSeconds = Annotated[float | None, typer.Option(min=0, help="Seconds.", rich_help_panel=_BUDGET)]
Runner = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="local, mailbox (on `burnish worker` processes) or ray.",
        show_default="BURNISH_RUNNER, else local",
        rich_help_panel=_PANEL,
    ),
]
Mailbox = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Evaluate on the workers that listen there, such as redis://HOST:6379/0.",
        show_default="with --runner mailbox: BURNISH_MAILBOX",
        rich_help_panel=_PANEL,
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Evaluate on a Ray cluster, such as HOST:6379.",
        show_default="with --runner ray: the cluster of this machine",
        rich_help_panel=_PANEL,
    ),
]


def given(options: Mapping[str, Any]) -> dict[str, Any]:
    """Overrides of the config by dotted path: the options that were given; None decides nothing."""
    return {path: value for path, value in options.items() if value is not None}


def assigned(settings: Sequence[str] | None, sections: Sequence[str] | None) -> dict[str, Any]:
    """Overrides of the config by dotted path, from --set and --section."""
    from burnish.config.settings import parse_value  # noqa: PLC0415

    chosen: dict[str, Any] = {}
    for one in settings or ():
        path, value = _assignment("--set", one, "agent.parameters.temperature=0.2")
        chosen[path] = parse_value(value)
    for one in sections or ():
        path, value = _assignment("--section", one, "system=@prompts/other.md")
        chosen[f"agent.sections.{path}"] = _text_or_file(value)
    return chosen


def _assignment(option: str, given: str, example: str) -> tuple[str, str]:
    path, equals, value = given.partition("=")
    if not equals or not path.strip():
        raise UsageError(
            what=f"{option} {given!r} cannot be used",
            why="it is not of the form KEY=VALUE",
            fix=f"write it like {option} {example}",
            code="bad_usage",
        )
    return path.strip(), value


def _text_or_file(value: str) -> str:
    if not value.startswith("@"):
        return value
    path = Path(value[1:]).expanduser()
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            what=f"the section's file {path} cannot be read",
            why=getattr(error, "strerror", None) or str(error),
            fix="name a text file, relative to the current folder",
            code="missing_file",
        ) from error
