"""Delivers one optimization: what is not on the other server yet, in an order that it can use."""

from __future__ import annotations

from burnish.app.wiring import Workspace
from burnish.domain import BurnishError, Candidate, Experiment, ItemResult, OptimizationRecord
from burnish.domain.mirrors import Mirror
from burnish.domain.run_insights import HeldOutRun, RunPoint
from burnish.integrations.opik.mirror_client import MirrorClient
from burnish.integrations.opik.mirror_documents import OpikWords

_PART = 200
_BEGUN, _STATUS = "begun", "status"


async def deliver(workspace: Workspace, mirror: Mirror, client: MirrorClient) -> int:
    """Send what there is to send now; how many experiments that were.

    A part is marked when it is there as a whole, so whatever ends this in between is made good by
    sending that part again. The mirror is closed with the end of its optimization.
    """
    try:
        sent = await _Delivery(workspace, mirror, client).run()
    except BurnishError as error:
        await workspace.mirrors.note_error(mirror, f"{error.what}: {error.why}")
        raise
    if mirror.error is not None:
        await workspace.mirrors.note_error(mirror, None)
    return sent


class _Delivery:
    def __init__(self, workspace: Workspace, mirror: Mirror, client: MirrorClient) -> None:
        self._workspace = workspace
        self._mirror = mirror
        self._client = client

    async def run(self) -> int:
        workspace, book = self._workspace, self._workspace.mirrors
        identity = self._mirror.optimization_id
        # First, so that no experiment can end unseen before it.
        record = await workspace.optimizations.get_optimization(identity)
        words = await self._words(record)
        done = await book.delivered(self._mirror)
        if _BEGUN not in done:
            await self._begin(words)
            await book.mark(self._mirror, _BEGUN, "sent")
        sent = 0
        for experiment_id, candidate_id, status in await self._ended():
            if done.get(experiment_id) != status:
                candidate = await workspace.insights.candidate(identity, candidate_id)
                await self._experiment(words, experiment_id, candidate)
                await book.mark(self._mirror, experiment_id, status)
                sent += 1
        if record.status.final:
            if done.get(_STATUS) != record.status.value:
                path = f"optimizations/{words.optimization_id}"
                await self._client.send("PUT", path, words.status())
                await book.mark(self._mirror, _STATUS, record.status.value)
            await book.close(self._mirror)
        return sent

    async def _words(self, record: OptimizationRecord) -> OpikWords:
        name = record.suite_name
        if record.dataset_id is not None:
            dataset = await self._workspace.datasets.get_dataset(record.dataset_id)
            # Another content under the same name is another dataset, as it is here.
            name = f"{dataset.name} ({dataset.fingerprint[:8]})"
        return OpikWords(record=record, dataset_name=name, project=self._mirror.target.project)

    async def _begin(self, words: OpikWords) -> None:
        project = {"project_name": self._mirror.target.project}
        named = {"dataset_name": words.dataset_name, **project}
        if words.record.dataset_id is not None:
            rows = []
            async for item in self._workspace.datasets.stream_items(words.record.dataset_id):
                rows.append(words.row(item))
                if len(rows) == _PART:
                    await self._client.send_list("PUT", "datasets/items", "items", rows, **named)
                    rows = []
            await self._client.send_list("PUT", "datasets/items", "items", rows, **named)
        await self._client.send("POST", "optimizations", words.optimization())

    async def _ended(self) -> list[tuple[str, str, str]]:
        """Experiments that have ended, with their candidate and how, by candidate."""
        insights, identity = self._workspace.insights, self._mirror.optimization_id
        every: list[RunPoint | HeldOutRun] = [*await insights.points(identity)]
        every += await insights.held_out(identity)
        return [
            (one.experiment_id, one.candidate_id, one.status.value)
            for one in every
            if one.status.final
        ]

    async def _experiment(self, words: OpikWords, experiment_id: str, candidate: Candidate) -> None:
        experiment = await self._workspace.experiments.get_experiment(experiment_id)
        told = words.experiment(experiment, candidate)
        await self._client.send("POST", "experiments", told)
        results: list[ItemResult] = []
        async for result in self._workspace.experiments.stream_results(experiment_id):
            results.append(result)
            if len(results) == _PART:
                await self._items(words, experiment, candidate, results)
                results = []
        await self._items(words, experiment, candidate, results)
        await self._client.send("POST", "experiments/finish", {"ids": [told["id"]]})

    async def _items(
        self,
        words: OpikWords,
        experiment: Experiment,
        candidate: Candidate,
        results: list[ItemResult],
    ) -> None:
        found = words.items(experiment, candidate, results)
        send = self._client.send_list
        await send("POST", "traces/batch", "traces", found.traces)
        await send("POST", "spans/batch", "spans", found.spans)
        await send("PUT", "traces/feedback-scores", "scores", found.scores)
        await send("POST", "experiments/items", "experiment_items", found.items)
