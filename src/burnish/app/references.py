"""References to experiments, optimizations and candidates: an id, part of it, a name or `latest`.

Of several with one name the newest is meant. `latest` is the newest of what a command takes.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING

from burnish.domain import (
    Candidate,
    Experiment,
    ExperimentRepository,
    ExperimentStatus,
    OptimizationRecord,
    OptimizationRepository,
    UsageError,
)

if TYPE_CHECKING:
    from burnish.app.wiring import Workspace

LATEST = "latest"
_PAGE = 500
_LISTED = 5
_WHOLE_ID = 36
# The end of an id is drawn at random: so much of it names one thing, whatever else there is.
_SURE_ENDING = 8
BASELINE = "baseline"
BEST = "best"


async def resolve(experiments: ExperimentRepository, reference: str) -> Experiment:
    """The one experiment that is meant; UsageError when there is none or more than one."""
    wanted = _wanted(reference, "experiment")
    if wanted == LATEST:
        newest = await _newest_experiment(experiments)
        if newest is None:
            raise _unknown("experiment", "there are no experiments yet", "run `burnish eval` first")
        return newest
    found, named = await _experiments_like(experiments, wanted)
    if named is not None:
        return named
    if len(found) != 1:
        raise _not_one("experiment", reference, [one.id for one in found])
    return found[0]


async def resolve_optimization(
    optimizations: OptimizationRepository, reference: str
) -> OptimizationRecord:
    """The one optimization that is meant, whole."""
    wanted = _wanted(reference, "optimization")
    found, _ = await _optimizations_like(optimizations, wanted)
    if wanted == LATEST and not found:
        raise _unknown(
            "optimization", "there are no optimizations yet", "run `burnish optimize` first"
        )
    if len(found) != 1:
        raise _not_one("optimization", reference, found)
    return await optimizations.get_optimization(found[0])


async def resolve_any(workspace: Workspace, reference: str) -> Experiment | OptimizationRecord:
    """Whichever is meant. Trials of optimizations are never the latest: their optimization is."""
    wanted = _wanted(reference, "experiment or optimization")
    if wanted == LATEST:
        return await _newest_of_both(workspace)
    found, run = await _optimizations_like(workspace.optimizations, wanted)
    if (
        run is None
        and len(found) == 1
        and ((found[0].endswith(wanted) and len(wanted) >= _SURE_ENDING) or found[0] == wanted)
    ):
        return await workspace.optimizations.get_optimization(found[0])
    if not found and len(wanted) == _WHOLE_ID and _is_id(wanted):
        return await workspace.experiments.get_experiment(wanted)
    experiments, named = await _experiments_like(workspace.experiments, wanted)
    if named is not None and (run is None or named.created_at >= run.created_at):
        return named
    if run is not None:
        return await workspace.optimizations.get_optimization(run.id)
    if len(experiments) == 1 and not found:
        return experiments[0]
    if len(found) == 1 and not experiments:
        return await workspace.optimizations.get_optimization(found[0])
    ids = [*found, *(one.id for one in experiments)]
    raise _not_one("experiment or optimization", reference, ids)


async def resolve_job(workspace: Workspace, reference: str) -> Experiment | OptimizationRecord:
    """As `resolve_any`, but an evaluation that is done is not the latest where a run waits."""
    found = await resolve_any(workspace, reference)
    if _wanted(reference, "job") != LATEST or not isinstance(found, Experiment):
        return found
    runs = await workspace.optimizations.list_optimizations(limit=1)
    if not runs or found.status is not ExperimentStatus.COMPLETED:
        return found
    return await workspace.optimizations.get_optimization(runs[0].id)


async def all_experiments(
    experiments: ExperimentRepository, *, page: int | None = None
) -> AsyncIterator[Experiment]:
    """Newest first."""
    size = page or _PAGE
    before: str | None = None
    while True:
        some = await experiments.list_experiments(limit=size, before=before)
        for experiment in some:
            yield experiment
        if len(some) < size:
            return
        before = some[-1].id


async def _newest_experiment(experiments: ExperimentRepository) -> Experiment | None:
    """The newest that was run for itself and not for an optimization."""
    newest = await experiments.list_experiments(limit=1, standalone=True)
    return newest[0] if newest else None


async def _newest_of_both(workspace: Workspace) -> Experiment | OptimizationRecord:
    optimizations = await workspace.optimizations.list_optimizations(limit=1)
    experiment = await _newest_experiment(workspace.experiments)
    if optimizations and (
        experiment is None or optimizations[0].created_at > experiment.created_at
    ):
        return await workspace.optimizations.get_optimization(optimizations[0].id)
    if experiment is None:
        raise _unknown(
            "experiment or optimization", "there are none yet", "run `burnish eval` first"
        )
    return experiment


async def _experiments_like(
    experiments: ExperimentRepository, wanted: str
) -> tuple[list[Experiment], Experiment | None]:
    """Those whose id the wanted text is part of, and the one that it names, by id or by name."""
    found: list[Experiment] = []
    named: Experiment | None = None
    async for one in all_experiments(experiments):
        if one.id == wanted:
            return [one], one
        if _is_part(wanted, one.id):
            found.append(one)
        if named is None and one.optimization_id is None and one.name.lower() == wanted:
            named = one
    return found, named


async def _optimizations_like(
    optimizations: OptimizationRepository, wanted: str
) -> tuple[list[str], OptimizationRecord | None]:
    """The ids that the wanted text is, or is part of, and the newest of that name.

    The exact one alone where there is one, and the named one alone likewise.
    """
    found: list[str] = []
    named: OptimizationRecord | None = None
    before: str | None = None
    while True:
        some = await optimizations.list_optimizations(limit=_PAGE, before=before)
        if wanted == LATEST:
            return [one.id for one in some[:1]], None
        for one in some:
            if one.id == wanted:
                return [one.id], None
            if _is_part(wanted, one.id):
                found.append(one.id)
            if named is None and one.name.lower() == wanted:
                named = one
        if len(some) < _PAGE:
            return (found, None) if named is None else ([named.id], named)
        before = some[-1].id


def _wanted(reference: str, noun: str) -> str:
    wanted = reference.strip().lower()
    if not wanted:
        raise _unknown(noun, "it is empty", "name one that `burnish list` shows, or `latest`")
    return wanted


def _is_id(wanted: str) -> bool:
    return wanted.count("-") == 4 and set(wanted) <= set("0123456789abcdef-")


def _is_part(wanted: str, identifier: str) -> bool:
    return identifier.startswith(wanted) or identifier.endswith(wanted)


def _not_one(noun: str, reference: str, found: Sequence[str]) -> UsageError:
    if not found:
        return _unknown(
            noun,
            f"none has the name {reference!r} or an id that begins or ends so",
            "run `burnish list` for all of them",
        )
    some = ", ".join(found[:_LISTED])
    more = f" and {len(found) - _LISTED} more" if len(found) > _LISTED else ""
    return _unknown(
        noun, f"{reference!r} could be {some}{more}", "write more of the id", "ambiguous_reference"
    )


def _unknown(noun: str, why: str, fix: str, code: str = "not_found") -> UsageError:
    return UsageError(what=f"the {noun} cannot be found", why=why, fix=fix, code=code)


def find_candidate(
    record: OptimizationRecord, candidates: Sequence[Candidate], reference: str
) -> Candidate:
    """The candidate that is meant; UsageError when there is none."""
    wanted = reference.strip().lower()
    if not candidates:
        raise _unknown_candidate(
            "the optimization has no candidates yet", f"`burnish resume {record.id}`"
        )
    if wanted == BASELINE:
        return candidates[0]
    if wanted == BEST:
        return _best(record, candidates)
    for candidate in candidates:
        if wanted in (candidate.id, str(candidate.number), f"#{candidate.number}"):
            return candidate
    raise _unknown_candidate(
        f"{reference!r} is none of its candidates",
        f"use baseline, best, or a number from 0 to {candidates[-1].number}; "
        f"`burnish show {record.id} --trials` lists them",
    )


def _best(record: OptimizationRecord, candidates: Sequence[Candidate]) -> Candidate:
    for candidate in candidates:
        if candidate.id == record.best_candidate_id:
            return candidate
    raise _unknown_candidate(
        "no trial has been scored yet", "wait for the baseline, or name one by number"
    )


def _unknown_candidate(why: str, fix: str) -> UsageError:
    return UsageError(what="the candidate cannot be found", why=why, fix=fix, code="not_found")
