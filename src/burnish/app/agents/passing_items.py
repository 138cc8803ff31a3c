"""Passing items of a run, as a promotion's gate: what a candidate breaks that the baseline passed."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.app.wiring import Workspace
from burnish.domain import Candidate, ConflictError, ItemResult, OptimizationRecord
from burnish.evaluation.broken_items import BrokenItems, broken_items, count_passes

_PAGE = 500


def asked_to_keep_passing(record: OptimizationRecord) -> bool:
    """Whether nothing of the run was to win that breaks what the baseline passes."""
    if (record.result or {}).get("kept_passing") is not None:
        return True
    optimizer = (record.spec.get("settings") or {}).get("optimizer") or {}
    return bool(optimizer.get("keep_passing"))


async def broken_by(
    workspace: Workspace, record: OptimizationRecord, baseline: Candidate, candidate: Candidate
) -> BrokenItems:
    """Of every item that both ran, in the search, on held-out items or again to tell."""
    if candidate.configuration.hash == baseline.configuration.hash:
        return BrokenItems()
    results = await _results_of(workspace, record, [baseline.id, candidate.id])
    return broken_items(*(count_passes(results[one.id]) for one in (baseline, candidate)))


def require_kept(broken: BrokenItems, agent: str) -> None:
    """Refuse a promotion that the gate is against."""
    if not broken.passed:
        raise ConflictError(
            what=f"the agent {agent!r} was not changed",
            why=f"the candidate breaks what the baseline passes: {broken.in_words()}",
            fix="take a candidate that breaks none, or promote it all the same: keep_passing false "
            "(--no-keep-passing)",
            code="broken_items",
        )


async def _results_of(
    workspace: Workspace, record: OptimizationRecord, candidates: Sequence[str]
) -> dict[str, list[ItemResult]]:
    found: dict[str, list[ItemResult]] = {one: [] for one in candidates}
    before: str | None = None
    while True:
        page = await workspace.experiments.list_experiments(
            limit=_PAGE, before=before, optimization_id=record.id
        )
        for one in page:
            owner = one.metadata.get("candidate_id")
            if owner in found:
                results = workspace.experiments.stream_results(one.id)
                found[owner] += [_slim(each) async for each in results]
        if len(page) < _PAGE:
            return found
        before = page[-1].id


def _slim(result: ItemResult) -> ItemResult:
    """Without the texts, which may be large."""
    return ItemResult(
        item_id=result.item_id,
        item_hash=result.item_hash,
        repeat=result.repeat,
        score=result.score,
        passed=result.passed,
        error=result.error,
    )
