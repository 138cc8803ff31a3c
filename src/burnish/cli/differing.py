"""Two candidates of an optimization, side by side."""

from __future__ import annotations

from rich.text import Text

from burnish.app.report.differences import difference
from burnish.cli.candidate_references import find_candidate
from burnish.cli.console import Session
from burnish.cli.display.differences import print_difference
from burnish.cli.project_location import Place
from burnish.cli.references import resolve_optimization
from burnish.cli.running import run
from burnish.domain import Candidate, TrialResult


def show_difference(
    session: Session, place: Place, reference: str, before: str, after: str
) -> None:
    """Print what changed from one candidate to the other."""
    run(_show(session, place, reference, before, after))


async def _show(session: Session, place: Place, reference: str, before: str, after: str) -> None:
    async with place.read() as workspace:
        record = await resolve_optimization(workspace.optimizations, reference)
        candidates = await workspace.optimizations.list_candidates(record.id)
        trials = await workspace.optimizations.list_trials(record.id)
    a = find_candidate(record, candidates, before)
    b = find_candidate(record, candidates, after)
    scored = {trial.candidate_id: trial for trial in trials}
    change = difference(a.configuration, b.configuration)
    if session.json_output:
        sides = {name: _side(one, scored.get(one.id)) for name, one in (("a", a), ("b", b))}
        session.print_document({"optimization_id": record.id, **sides, **change.to_json()})
        return
    head = Text.assemble(_title(a, scored.get(a.id)), ("  →  ", "dim"), _title(b, scored.get(b.id)))
    session.console.print(head)
    session.console.print()
    print_difference(session.console, change)


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
