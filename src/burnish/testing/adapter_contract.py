"""Contract for experiment adapters. Subclass it and provide the fixture `adapter`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from burnish.domain import Configuration, ExperimentStatus, ExperimentType, Item
from burnish.optimization.experiments.adapter import (
    ExperimentAdapter,
    ExperimentRequest,
    RawExperimentResults,
    TriggeredExperiment,
)
from burnish.optimization.extensions import ExtensionCalls

_PATIENCE_SECONDS = 60.0
_LOOK_SECONDS = 0.01


class ExperimentAdapterContract:
    """Provide `adapter`; set `configuration` and `items` to what it can run."""

    configuration = Configuration.of({"sections": {"system": "Answer {{text}}"}})
    items = tuple(Item(id=f"i{n}", data={"text": f"t{n}", "expected": "x"}) for n in range(4))

    @pytest.fixture
    async def calls(self, adapter: ExperimentAdapter) -> AsyncIterator[ExtensionCalls]:
        """The adapter as a run calls it."""
        calls = ExtensionCalls(adapter, "adapter")
        yield calls
        calls.close()

    def request(self, experiment_id: str = "e1", repeats: int = 2) -> ExperimentRequest:
        """What a run asks for."""
        return ExperimentRequest(
            optimization_id="o1",
            candidate_id="o1-0",
            mask_id="opt-o1-0",
            evaluation_suite_id="suite",
            experiment_id=experiment_id,
            type=ExperimentType.TRIAL,
            item_ids=tuple(item.id for item in self.items),
            repeats=repeats,
            configuration=self.configuration,
            items=self.items,
            agent_name="agent",
        )

    async def test_an_experiment_ends_with_a_result_for_each_item_and_repeat(
        self, calls: ExtensionCalls
    ) -> None:
        triggered = await calls.call("trigger", self.request())
        status = await self._ended(calls, "e1")
        raw = await calls.call("get_results", "e1")

        assert triggered in (None, TriggeredExperiment(experiment_id="e1"))
        assert isinstance(raw, RawExperimentResults)
        assert status is raw.status is ExperimentStatus.COMPLETED
        pairs = [(one.item_id, one.repeat) for one in raw.results]
        assert sorted(pairs) == [(item.id, n) for item in self.items for n in range(2)]

    async def test_asking_twice_runs_nothing_twice(self, calls: ExtensionCalls) -> None:
        await calls.call("trigger", self.request())
        await calls.call("trigger", self.request())
        await self._ended(calls, "e1")
        first = await calls.call("get_results", "e1")
        await calls.call("trigger", self.request())
        await self._ended(calls, "e1")

        assert await calls.call("get_results", "e1") == first

    async def test_experiments_are_apart(self, calls: ExtensionCalls) -> None:
        for name, repeats in (("e1", 1), ("e2", 2)):
            await calls.call("trigger", self.request(name, repeats))
        for name in ("e1", "e2"):
            await self._ended(calls, name)

        sizes = [len((await calls.call("get_results", name)).results) for name in ("e1", "e2")]
        assert sizes == [len(self.items), 2 * len(self.items)]

    async def test_what_nobody_asked_for_is_not_there(self, calls: ExtensionCalls) -> None:
        assert await calls.call("get_status", "nobody's") is None
        await calls.call("cancel", "nobody's")

    async def test_cancelling_leaves_a_final_status(self, calls: ExtensionCalls) -> None:
        await calls.call("trigger", self.request())
        await calls.call("cancel", "e1")
        ended = await self._ended(calls, "e1")
        await calls.call("cancel", "e1")

        assert ended in (ExperimentStatus.CANCELLED, ExperimentStatus.COMPLETED)
        assert ExperimentStatus(await calls.call("get_status", "e1")) is ended

    async def _ended(self, calls: ExtensionCalls, experiment_id: str) -> ExperimentStatus:
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                status = ExperimentStatus(await calls.call("get_status", experiment_id))
                if status.final:
                    return status
                await asyncio.sleep(_LOOK_SECONDS)
