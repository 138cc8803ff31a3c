"""`burnish tags`: what is kept beside the agent's prompt."""

from __future__ import annotations

import typer

from burnish.cli.options import Config, Json
from burnish.cli.project_location import Place


def tags(context: typer.Context, json_output: Json = False, config: Config = None) -> None:
    """List the tags of the agent's prompt in .burnish/overrides, and whether they still fit."""
    from burnish.cli.tagging import list_tags  # noqa: PLC0415

    list_tags(context.obj, Place.of(context, config, None))
