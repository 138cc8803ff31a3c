"""`burnish revert`: an earlier version of the agent made active again."""

from __future__ import annotations

import contextlib
import getpass
from typing import Annotated

import typer

from burnish.app.agents.project_files import FileWrite, plan_writes, staged
from burnish.app.agents.registry import AgentRegistry
from burnish.app.agents.versions import changed_parts
from burnish.app.report.differences import Difference, difference
from burnish.cli.commands.agents.versions import version_json
from burnish.cli.console import Streams
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless
from burnish.config.served_project import ServedProject
from burnish.domain import AgentVersion, Configuration, ConflictError, UsageError


def revert(
    context: typer.Context,
    version: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", min=1, help="A number.", show_default="the one before"),
    ] = None,
    note: Annotated[str, typer.Option(help="Why, kept with the version.")] = "",
    write: Annotated[
        bool, typer.Option("--write", help="Also write it into burnish.toml and its prompt files.")
    ] = False,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Make an earlier version active again, as a new version: nothing of the history goes."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    made, change, writes = run(_revert(location, version, note, write=write))
    if streams.json_output:
        written = [str(one.path) for one in writes]
        streams.print_document({**version_json(made), "agent": made.agent_name, "written": written})
        return
    back = made.origin["reverted_to"]
    streams.say(
        f"version {made.version} of {harmless(made.agent_name)} is active now: version {back} again, "
        f"which differs from the one before in {harmless(', '.join(changed_parts(change)))}"
    )
    for one in writes:
        streams.say(f"wrote {one.path}")


async def _revert(
    location: ProjectLocation, wanted: int | None, note: str, *, write: bool
) -> tuple[AgentVersion, Difference, list[FileWrite]]:
    spec = location.settings().agent_spec()
    author = ""
    with contextlib.suppress(Exception):  # A container's user may have no name at all.
        author = getpass.getuser()
    async with location.read() as workspace:
        active = await workspace.agents.active_version(spec.name)
        if active is None or (wanted is None and active.version == 1):
            raise UsageError(
                what=f"the agent {spec.name!r} has nothing to go back to",
                why="nothing was promoted yet" if active is None else "it has one version",
                fix="`burnish versions` lists what there is",
                code="not_found",
            )
        old = await workspace.agents.get_version(spec.name, wanted or active.version - 1)
        change = difference(active.configuration, old.configuration)
        if change.empty:
            raise ConflictError(
                what=f"the agent {spec.name!r} was not changed",
                why=f"version {old.version} is what its active version {active.version} is",
                fix="name another that `burnish versions` lists",
                code="already_active",
            )
        own = spec.model if isinstance(spec.model, str) else None
        written = Configuration.of(spec.configuration).naming(own)
        writes = _writes(location, active, old, written) if write else []
        with staged(writes):
            made = await AgentRegistry(workspace, ServedProject(location.config)).revert(
                spec.name, old.version, author=author, note=note, expected_version=active.version
            )
    return made, change, writes


def _writes(
    location: ProjectLocation, active: AgentVersion, old: AgentVersion, written: Configuration
) -> list[FileWrite]:
    own = written.model
    if not any(written.same_as(one.configuration, own) for one in (active, old)):
        raise ConflictError(
            what=f"{location.config} was not written",
            why=f"it holds neither version {active.version} nor version {old.version}, so something "
            "of somebody's would be lost",
            fix="leave --write out, or undo the change",
            code="file_changed",
        )
    return plan_writes(written, old.configuration.naming(own), location.config, active.agent_name)
