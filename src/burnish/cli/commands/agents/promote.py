"""`burnish promote`: make a candidate the agent's active configuration."""

from __future__ import annotations

import contextlib
import getpass
import sys
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from burnish.app.agents.project_files import FileWrite, plan_writes, staged
from burnish.app.agents.promotion import Promotion, prepare_promotion, promote
from burnish.app.optimize.run_spec import project_file
from burnish.app.references import BASELINE, BEST, find_candidate, resolve_optimization
from burnish.cli.console import Streams
from burnish.cli.display.differences import print_difference
from burnish.cli.display.optimizations.results import improvement_rows
from burnish.cli.display.rows import print_notice, print_rows
from burnish.cli.options import Config, Db, Json, OptimizationReference
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless, short_id
from burnish.domain import AgentVersion, ConflictError, UsageError

_DECLINED = 1


def promote_command(
    context: typer.Context,
    optimization: OptimizationReference,
    candidate: Annotated[
        str,
        typer.Argument(metavar="[CANDIDATE]", help="A number, an id, `baseline` or `best`."),
    ] = BEST,
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    note: Annotated[str, typer.Option(help="Why, kept with the version.")] = "",
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Also write all that changed into burnish.toml and its prompt files."
        ),
    ] = False,
    keep_passing: Annotated[
        bool | None,
        typer.Option(
            "--keep-passing/--no-keep-passing",
            help="Refuse what breaks an item that the baseline passes.",
            show_default="where the run was started with keep_passing",
        ),
    ] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Make a candidate the agent's new active version, after showing what speaks for it.

    Versions are numbered and none is ever overwritten. Exit code 1 says that you said no, or that a
    gate did.
    """
    location = ProjectLocation.of(context, config, db)
    streams: Streams = context.obj
    promotion = run(_prepare(location, optimization, candidate))
    if not _is_kept(streams, promotion, keep_passing):
        raise typer.Exit(_DECLINED)
    writes = _writes(promotion, location) if write else []
    if promotion.already_active and not writes:
        _say_done(streams, promotion, promotion.active, writes, created=False)
        raise typer.Exit(0)
    if not yes and not _agreed(streams, promotion, writes):
        streams.say("nothing was changed")
        raise typer.Exit(_DECLINED)
    if yes and not streams.json_output:
        for doubt in promotion.doubts:
            print_notice(streams, [("warning", doubt)])
    if promotion.already_active:
        with staged(writes):
            version = promotion.active
    else:
        version = run(_promote(location, promotion, writes, note))
    _say_done(streams, promotion, version, writes, created=not promotion.already_active)
    raise typer.Exit(0)


def _is_kept(streams: Streams, promotion: Promotion, keep_passing: bool | None) -> bool:
    try:
        promotion.require_kept(keep_passing)
    except ConflictError as refusal:
        print_notice(streams, [("gate failed", refusal.why), ("fix", refusal.fix)])
        return False
    return True


async def _prepare(location: ProjectLocation, reference: str, candidate: str) -> Promotion:
    async with location.read() as workspace:
        record = await resolve_optimization(workspace.optimizations, reference)
        candidates = await workspace.optimizations.list_candidates(record.id)
        chosen = find_candidate(record, candidates, candidate)
        baseline = find_candidate(record, candidates, BASELINE)
        return await prepare_promotion(workspace, record, baseline, chosen)


async def _promote(
    location: ProjectLocation, promotion: Promotion, writes: list[FileWrite], note: str
) -> AgentVersion:
    author = ""
    with contextlib.suppress(Exception):  # A container's user may have no name at all.
        author = getpass.getuser()
    async with location.read() as workspace:
        with staged(writes):
            return await promote(workspace, promotion, author=author, note=note)


def _writes(promotion: Promotion, location: ProjectLocation) -> list[FileWrite]:
    record, after = promotion.record, promotion.candidate.configuration
    config = project_file(record.spec, location.config)
    return plan_writes(promotion.written, after, config, record.agent_name)


def _agreed(streams: Streams, promotion: Promotion, writes: list[FileWrite]) -> bool:
    if streams.json_output or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            what="the promotion was not made",
            why="it asks first, and there is no terminal to ask on",
            fix="look at `burnish diff`, then add --yes",
            code="needs_yes",
        )
    console = streams.console
    print_case(console, promotion)
    for one in writes:
        console.print(Text.assemble(("writes ", "dim"), str(one.path)), soft_wrap=True)
    active = promotion.active
    now = f"replaces version {active.version}" if active else "becomes its first version"
    agent = harmless(promotion.record.agent_name)
    return typer.confirm(f"Make it the active configuration of {agent} ({now})?")


def _say_done(
    streams: Streams,
    promotion: Promotion,
    version: AgentVersion | None,
    writes: list[FileWrite],
    *,
    created: bool,
) -> None:
    assert version is not None
    if streams.json_output:
        streams.print_document(_document(promotion, version, writes, created=created))
        return
    agent, number = harmless(version.agent_name), version.version
    if created:
        streams.say(f"version {number} of {agent} is active now")
    else:
        streams.say(f"version {number} of {agent} is this configuration and active already")
    for one in writes:
        streams.say(f"wrote {one.path}")
    if not writes and promotion.written.hash != version.configuration.hash:
        streams.say(
            "burnish.toml still has what the run began with, and `burnish eval` runs that; "
            "--write writes the new version there, `burnish eval --agent-version active` runs it"
        )


def _document(
    promotion: Promotion, version: AgentVersion, writes: list[FileWrite], *, created: bool
) -> dict[str, Any]:
    return {
        "agent": version.agent_name,
        "version": version.version,
        "active": version.active,
        "created": created,
        "optimization_id": promotion.record.id,
        "candidate_id": promotion.candidate.id,
        "configuration": version.configuration.to_json(),
        "configuration_hash": version.configuration.hash,
        "warnings": list(promotion.doubts),
        "note": version.note,
        "written": [str(one.path) for one in writes],
    }


def print_case(console: Console, promotion: Promotion) -> None:
    """The change, the scores, the held-out evidence and every doubt."""
    candidate = promotion.candidate
    name = f"candidate {candidate.number}" if candidate.number else "the baseline"
    optimization = short_id(promotion.record.id)
    console.print(Text.assemble((name, "bold"), (f" of optimization {optimization}", "dim")))
    console.print()
    print_difference(console, promotion.difference)
    console.print()
    rows = [("validation", Text(f"{_score(promotion.baseline_score)} → {_score(promotion.score)}"))]
    if promotion.evidence is not None:
        rows += improvement_rows(promotion.evidence, None)
    print_rows(console, rows)
    for doubt in promotion.doubts:
        console.print(Text.assemble(("! ", "bold yellow"), (doubt, "yellow")))
    console.print()


def _score(value: float | None) -> str:
    return "not scored" if value is None else f"{value:.3f}"
