"""Routes of evaluations: list, read, start, cancel and resume one configuration on one suite."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Path, Query

from burnish.app.evaluate import leases
from burnish.app.evaluate.queued import create_evaluation, read_evaluation
from burnish.app.report.runs.waiting import read_waiting
from burnish.domain import Budget, Outcome, RoundEnd
from burnish.domain.optimizations.pages import ItemFilter
from burnish.server.evaluations.schemas import (
    EvaluationLine,
    EvaluationPage,
    EvaluationView,
    NewEvaluation,
)
from burnish.server.http import examples
from burnish.server.http.errors import errors
from burnish.server.http.requests import Cursor, Limit, decode_cursor, decode_place, encode_cursor
from burnish.server.http.services import Serving
from burnish.server.optimizations.trial_schemas import ItemPage, ItemView

router = APIRouter(prefix="/v1/private/evaluations", tags=["evaluations"])
_NEWEST = "-created_at"
# One that nobody runs ends at once; an owner elsewhere is not waited for.
_PATIENCE_SECONDS = 0.5
ExperimentId = Annotated[str, Path(min_length=1, max_length=100, examples=[examples.EXPERIMENT_ID])]
_LINKS: dict[str, Any] = {
    name: {
        "operationId": name,
        "parameters": {"experiment_id": "$response.body#/experiment_id"},
    }
    for name in (
        *("get_evaluation", "list_evaluation_items"),
        *("cancel_evaluation", "resume_evaluation"),
    )
}


async def _wanted(
    failing: Annotated[bool, Query(description="Only those that did not pass.")] = False,
    outcome: Annotated[
        Outcome | Literal["refined"] | None,
        Query(description="Only outputs of which refinement made this; `refined`: anything."),
    ] = None,
    ended: Annotated[
        RoundEnd | None, Query(description="Only outputs whose rounds ended because of this.")
    ] = None,
) -> ItemFilter:
    return ItemFilter(
        failing=failing,
        refined=outcome == "refined",
        outcome=outcome if isinstance(outcome, Outcome) else None,
        ended=ended,
    )


WantedItems = Annotated[ItemFilter, Depends(_wanted)]


@router.get("", responses=errors(404))
async def list_evaluations(
    serving: Serving, limit: Limit = 50, cursor: Cursor = None
) -> EvaluationPage:
    """Evaluations that are no part of an optimization, the newest first."""
    place = decode_place(_NEWEST, cursor, str)
    found = await serving.workspace.experiments.list_experiments(
        limit=limit + 1, before=None if place is None else place[0], standalone=True
    )
    last = (found[limit - 1].id,) if len(found) > limit else None
    return EvaluationPage(
        items=[EvaluationLine.of(one) for one in found[:limit]],
        next_cursor=encode_cursor(_NEWEST, last),
    )


@router.post("", status_code=201, responses={201: {"links": _LINKS}, **errors(404)})
async def start_evaluation(serving: Serving, new: NewEvaluation) -> EvaluationView:
    """Evaluate a version of an agent, with overrides that are not saved. Runs in the background."""
    experiment_id = await create_evaluation(
        serving.workspace,
        serving.project,
        new.choice(),
        new.selection(),
        name=new.name,
        budget=Budget(**new.budget.given()),
        failing_of=new.failing_of,
        baseline=new.baseline,
        reruns=new.reruns or 0,
    )
    serving.wake()
    return await _view(serving, experiment_id)


@router.get("/{experiment_id}", responses=errors(404))
async def get_evaluation(serving: Serving, experiment_id: ExperimentId) -> EvaluationView:
    """One evaluation with what came out so far, also that of a candidate (`eval_run_id`)."""
    return await _view(serving, experiment_id)


@router.post("/{experiment_id}/cancel", status_code=202, responses=errors(404, 409))
async def cancel_evaluation(serving: Serving, experiment_id: ExperimentId) -> EvaluationView:
    """Stop it, wherever it runs. Results are kept; asking twice does no harm."""
    await leases.cancel_evaluation(
        serving.workspace,
        experiment_id,
        patience_seconds=_PATIENCE_SECONDS,
        nudge=None if serving.evaluator is None else serving.evaluator.nudge,
    )
    return await _view(serving, experiment_id)


@router.post("/{experiment_id}/resume", status_code=202, responses=errors(404, 409))
async def resume_evaluation(serving: Serving, experiment_id: ExperimentId) -> EvaluationView:
    """Go on with one that was cancelled or has failed: only what it lacks is run."""
    await leases.resume_evaluation(serving.workspace, experiment_id)
    serving.wake()
    return await _view(serving, experiment_id)


@router.get("/{experiment_id}/items", responses=errors(404))
async def list_evaluation_items(
    serving: Serving,
    experiment_id: ExperimentId,
    wanted: WantedItems,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> ItemPage:
    """What was answered, item by item."""
    await serving.workspace.experiments.get_experiment(experiment_id)
    page = await serving.workspace.pages.items(
        experiment_id, wanted=wanted, limit=limit, after=decode_cursor("item", cursor)
    )
    return ItemPage(
        items=[ItemView.of(one) for one in page.items],
        next_cursor=encode_cursor("item", page.next),
    )


async def _view(serving: Serving, experiment_id: str) -> EvaluationView:
    workspace = serving.workspace
    result = await read_evaluation(workspace, experiment_id)
    ended = result.experiment.status.final
    waiting = [] if ended else await read_waiting(workspace, experiment_id)
    return EvaluationView.of_result(result, waiting)
