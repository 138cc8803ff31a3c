"""Ingest of what Opik clients send: kept first, then made into our records."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.app.optimize.client_lease import OpikLease
from burnish.app.wiring import Workspace
from burnish.domain.opik import Document, OpikItem, OpikScore
from burnish.integrations.opik.experiments import OpikExperiments
from burnish.integrations.opik.optimizations import OpikOptimizations
from burnish.integrations.opik.projection import OpikProjection


class OpikIngest:
    """Takes in what clients send: first it is kept, then our records are made from it.

    Each part may come twice, late, or before what it belongs to.
    """

    def __init__(self, workspace: Workspace) -> None:
        lease = OpikLease(workspace.optimizations)
        self.workspace = workspace
        self.optimizations = OpikOptimizations(workspace, lease)
        self._projection = OpikProjection(workspace, lease)
        self.experiments = OpikExperiments(workspace, lease, self.optimizations, self._projection)

    async def put_traces(self, documents: Sequence[Document]) -> None:
        """Traces."""
        await self.workspace.opik.put_traces(documents)
        await self._projection.traces_changed(str(one["id"]) for one in documents)

    async def put_spans(self, documents: Sequence[Document]) -> None:
        """Spans of traces."""
        await self.workspace.opik.put_spans(documents)
        traces = {str(one["trace_id"]) for one in documents if one.get("trace_id")}
        await self._projection.traces_changed(traces)

    async def put_scores(self, scores: Sequence[OpikScore]) -> None:
        """Scores of traces."""
        await self.workspace.opik.put_scores(scores)
        await self._projection.traces_changed({one.trace_id for one in scores})

    async def put_items(self, items: Sequence[OpikItem]) -> None:
        """Which traces are runs of which rows in which experiments."""
        await self.workspace.opik.put_items(items)
        for experiment_id in dict.fromkeys(one.experiment_id for one in items):
            of_it = {one.item_id for one in items if one.experiment_id == experiment_id}
            await self._projection.refresh(experiment_id, sorted(of_it))
