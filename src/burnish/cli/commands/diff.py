"""`burnish diff`: what two candidates differ in."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from burnish.app.references import BASELINE, BEST, LATEST, find_candidate, resolve_optimization
from burnish.app.report.differences import difference
from burnish.cli.console import Streams
from burnish.cli.display.differences import print_difference
from burnish.cli.options import Config, Db, Json, OptimizationReference
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.domain import Candidate, TrialResult

_NAMES = "A number, an id, `baseline` or `best`."


def diff(
    context: typer.Context,
    optimization: OptimizationReference = LATEST,
    a: Annotated[str | None, typer.Argument(metavar="[A]", help=_NAMES, show_default=False)] = None,
    b: Annotated[str | None, typer.Argument(metavar="[B]", help=_NAMES, show_default=False)] = None,
    json_output: Json = False,
    config: Config = None,
    db: Db = None,
) -> None:
    """Show what changed between two candidates, by section; else between baseline and best.

    With A alone, the baseline is compared with A. Two runs or experiments: `burnish compare`.
    """
    before, after = (BASELINE, a or BEST) if b is None else (a or BASELINE, b)
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    run(_show(streams, location, optimization, before, after))


async def _show(
    streams: Streams, location: ProjectLocation, reference: str, before: str, after: str
) -> None:
    async with location.read() as workspace:
        record = await resolve_optimization(workspace.optimizations, reference)
        candidates = await workspace.optimizations.list_candidates(record.id)
        trials = await workspace.optimizations.list_trials(record.id)
    a = find_candidate(record, candidates, before)
    b = find_candidate(record, candidates, after)
    scored = {trial.candidate_id: trial for trial in trials}
    change = difference(a.configuration, b.configuration)
    if streams.json_output:
        sides = {name: _side(one, scored.get(one.id)) for name, one in (("a", a), ("b", b))}
        streams.print_document({"optimization_id": record.id, **sides, **change.to_json()})
        return
    head = Text.assemble(_title(a, scored.get(a.id)), ("  →  ", "dim"), _title(b, scored.get(b.id)))
    streams.console.print(head)
    streams.console.print()
    print_difference(streams.console, change)


def _side(candidate: Candidate, trial: TrialResult | None) -> dict[str, object]:
    return {
        "candidate_id": candidate.id,
        "number": candidate.number,
        "score": None if trial is None else trial.objective_score,
        "configuration_hash": candidate.configuration.hash,
    }


def _title(candidate: Candidate, trial: TrialResult | None) -> Text:
    name = f"candidate {candidate.number}" if candidate.number else "baseline"
    score = None if trial is None else trial.objective_score
    return Text.assemble((name, "bold"), ("" if score is None else f" {score:.3f}", "cyan"))
