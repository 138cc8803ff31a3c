"""Projection of what Opik clients sent onto our records: item results, trials, best and baseline."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from typing import Any

from burnish.app.optimize.client_lease import OpikLease, is_of_client
from burnish.app.wiring import Workspace
from burnish.domain import (
    AgentOutput,
    Candidate,
    ErrorKind,
    Event,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    ItemError,
    ItemResult,
    Lease,
    OptimizationRepository,
    Purpose,
    Score,
    Spending,
    StepCandidate,
    TrialResult,
    Usage,
    UsageError,
    exact_hash,
)
from burnish.domain.opik import Document, OpikRun, OpikScore
from burnish.optimization import events
from burnish.optimization.experiments.adapter import RawExperimentResults
from burnish.optimization.experiments.aggregator import normalise

_PART = 200
_MOST_SPANS = 200
_LONGEST = 20_000
_SHOWN_OF_TRACE = ("name", "input", "metadata", "tags", "start_time", "end_time", "error_info")
_SHOWN_OF_SPAN = ("name", "type", "model", "provider", "input", "output", "usage", "error_info")
_SCORER_ERROR = "the client finished the experiment and sent no score"


class OpikProjection:
    """Keeps our records level with what was sent."""

    def __init__(self, workspace: Workspace, lease: OpikLease) -> None:
        self._workspace = workspace
        self._lease = lease

    async def traces_changed(self, trace_ids: Iterable[str]) -> None:
        """Something about some traces came in."""
        affected = await self._workspace.opik.experiments_of(list(trace_ids))
        for experiment_id, item_ids in affected.items():
            await self.refresh(experiment_id, sorted(item_ids))

    async def refresh(self, experiment_id: str, item_ids: Sequence[str] | None = None) -> None:
        """Make the results of some items, or of all; without the experiment they wait for it."""
        try:
            experiment = await self._workspace.experiments.get_experiment(experiment_id)
        except UsageError:
            return
        if "opik" not in experiment.metadata:
            return
        of = experiment.optimization_id
        if of is None:
            async with self._lease.lock(experiment_id):
                await self._results(experiment_id, item_ids, "", None)
            return
        record = await self._workspace.optimizations.get_optimization(of)
        if is_of_client(record):
            objective = record.objective_name

            async def work(lease: Lease) -> None:
                stored = await self._results(experiment_id, item_ids, objective, lease)
                if stored.status.final:
                    await self._trial(lease, stored)

            await self._lease.write(of, work)

    async def _results(
        self,
        experiment_id: str,
        item_ids: Sequence[str] | None,
        objective: str,
        lease: Lease | None,
    ) -> Experiment:
        experiments = self._workspace.experiments
        # Read here and not before: whoever was first may have finished it meanwhile.
        experiment = await experiments.get_experiment(experiment_id)
        runs = await self._workspace.opik.runs(experiment_id, item_ids)
        final = experiment.status.final
        results = results_of(runs, objective, finished=final)
        for start in range(0, len(results), _PART):
            part = results[start : start + _PART]
            await experiments.save_results(experiment_id, part, lease=lease)
        if final:
            count = (await experiments.summarise(experiment_id)).runs
            if count != experiment.planned_items:
                await experiments.update_experiment(experiment_id, planned_items=count, lease=lease)
        return experiment

    async def _trial(self, lease: Lease, experiment: Experiment) -> None:
        repository = self._workspace.optimizations
        trials = await repository.list_trials(lease.job_id, mini_batches=True)
        trial = next((one for one in trials if one.experiment_id == experiment.id), None)
        if trial is None:
            return
        candidates = await repository.list_candidates(lease.job_id)
        candidate = next(one for one in candidates if one.id == trial.candidate_id)
        step = StepCandidate(candidate=candidate, experiment_id=experiment.id)
        raw = RawExperimentResults(
            status=experiment.status,
            summary=await self._workspace.experiments.summarise(experiment.id),
            error=_text(experiment.metadata.get("trial_error")),
        )
        ended = replace(normalise(step, raw), type=trial.type)
        if ended.status is ExperimentStatus.COMPLETED and not ended.summary.total_items:
            ended = replace(ended, objective_score=None)
        if ended != trial:
            # A trial that had ended before is told once more: its numbers are others now.
            again = lease.token if trial.status.final else None
            told = [events.trial_changed(ended, candidate.number, again=again)]
            await repository.save_trial(lease, ended, events=told)
        await save_run_status(repository, lease, candidates)


def results_of(runs: Sequence[OpikRun], objective: str, *, finished: bool) -> list[ItemResult]:
    """Results of runs that are ordered by item and then by their own id: that makes the repeats."""
    found = []
    for item_id, group in groupby(runs, key=lambda one: one.item.item_id):
        # No cache looks for it, so it need only tell items apart.
        item_hash = exact_hash(item_id)
        for repeat, run in enumerate(group):
            result = result_of(
                run, repeat=repeat, item_hash=item_hash, objective=objective, finished=finished
            )
            if result is not None:
                found.append(result)
    return found


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def result_of(
    run: OpikRun, *, repeat: int, item_hash: str, objective: str, finished: bool
) -> ItemResult | None:
    """The result, or None while it may still be scored."""
    scores = tuple(_score(one) for one in run.scores)
    usable = [one for one in scores if one.error is None]
    error = _error(run.trace)
    if not usable and error is None:
        if not finished:
            return None
        error = ItemError(kind=ErrorKind.SCORER, message=_SCORER_ERROR)
    value = _objective(usable, objective)
    return ItemResult(
        item_id=run.item.item_id,
        item_hash=item_hash,
        repeat=repeat,
        score=value,
        passed=error is None and value >= 1.0,
        output=None if run.trace is None else _output(run.trace, run.spans),
        scores=scores,
        error=error,
        spending=_spending(run.spans),
        latency_ms=_milliseconds(run.trace),
    )


def _score(score: OpikScore) -> Score:
    value, reason = score.document.get("value"), score.document.get("reason")
    known = isinstance(value, (int, float)) and math.isfinite(value)
    return Score(
        value=float(value) if known and value is not None else 0.0,
        reason=str(reason or ""),
        name=score.name,
        error=None if known else "its value is no finite number",
    )


def _objective(scores: Sequence[Score], objective: str) -> float:
    """The score that the optimization is for; the mean of all where none has its name."""
    named = [one.value for one in scores if one.name == objective]
    values = named or [one.value for one in scores]
    return sum(values) / len(values) if values else 0.0


def _error(trace: Document | None) -> ItemError | None:
    info = (trace or {}).get("error_info")
    if not isinstance(info, Mapping):
        return None
    told = [str(info[name]) for name in ("exception_type", "message") if info.get(name)]
    # Our own mirror names the kind.
    named = next((one for one in ErrorKind if one.value == info.get("exception_type")), None)
    message = str(info.get("message") or "") if named is not None else ": ".join(told)
    return ItemError(kind=named or ErrorKind.AGENT, message=message or "the trace has an error")


def _output(trace: Document, spans: Sequence[Document]) -> AgentOutput:
    answer = trace.get("output")
    return AgentOutput(
        text=_answer_text(answer), data=_bounded(answer), trace=_shown_trace(trace, spans)
    )


def _answer_text(answer: Any) -> str:
    """An answer's only text, or all of it as JSON."""
    if isinstance(answer, Mapping) and len(answer) == 1:
        answer = next(iter(answer.values()))
    if isinstance(answer, str):
        return answer
    return "" if answer is None else json.dumps(answer, ensure_ascii=False)


