"""`burnish tags`: what is kept beside the agent's prompt."""

from __future__ import annotations

from typing import Any

import typer

from burnish.app.wiring import overrides_location
from burnish.cli.console import Streams
from burnish.cli.options import Config, Json, Overrides
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.domain import Configuration
from burnish.domain.wording import counted
from burnish.optimizers.compress.examples import part_tokens, parts_of
from burnish.overrides import NAMESPACE, descriptor_of, open_overrides


def tags(
    context: typer.Context,
    overrides: Overrides = None,
    json_output: Json = False,
    config: Config = None,
) -> None:
    """List the tags of the agent's prompt, and whether they still fit."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, None)
    agent = location.settings().agent_spec()
    configuration = Configuration.of(agent.configuration)
    place = overrides_location(location.folder, overrides)
    found = run(_tags(place, agent.name, configuration))
    if streams.json_output:
        key = descriptor_of(agent.name, configuration).key
        streams.print_document({"namespace": NAMESPACE, "key": key, "tags": found})
        return
    if not found:
        streams.say("there are no tags yet; `burnish compress --tag NAME` makes one")
    for one in found:
        stale = f", {len(one['stale'])} stale" if one["stale"] else ""
        sections = counted(len(one["sections"]), "section")
        streams.say(f"{one['tag']}  {sections}, {one['tokens']} tokens{stale}")


async def _tags(place: str, agent: str, configuration: Configuration) -> list[dict[str, Any]]:
    store = open_overrides(place)
    descriptor = descriptor_of(agent, configuration)
    found = []
    for tag in await store.list_tags(namespace=descriptor.namespace, key=descriptor.key):
        resolved = await store.resolve(descriptor, tag=tag)
        if resolved is None:
            continue
        under = resolved.apply(configuration)
        found.append(
            {
                "tag": tag,
                "sections": list(resolved.sections),
                "stale": [one.path for one in resolved.stale],
                "tokens": sum(part_tokens(under, path) for path in parts_of(under)),
            }
        )
    await store.close()
    return found
