"""Versions of a project's agent: which one a command runs, and what the active one differs in."""

from __future__ import annotations

from dataclasses import dataclass

from burnish.app.agents.registry import with_configuration
from burnish.app.report.differences import Difference, difference
from burnish.app.wiring import Workspace
from burnish.config.schema import Settings
from burnish.domain import AgentVersion, Configuration, UsageError

ACTIVE = "active"


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionChoice:
    """The settings that run. `version` is the one that their configuration is, if it is any.

    `written` is the configuration of burnish.toml, with what the command line changes in it.
    """

    settings: Settings
    written: Configuration
    version: int | None
    active: AgentVersion | None

    @property
    def differs(self) -> Difference | None:
        """From what runs to the active version; None where they are equal or there is none."""
        if self.active is None:
            return None
        runs = Configuration.of(self.settings.agent_spec().configuration)
        own = self.settings.agent.model
        found = difference(runs.naming(own), self.active.configuration.naming(own))
        return None if found.empty else found

    @property
    def note(self) -> str | None:
        """That something else runs than what was promoted, and the way to it."""
        differs, active = self.differs, self.active
        if differs is None or active is None:
            return None
        runs = "burnish.toml as it stands" if self.version is None else f"version {self.version}"
        return (
            f"this runs {runs}, and not version {active.version} of {active.agent_name}, which is "
            f"active and differs in {', '.join(changed_parts(differs))}; --agent-version active runs "
            "that one, `burnish versions` lists all"
        )


async def choose_version(
    workspace: Workspace, settings: Settings, wanted: str | None
) -> VersionChoice:
    """The project's agent under the wanted version, or as burnish.toml has it."""
    name = settings.agent.name
    written = Configuration.of(settings.agent_spec().configuration)
    active = await workspace.agents.active_version(name)
    if wanted is None:
        same = active is not None and active.configuration.same_as(written, settings.agent.model)
        number = active.version if same and active is not None else None
        return VersionChoice(settings=settings, written=written, version=number, active=active)
    chosen = active if wanted == ACTIVE else await _numbered(workspace, name, wanted)
    if chosen is None:
        raise UsageError(
            what=f"the agent {name!r} has no active version",
            why="nothing was promoted yet",
            fix="leave --agent-version out to run what burnish.toml has, or promote first",
            code="not_found",
        )
    table = with_configuration(settings.agent, chosen.configuration)
    return VersionChoice(
        settings=settings.model_copy(update={"agent": table}),
        written=written,
        version=chosen.version,
        active=active,
    )


async def _numbered(workspace: Workspace, name: str, wanted: str) -> AgentVersion:
    if not wanted.isdecimal():
        raise UsageError(
            what=f"there is no version {wanted!r} of the agent {name!r}",
            why="versions are numbers",
            fix="give a number that `burnish versions` lists, or `active`",
            code="bad_usage",
        )
    return await workspace.agents.get_version(name, int(wanted))


def changed_parts(change: Difference) -> list[str]:
    """The sections by name, parameters and examples."""
    parts = [f"section {one.path}" for one in change.sections]
    parts += [f"parameter {one.name}" for one in change.parameters]
    return [*parts, "examples"] if change.examples_changed else parts
