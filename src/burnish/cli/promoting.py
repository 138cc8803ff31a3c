"""A candidate promoted: shown, asked about, made the active version."""

from __future__ import annotations

import contextlib
import getpass
import sys
from typing import Any

import typer
from rich.text import Text

from burnish.app.agents.promotion import Promotion, prepare_promotion, promote
from burnish.app.agents.section_files import SectionWrite, plan_writes, staged
from burnish.app.optimize.run_spec import section_files
from burnish.cli.candidate_references import BASELINE, find_candidate
from burnish.cli.console import Session
from burnish.cli.display.promotions import print_case, print_unwritten
from burnish.cli.project_location import Place
from burnish.cli.references import resolve_optimization
from burnish.cli.running import run
from burnish.cli.wording import harmless
from burnish.domain import AgentVersion, UsageError

_DECLINED = 1


def promote_candidate(
    session: Session,
    place: Place,
    reference: str,
    candidate: str,
    *,
    yes: bool,
    note: str,
    write: bool,
) -> int:
    """Promote it once it is agreed on, and return the exit code."""
    promotion = run(_prepare(place, reference, candidate))
    writes = _writes(promotion, place) if write else []
    if promotion.already_active and not writes:
        _say_done(session, promotion, promotion.active, writes, created=False)
        return 0
    if not yes and not _agreed(session, promotion, writes):
        session.say("nothing was changed")
        return _DECLINED
    if promotion.already_active:
        with staged(writes):
            version = promotion.active
    else:
        version = run(_promote(place, promotion, writes, note))
    _say_done(session, promotion, version, writes, created=not promotion.already_active)
    if write and not session.json_output:
        print_unwritten(session.console, promotion.difference, {one.section for one in writes})
    return 0


async def _prepare(place: Place, reference: str, candidate: str) -> Promotion:
    async with place.read() as workspace:
        record = await resolve_optimization(workspace.optimizations, reference)
        candidates = await workspace.optimizations.list_candidates(record.id)
        chosen = find_candidate(record, candidates, candidate)
        baseline = find_candidate(record, candidates, BASELINE)
        return await prepare_promotion(workspace, record, baseline, chosen)


async def _promote(
    place: Place, promotion: Promotion, writes: list[SectionWrite], note: str
) -> AgentVersion:
    author = ""
    with contextlib.suppress(Exception):  # A container's user may have no name at all.
        author = getpass.getuser()
    async with place.read() as workspace:
        with staged(writes):
            return await promote(workspace, promotion, author=author, note=note)


def _writes(promotion: Promotion, place: Place) -> list[SectionWrite]:
    files = section_files(promotion.record.spec, place.config.absolute().parent)
    return plan_writes(promotion.difference, files)


def _agreed(session: Session, promotion: Promotion, writes: list[SectionWrite]) -> bool:
    if session.json_output or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            what="the promotion was not made",
            why="it asks first, and there is no terminal to ask on",
            fix="look at `burnish diff`, then add --yes",
            code="needs_yes",
        )
    console = session.console
    print_case(console, promotion)
    for one in writes:
        console.print(Text.assemble(("writes ", "dim"), str(one.path)), soft_wrap=True)
    active = promotion.active
    now = f"replaces version {active.version}" if active else "becomes its first version"
    agent = harmless(promotion.record.agent_name)
    return typer.confirm(f"Make it the active configuration of {agent} ({now})?")


def _say_done(
    session: Session,
    promotion: Promotion,
    version: AgentVersion | None,
    writes: list[SectionWrite],
    *,
    created: bool,
) -> None:
    assert version is not None
    if session.json_output:
        session.print_document(_document(promotion, version, writes, created=created))
        return
    agent, number = harmless(version.agent_name), version.version
    if created:
        session.say(f"version {number} of {agent} is active now")
    else:
        session.say(f"version {number} of {agent} is this configuration and active already")
    for one in writes:
        session.say(f"wrote {one.path}")


def _document(
    promotion: Promotion, version: AgentVersion, writes: list[SectionWrite], *, created: bool
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
