"""A candidate of an optimization, the winner unless told, written in a format to take along."""

from __future__ import annotations

from pathlib import Path

from burnish.app.agents.promotion import Promotion, prepare_promotion
from burnish.app.agents.section_files import plan_writes
from burnish.app.optimize.run_spec import section_files
from burnish.app.wiring import Workspace
from burnish.cli.candidate_references import BASELINE, find_candidate
from burnish.cli.commands.export import Format
from burnish.cli.console import Session
from burnish.cli.exports.patch import git_patch, repository_root
from burnish.cli.exports.winner import winner_json, winner_markdown, winner_python
from burnish.cli.project_location import Place
from burnish.domain import OptimizationRecord, UsageError

_WRITERS = {
    Format.JSON: winner_json,
    Format.MARKDOWN: winner_markdown,
    Format.PYTHON: winner_python,
}


async def winner_text(
    session: Session,
    place: Place,
    workspace: Workspace,
    record: OptimizationRecord,
    candidate: str,
    kind: Format,
) -> str:
    """The whole text. UsageError where the format cannot say it."""
    candidates = await workspace.optimizations.list_candidates(record.id)
    chosen = find_candidate(record, candidates, candidate)
    baseline = find_candidate(record, candidates, BASELINE)
    found = await prepare_promotion(workspace, record, baseline, chosen)
    if kind is Format.PATCH:
        return _patch(session, place, found)
    if kind not in _WRITERS:
        formats = ", ".join(one.value for one in (*_WRITERS, Format.PATCH))
        raise UsageError(
            what=f"an optimization cannot be written as {kind.value}",
            why="that is a format for the results of an experiment",
            fix=f"use one of {formats}; `burnish show {record.id} --trials` names its experiments",
            code="bad_usage",
        )
    return _WRITERS[kind](found)


def _patch(session: Session, place: Place, found: Promotion) -> str:
    here = place.config.absolute().parent
    change, files = found.difference, section_files(found.record.spec, here)
    writes = plan_writes(change, files)
    left = [one.path for one in change.sections if one.path not in files]
    if change.parameters or change.examples_changed:
        left.append("parameters and examples")
    if not writes:
        raise UsageError(
            what="there is nothing to write a patch of",
            why="no section that changed stands in a file of its own"
            if not change.empty
            else "the candidate is the configuration that the run started with",
            fix='keep sections in files (`system = { file = "prompts/system.md" }`), or use -f json',
            code="no_section_files",
        )
    if left:
        session.say(f"not in the patch, since no file of its own holds it: {', '.join(left)}")
    return git_patch(writes, repository_root(Path(here).resolve()))