def _shown_trace(trace: Document, spans: Sequence[Document]) -> dict[str, Any]:
    shown = {name: trace[name] for name in _SHOWN_OF_TRACE if trace.get(name) is not None}
    ordered = sorted(spans, key=lambda one: (str(one.get("start_time")), str(one.get("id"))))
    by_parent: dict[str | None, list[Document]] = {}
    ids = {one.get("id") for one in ordered[:_MOST_SPANS]}
    for one in ordered[:_MOST_SPANS]:
        parent = one.get("parent_span_id")
        # A span that never came, or itself, is no parent.
        own = parent in ids and parent != one.get("id")
        by_parent.setdefault(str(parent) if own else None, []).append(one)
    told = {"id": trace.get("id"), **shown, "spans": _tree(by_parent, None, set())}
    if len(ordered) > _MOST_SPANS:
        told["spans_left_out"] = len(ordered) - _MOST_SPANS
    bounded = _bounded(told)
    assert isinstance(bounded, dict)
    return bounded


def _tree(
    by_parent: Mapping[str | None, Sequence[Document]], parent: str | None, above: set[str]
) -> list[dict[str, Any]]:
    found = []
    for one in by_parent.get(parent, ()):
        span = {name: one[name] for name in _SHOWN_OF_SPAN if one.get(name) is not None}
        span["ms"] = _milliseconds(one)
        identity = str(one.get("id"))
        inner = _tree(by_parent, identity, above | {identity}) if identity not in above else []
        found.append({**span, "spans": inner} if inner else span)
    return found


