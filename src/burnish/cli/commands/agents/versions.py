"""`burnish versions`: the versions of the agent, and what burnish.toml has beside them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from burnish.app.agents.versions import changed_parts
from burnish.app.report.differences import difference
from burnish.cli.console import Streams
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import age, harmless, one_line, short_id
from burnish.domain import AgentVersion, Configuration


def versions(
    context: typer.Context,
    agent: Annotated[
        str | None,
        typer.Argument(metavar="[AGENT]", help="An agent.", show_default="that of burnish.toml"),
    ] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """List the versions of the agent, newest first, and which of them burnish.toml has."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    written, model = None, None
    if agent is None or location.config.exists():
        spec = location.settings().agent_spec()
        if agent in (None, spec.name):
            agent, model = spec.name, spec.model
            written = Configuration.of(spec.configuration)
    assert agent is not None
    found = run(_read(location, agent)) if location.has_database else []
    if streams.json_output:
        streams.print_document(
            {
                "agent": agent,
                "written": None if written is None else written.hash,
                "versions": [version_json(one) for one in found],
            }
        )
        return
    if not found:
        streams.say(f"{harmless(agent)} has no versions yet; `burnish promote` makes the first")
        return
    own = model if isinstance(model, str) else None
    _print(streams.console, agent, found, written, own)


async def _read(location: ProjectLocation, agent: str) -> list[AgentVersion]:
    async with location.read() as workspace:
        return await workspace.agents.list_versions(agent)


def version_json(one: AgentVersion) -> dict[str, Any]:
    """One version as `versions --json` prints it."""
    return {
        "version": one.version,
        "active": one.active,
        "configuration_hash": one.configuration.hash,
        "configuration": one.configuration.to_json(),
        "author": one.author,
        "note": one.note,
        "origin": dict(one.origin),
        "created_at": one.created_at,
    }


def _print(
    console: Console,
    agent: str,
    found: list[AgentVersion],
    written: Configuration | None,
    model: str | None,
) -> None:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=f"versions of {harmless(agent)}")
    table.title_justify = "left"
    for column in ("version", "", "from", "age", "note"):
        table.add_column(column, no_wrap=column != "note", overflow="fold")
    for one in found:
        marks = [*(["active"] if one.active else [])]
        if written is not None and written.same_as(one.configuration, model):
            marks.append("in burnish.toml")
        table.add_row(
            str(one.version),
            Text(", ".join(marks), style="bold green" if one.active else "dim"),
            _origin(one),
            age(one.created_at),
            Text(one_line(one.note, 60)),
        )
    console.print(table)
    active = next((one for one in found if one.active), None)
    if written is None or active is None or written.same_as(active.configuration, model):
        return
    change = difference(written.naming(model), active.configuration.naming(model))
    parts = ", ".join(changed_parts(change))
    console.print(
        Text(
            f"burnish.toml differs from the active version in {harmless(parts)}: `burnish eval` runs "
            "burnish.toml, `burnish eval --agent-version active` the version"
        ),
        soft_wrap=not console.is_terminal,
    )


def _origin(one: AgentVersion) -> str:
    run_id, back = one.origin.get("optimization_id"), one.origin.get("reverted_to")
    if back is not None:
        return f"version {back}"
    if one.origin.get("source") == "baseline":
        return "before the first promotion"
    return f"run {short_id(str(run_id))}" if run_id else str(one.origin.get("source") or "")
