"""A worker's side of a shard, without a mailbox or a database."""

import asyncio
import contextlib
import dataclasses
import types

import pytest
from tests.support.memory_experiments import MemoryExperimentRepository

from burnish.domain import (
    AgentOutput,
    Configuration,
    ErrorKind,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    Item,
    ItemError,
    Overlay,
    UnavailableError,
    UsageError,
    current_experiment,
)
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.scorers.catalog import build_scorers
from burnish.evaluation.suite import Suite
from burnish.runtime.shards.evaluator import ShardBench, ShardEvaluator
from burnish.runtime.shards.messages import ShardRequest

CONFIGURATION = Configuration.of({"sections": {"s": "candidate"}})
BASELINE = Configuration.of({"sections": {"s": "baseline"}})


class Agent:
    name, fingerprint, configuration = "a", "f", BASELINE

    def __init__(self):
        self.calls = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def run(self, configuration, item, *, repeat):
        self.calls.append((item.id, repeat, configuration.sections["s"], current_experiment()))
        await self.gate.wait()
        return AgentOutput(text="yes")


class World:
    """A worker and what it talks to."""

    def __init__(self, **options):
        self.experiments = MemoryExperimentRepository()
        self.owner = "owner"
        self.overlay = Overlay.between(BASELINE, CONFIGURATION)
        self.agent = Agent()
        suite = Suite(
            name="s",
            dataset=Dataset.of([]),
            scorers=build_scorers(
                [{"kind": "exact_match", "field": "label"}], open_model=None, folder=None
            ),
        )
        self.bench = ShardBench(
            agent=self.agent,
            suite=suite,
            items={str(n): Item(id=str(n), data={"label": "yes", "n": n}) for n in range(9)},
        )
        self.evaluator = ShardEvaluator(
            experiments=self.experiments,
            optimizations=self,
            overlays=self,
            benches=self,
            concurrency=4,
            look_seconds=0.01,
            **options,
        )
        self.request = ShardRequest(
            shard_id="s1",
            optimization_id="o",
            experiment_id="e",
            overrides_tag="mask",
            configuration_hash=CONFIGURATION.hash,
            pairs=(("1", 0), ("2", 0), ("2", 1)),
            lease_owner="owner",
            lease_token=1,
            agent_fingerprint="f",
            scorers_fingerprint=suite.scorers.fingerprint,
            flags={"loud": True},
        )

    async def start(self):
        await self.experiments.create_experiment(
            Experiment(
                id="e",
                name="the experiment",
                type=ExperimentType.TRIAL,
                status=ExperimentStatus.RUNNING,
                agent_name="a",
                configuration=CONFIGURATION,
                suite_name="s",
                dataset_id="d",
                planned_items=3,
            )
        )
        return self

    def stored(self):
        return set(self.experiments.results["e"])

    # As an OptimizationRepository, an OverlayStore and ShardBenches.
    async def get_optimization(self, optimization_id):
        return types.SimpleNamespace(lease_owner=self.owner)

    async def get(self, namespace, key, tag):
        if isinstance(self.overlay, Exception):
            raise self.overlay
        return self.overlay

    @contextlib.asynccontextmanager
    async def use(self, request):
        yield self.bench


@pytest.fixture
async def world():
    return await World().start()


async def test_the_pairs_are_run_under_the_stored_configuration_and_saved(world, caplog):
    reply = await world.evaluator.evaluate(world.request)

    assert (reply.status, reply.results) == ("done", 3)
    assert world.stored() == set(world.request.pairs)
    assert {text for _, _, text, _ in world.agent.calls} == {"candidate"}
    context = world.agent.calls[0][3]
    assert (context.overrides_tag, context.flag("loud")) == ("mask", True)
    assert caplog.text == ""


async def test_what_has_a_result_is_not_run_again(world):
    await world.evaluator.evaluate(dataclasses.replace(world.request, pairs=(("2", 0),)))

    await world.evaluator.evaluate(world.request)

    assert sorted(call[:2] for call in world.agent.calls) == [("1", 0), ("2", 0), ("2", 1)]


async def test_only_with_retry_errors_a_failure_outside_is_run_again(world):
    await world.evaluator.evaluate(world.request)
    failed = ItemError(kind=ErrorKind.TIMEOUT, message="late")
    results = world.experiments.results["e"]
    results["1", 0] = dataclasses.replace(results["1", 0], error=failed)

    await world.evaluator.evaluate(dataclasses.replace(world.request, use_cache=False))
    assert len(world.agent.calls) == 3
    again = dataclasses.replace(world.request, use_cache=False, retry_errors=True)
    await world.evaluator.evaluate(again)

    assert len(world.agent.calls) == 4
    assert results["1", 0].error is None


