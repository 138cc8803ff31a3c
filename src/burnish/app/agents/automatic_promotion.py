"""Promotion without a person: only where somebody asked for it, and held-out items prove it."""

from __future__ import annotations

from typing import Any

from burnish.app.agents.promotions import PromotionRequest, promote_candidate
from burnish.app.wiring import Workspace
from burnish.domain import ConflictError, OptimizationRecord, OptimizationStatus
from burnish.domain.optimizer_runs import OptimizerRun

AUTHOR = "auto_promote"
SIGNIFICANT = 0.05


def why_not(record: OptimizationRecord) -> str | None:
    """What speaks against promoting a run's winner without a person; None when nothing does."""
    result = record.result or {}
    improvement = result.get("improvement")
    if record.status is not OptimizationStatus.COMPLETED:
        return f"the run is {record.status.value}"
    if not result.get("improved"):
        return "nothing beat the baseline"
    if improvement is None or not improvement["held_out"]:
        return "the winner was not compared on held-out items"
    if improvement["ci_low"] <= 0 or improvement["p_value"] >= SIGNIFICANT:
        return (
            f"on held-out items the gain of {improvement['delta']:+.3f} may be chance "
            f"(p = {improvement['p_value']:.3f}, from {improvement['ci_low']:+.3f} on)"
        )
    return None


async def settle_run(workspace: Workspace, run: OptimizerRun) -> None:
    """Do what is left to do after a run's end, once, and keep what was done and why."""
    record = await workspace.optimizations.get_optimization(run.id)
    await workspace.optimizer_runs.settle(run.id, await _promotion(workspace, run, record))


async def _promotion(
    workspace: Workspace, run: OptimizerRun, record: OptimizationRecord
) -> dict[str, Any]:
    reason = why_not(record)
    if reason is not None:
        return {"promoted": False, "version": None, "reason": reason}
    improvement = (record.result or {})["improvement"]
    request = PromotionRequest(
        promoted_by=AUTHOR,
        note=f"p = {improvement['p_value']:.4f} on held-out items",
        origin={"source": "auto_promote", "optimizer": run.optimizer_name},
    )
    try:
        promoted = await promote_candidate(workspace, run.id, request)
    except ConflictError as error:
        active = await workspace.agents.active_version(run.agent_name)
        # It was done before, by a server that did not live to note it.
        done = active is not None and active.origin.get("optimization_id") == run.id
        if active is not None and done and active.author == AUTHOR:
            return {"promoted": True, "version": active.version, "reason": active.note}
        if active is not None and done and active.origin.get("source") == "baseline":
            raise  # Another server is at it this moment: the next look sees how that ended.
        return {"promoted": False, "version": None, "reason": error.why}
    return {"promoted": True, "version": promoted.version.version, "reason": request.note}
