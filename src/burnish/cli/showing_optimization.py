"""One stored optimization, printed: its summary, or the parts that were asked for."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from burnish.app.optimize.objectives import ranked
from burnish.app.optimize.result import OptimizationResult
from burnish.app.report.collapse import collapse_warnings
from burnish.app.wiring import Workspace
from burnish.cli.console import Session
from burnish.cli.display.candidate_tree import print_tree, tree_json
from burnish.cli.display.events import event_json, print_events
from burnish.cli.display.objective import print_front
from burnish.cli.display.optimization_summary import print_unfinished, print_version, summary_json
from burnish.cli.display.rejections import print_rejections, rejection_json
from burnish.cli.display.search_results import print_search_result
from burnish.cli.display.trials import print_trials, trial_json
from burnish.cli.project_location import Place
from burnish.cli.views import Views
from burnish.domain import Candidate, Event, OptimizationRecord, TrialResult
from burnish.optimization.objectives.document import front_json
from burnish.optimization.objectives.front import points_of

_PAGE = 1000


async def show_optimization(
    session: Session, place: Place, workspace: Workspace, record: OptimizationRecord, views: Views
) -> None:
    """Print it."""
    if not views.of_optimization:
        await _show_summary(session, place, workspace, record)
        return
    document: dict[str, Any] = {}
    console = session.console
    if views.trials or views.graph:
        candidates = await workspace.optimizations.list_candidates(record.id)
        trials = await workspace.optimizations.list_trials(record.id, mini_batches=True)
        if session.json_output:
            document.update(_candidates_json(record, candidates, trials, views))
        else:
            _print_candidates(console, record, candidates, trials, views)
    if views.rejections:
        rejections = await workspace.optimizations.list_rejections(record.id)
        document["rejections"] = [rejection_json(one) for one in rejections]
        if not session.json_output:
            print_rejections(console, rejections)
    if views.events:
        events = await _all_events(workspace, record.id)
        document["events"] = [event_json(one) for one in events]
        if not session.json_output:
            print_events(console, events)
    if session.json_output:
        session.print_document(document)


async def _show_summary(
    session: Session, place: Place, workspace: Workspace, record: OptimizationRecord
) -> None:
    active = await workspace.agents.active_version(record.agent_name)
    trials = await workspace.optimizations.list_trials(record.id)
    candidates = await workspace.optimizations.list_candidates(record.id)
    by_id = {one.id: one for one in candidates}
    points = points_of(trials, by_id)
    ranking = ranked(record, points)
    front = front_json(ranking, points)
    if session.json_output:
        session.print_document(summary_json(record, active, front))
        return
    if record.result is not None:
        result = OptimizationResult(
            record=record, document=record.result, candidates=by_id, trials=trials
        )
        warnings = await collapse_warnings(workspace, record)
        print_search_result(session.console, result, place, warnings)
    else:
        print_unfinished(session.console, record, by_id, trials, place)
        if ranking.objective.measures and front:
            print_front(session.console, front, record.best_candidate_id)
    if active is not None:
        print_version(session.console, active, record)


def _candidates_json(
    record: OptimizationRecord,
    candidates: list[Candidate],
    trials: list[TrialResult],
    views: Views,
) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if views.trials:
        by_id = {one.id: one for one in candidates}
        document["trials"] = [trial_json(one, by_id[one.candidate_id]) for one in trials]
    if views.graph:
        document.update(tree_json(record, candidates, trials))
    return document


def _print_candidates(
    console: Console,
    record: OptimizationRecord,
    candidates: list[Candidate],
    trials: list[TrialResult],
    views: Views,
) -> None:
    if views.trials:
        print_trials(console, record, candidates, trials)
    if views.graph:
        print_tree(console, record, candidates, trials)


async def _all_events(workspace: Workspace, optimization_id: str) -> list[Event]:
    found: list[Event] = []
    while True:
        after = found[-1].sequence if found else 0
        some = await workspace.optimizations.list_events(optimization_id, after=after, limit=_PAGE)
        found.extend(some)
        if len(some) < _PAGE:
            return found