async def test_an_item_that_ends_its_worker_is_isolated_and_failed(world):
    class Died(BaseException):
        """Nothing of the worker goes on after it."""

    class Deadly(Agent):
        async def run(self, configuration, item, *, repeat):
            if item.id == "2":
                raise Died
            return await super().run(configuration, item, repeat=repeat)

    deadly = Deadly()
    world.bench = dataclasses.replace(world.bench, agent=deadly)
    request = dataclasses.replace(world.request, pairs=tuple((str(n), 0) for n in range(5)))

    for deliveries in (3, 4):
        with pytest.raises((Died, BaseExceptionGroup)):
            await world.evaluator.evaluate(request, deliveries=deliveries)
    reply = await world.evaluator.evaluate(request, deliveries=5)

    assert reply.status == "done"
    assert {item for item, *_ in deadly.calls} == {"0", "1", "3", "4"}
    results = {one.item_id: one for one in await world.experiments.get_results("e")}
    assert len(results) == 5
    assert [item for item, one in results.items() if one.error] == ["2"]
    assert results["2"].error.kind is ErrorKind.AGENT


async def test_a_message_that_comes_twice_is_worked_on_once(world):
    world.agent.gate.clear()
    both = [asyncio.create_task(world.evaluator.evaluate(world.request)) for _ in range(2)]
    await _until(lambda: len(world.agent.calls) == 3)
    world.agent.gate.set()

    replies = await asyncio.gather(*both)

    assert [reply.status for reply in replies] == ["done", "done"]
    assert len(world.agent.calls) == 3


@pytest.mark.parametrize(
    ("overlay", "words"),
    [
        (None, "is gone"),
        (Overlay(sections={"s": "edited"}), "was changed by somebody"),
        (UnavailableError(what="w", why="status 503", fix="f"), "cannot be read (status 503)"),
    ],
)
async def test_a_tag_that_is_gone_or_edited_is_told_and_changes_nothing(
    world, caplog, overlay, words
):
    world.overlay = overlay

    reply = await world.evaluator.evaluate(world.request)

    assert reply.status == "done"
    assert {text for _, _, text, _ in world.agent.calls} == {"candidate"}
    assert f"overrides tag mask {words}" in caplog.text


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"agent_fingerprint": "other"}, "agent's code or model differs"),
        ({"scorers_fingerprint": "other"}, "scorers' code or settings differs"),
        ({"pairs": (("nowhere", 0),)}, "has no item 'nowhere'"),
        ({"configuration_hash": "other"}, "the configuration in its database"),
    ],
)
async def test_what_could_not_be_compared_is_refused(world, change, words):
    reply = await world.evaluator.evaluate(dataclasses.replace(world.request, **change))

    assert (reply.status, reply.error_code) == ("refused", "worker_differs")
    assert words in reply.why
    assert world.agent.calls == []


async def test_a_worker_with_another_database_says_what_to_do(world, caplog):
    async def missing(optimization_id):
        raise UsageError(what="no optimization", why="not stored", fix="look", code="not_found")

    world.get_optimization = missing

    reply = await world.evaluator.evaluate(world.request)

    assert (reply.status, "--db" in reply.fix, "--db" in caplog.text) == ("refused", True, True)


async def test_nobody_pays_for_a_run_that_has_another_owner(world):
    world.owner = "another"

    reply = await world.evaluator.evaluate(world.request)

    assert reply.status == "cancelled"
    assert "another process" in reply.why
    assert world.agent.calls == []


async def test_work_ends_soon_after_the_experiment_was_cancelled(world):
    world.agent.gate.clear()
    work = asyncio.create_task(world.evaluator.evaluate(world.request))
    await _until(lambda: world.agent.calls)

    await world.experiments.update_experiment("e", status=ExperimentStatus.CANCELLED)

    assert (await asyncio.wait_for(work, 600)).status == "cancelled"
    assert world.stored() == set()


async def test_a_worker_that_stops_ends_what_runs_and_begins_nothing(world):
    stopping = asyncio.Event()
    world.agent.gate.clear()
    request = dataclasses.replace(world.request, pairs=tuple((str(n), 0) for n in range(9)))
    work = asyncio.create_task(world.evaluator.evaluate(request, stopping=stopping))
    await _until(lambda: len(world.agent.calls) == 4)

    stopping.set()
    world.agent.gate.set()
    reply = await work

    assert reply.status == "stopped"
    assert len(world.agent.calls) == len(world.stored()) == 4


async def test_a_worker_has_room_when_half_of_its_places_are_free(world):
    world.agent.gate.clear()
    assert world.evaluator.room.is_set()
    work = asyncio.create_task(world.evaluator.evaluate(world.request))
    await _until(lambda: len(world.agent.calls) == 3)

    assert not world.evaluator.room.is_set()

    world.agent.gate.set()
    await work
    assert world.evaluator.room.is_set()


async def _until(check):
    async with asyncio.timeout(600):
        while not check():
            await asyncio.sleep(0)
