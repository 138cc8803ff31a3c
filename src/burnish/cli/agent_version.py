"""`--agent-version` of commands that run the agent: which version, told on stderr."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from burnish.cli.console import Streams
from burnish.cli.display.rows import print_notice
from burnish.cli.project_location import ProjectLocation
from burnish.domain import Configuration, UsageError

if TYPE_CHECKING:
    from burnish.app.agents.versions import VersionChoice
    from burnish.config.schema import Settings

AgentVersionOption = Annotated[
    str | None,
    typer.Option(
        "--agent-version",
        metavar="N|active",
        help="A version that was promoted, in place of the sections in burnish.toml.",
        rich_help_panel="Which configuration",
    ),
]
_OF_A_VERSION = ("agent.sections", "agent.parameters", "agent.examples")


async def version_to_run(
    streams: Streams,
    location: ProjectLocation,
    settings: Settings,
    wanted: str | None,
    changed: Iterable[str] = (),
) -> VersionChoice:
    """The settings under the wanted version. What was promoted and does not run is told.

    `changed` are the keys that the command line sets, of which none may be a version's own.
    """
    from burnish.app.agents.versions import VersionChoice, choose_version  # noqa: PLC0415

    if wanted is not None and (own := [one for one in changed if one.startswith(_OF_A_VERSION)]):
        raise UsageError(
            what="the options cannot be used",
            why=f"--agent-version and a change of {own[0]} exclude each other",
            fix="leave one of them out",
            code="bad_usage",
        )
    if wanted is None and not location.has_database:
        written = Configuration.of(settings.agent_spec().configuration)
        return VersionChoice(settings=settings, written=written, version=None, active=None)
    async with location.read() as workspace:
        choice = await choose_version(workspace, settings, wanted)
    if choice.note:
        print_notice(streams, [("note", choice.note)])
    return choice