def _bounded(value: Any) -> Any:
    """The same with long texts cut: a page shows it, and the whole stays where it was sent to."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    if isinstance(value, Mapping):
        return {str(name): _bounded(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_bounded(inner) for inner in value]
    return value


def _spending(spans: Sequence[Document]) -> Spending:
    """What the calls of models in the spans took."""
    calls = [one for one in spans if one.get("type") == "llm"]
    if not calls:
        return Spending()
    return Spending.on(Purpose.AGENT, sum((_usage(one) for one in calls), Usage()))


def _usage(span: Document) -> Usage:
    told = span.get("usage")
    usage = told if isinstance(told, Mapping) else {}
    cost = span.get("total_estimated_cost", span.get("total_cost"))
    return Usage(
        calls=1,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        cost_usd=float(cost) if isinstance(cost, (int, float)) and math.isfinite(cost) else None,
    )


def _count(value: Any) -> int:
    return max(int(value), 0) if isinstance(value, (int, float)) and math.isfinite(value) else 0


def _milliseconds(document: Document | None) -> float:
    try:
        began, ended = (
            datetime.fromisoformat(str((document or {})[name]))
            for name in ("start_time", "end_time")
        )
        return max((ended - began).total_seconds() * 1000, 0.0)
    except (KeyError, ValueError, TypeError):
        return 0.0


async def save_run_status(
    repository: OptimizationRepository, lease: Lease, candidates: Sequence[Candidate]
) -> None:
    """Best and baseline from the trials; mini-batches never count."""
    identity = lease.job_id
    record = await repository.get_optimization(identity)
    trials = await repository.list_trials(identity, mini_batches=True)
    numbers = {one.id: one.number for one in candidates}
    scored = [one for one in trials if one.counts and one.objective_score is not None]
    best = max(scored, key=lambda one: one.objective_score or 0.0, default=None)
    baseline = next((one for one in scored if numbers[one.candidate_id] == 0), None)
    counters = _counters(trials, numbers)
    told: list[Event] = [events.progress_changed(counters)]
    if best is not None and best.objective_score is not None:
        moved = (record.best_candidate_id, record.best_score)
        if moved != (best.candidate_id, best.objective_score):
            told.append(
                events.best_changed(
                    best.candidate_id, best.objective_score, times=max(lease.token, 2)
                )
            )
    await repository.save_checkpoint(
        lease,
        {
            **(record.checkpoint or {}),
            "progress": _progress(trials),
            "proposed": counters["proposed"],
        },
        best_candidate_id=None if best is None else best.candidate_id,
        best_score=None if best is None else best.objective_score,
        baseline_score=None if baseline is None else baseline.objective_score,
        events=told,
    )


def _counters(trials: Sequence[TrialResult], numbers: Mapping[str, int]) -> Mapping[str, int]:
    tried = [one for one in trials if one.type is ExperimentType.TRIAL]
    return {
        "proposed": len({one for one, number in numbers.items() if number}),
        **events.tally(one.status for one in tried if numbers[one.candidate_id]),
        "rejected": 0,
        "evaluations": sum(one.summary.total_items for one in trials),
    }


def _progress(trials: Sequence[TrialResult]) -> list[list[Any]]:
    """Evaluations so far, candidate and score, at each new best."""
    found: list[list[Any]] = []
    evaluations = 0
    for one in trials:
        evaluations += one.summary.total_items
        score = one.objective_score
        if one.counts and score is not None and (not found or score > found[-1][2]):
            found.append([evaluations, one.candidate_id, score])
    return found
