"""Shards sent over a carrier that loses, doubles, refuses and delays; no socket, no worker."""

import asyncio
import dataclasses

import pytest
from tests.support.memory_experiments import MemoryExperimentRepository

from burnish.domain import (
    Budget,
    BudgetReached,
    Configuration,
    ErrorKind,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    Item,
    ItemError,
    ItemResult,
    Lease,
    SystemClock,
    UnavailableError,
    UsageError,
)
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.progress import Progress
from burnish.evaluation.runner import RunOptions
from burnish.evaluation.scorers.catalog import build_scorers
from burnish.evaluation.suite import Suite
from burnish.optimization.budget_gate import BudgetGate, EvaluationGate
from burnish.optimization.experiments.adapter import Block, RunnerLost
from burnish.runtime.shards.blocks import ShardedBlocks, ShardSettings
from burnish.runtime.shards.messages import read_request, reply_to, written
from burnish.runtime.shards.suite import ShardSize, only, repeats_last

QUICK = ShardSettings(
    look_seconds=0.01,
    longest_look_seconds=0.02,
    lost_seconds=0.02,
    refusal_seconds=0.1,
    give_up_seconds=5.0,
    size=ShardSize(smallest=4, largest=8),
)
ITEMS = [Item(id=str(n), data={"n": n}) for n in range(20)]


class Carrier:
    """Hands shards to a function that says what becomes of each; `queue` is what waits."""

    where, advice = "here", "start one"

    def __init__(self, work):
        self._work = work
        self._replies = asyncio.Queue()
        self.sent = []
        self.held = 0
        self.closed = False

    async def send(self, request):
        request = read_request(written(request))
        self.sent.append(request)
        for reply in self._work(request, len(self.sent)) or ():
            self._replies.put_nowait(reply)

    async def replies(self):
        return [await self._replies.get()]

    async def outstanding(self):
        return self.held

    async def close(self):
        self.closed = True


class World:
    def __init__(self, *, budget=None, settings=QUICK, items=ITEMS, stale=None):
        self.repository = MemoryExperimentRepository()
        self.gate = BudgetGate(budget or Budget(), SystemClock())
        self.experiment = Experiment(
            id="e",
            name="e",
            type=ExperimentType.TRIAL,
            status=ExperimentStatus.RUNNING,
            agent_name="a",
            configuration=Configuration.of({"sections": {"s": "x"}}),
            suite_name="s",
            dataset_id="d",
            planned_items=len(items),
        )
        self.settings = settings
        self.heard = []
        self.block = Block(
            experiment=self.experiment,
            mask_id="mask",
            agent=_Agent(),
            suite=Suite(
                name="s",
                dataset=Dataset.of([]),
                scorers=build_scorers(
                    [{"kind": "exact_match", "field": "label"}], open_model=None, folder=None
                ),
            ),
            items=items,
            options=RunOptions(
                concurrency=4,
                gate=EvaluationGate(self.gate, set(), "hash"),
                on_result=lambda result: self.heard.append(result.item_id),
            ),
            progress=Progress(),
            stale=stale or {},
        )

    def save(self, request, **changes):
        """What a worker does: results into the database."""
        for item, repeat in request.pairs:
            self.repository.results["e"][item, repeat] = result_of(item, repeat, **changes)

    async def run(self, work):
        await self.repository.create_experiment(self.experiment)
        for stale in self.block.stale.values():
            self.repository.results["e"][stale.item_id, stale.repeat] = stale
        self.carrier = Carrier(work)
        lease = Lease(job_id="o", owner="w", token=1)
        blocks = ShardedBlocks(self.carrier, self.repository, self.gate, lease, self.settings)
        try:
            async with asyncio.timeout(600):
                await blocks.run(self.block)
        finally:
            await blocks.close()

    def all_heard_once(self):
        return sorted(self.heard) == sorted(item.id for item in self.block.items)


class HurriedClock(SystemClock):
    """A clock on which two thousand seconds are one."""

    def monotonic(self):
        return 2000 * super().monotonic()


class _Agent:
    name, fingerprint = "a", "f"


def result_of(item, repeat, **changes):
    return ItemResult(
        item_id=item,
        item_hash=item,
        repeat=repeat,
        score=1.0,
        passed=True,
        output=None,
        **changes,
    )


def done(request):
    return reply_to(request, "done", "w", results=len(request.pairs))


async def test_each_result_is_heard_once_though_every_reply_comes_twice():
    world = World()

    def work(request, number):
        world.save(request)
        return [done(request), done(request)]

    await world.run(work)

    assert world.all_heard_once()
    assert world.block.progress.done == 20
    assert world.carrier.closed


async def test_results_are_found_though_no_reply_ever_comes():
    world = World()

    await world.run(lambda request, number: world.save(request))

    assert world.all_heard_once()


async def test_a_mailbox_that_answers_nonsense_costs_time_and_nothing_else():
    world = World()
    await world.repository.create_experiment(world.experiment)
    carrier = Carrier(lambda request, number: world.save(request))
    answers = iter([UsageError(what="it", why="cannot", fix="be read"), ValueError("nonsense")])

    async def replies():
        raise next(answers)

    carrier.replies = replies
    lease = Lease(job_id="o", owner="w", token=1)
    blocks = ShardedBlocks(carrier, world.repository, world.gate, lease, QUICK)
    async with asyncio.timeout(600):
        await blocks.run(world.block)
        await blocks.close()

    assert world.all_heard_once()
    assert carrier.closed


async def test_lost_shards_are_sent_again_with_what_they_lack():
    world = World()

    def work(request, number):
        if number == 1:
            half = dataclasses.replace(request, pairs=request.pairs[:2])
            world.save(half)
            return None
        world.save(request)
        return [done(request)]

    await world.run(work)

    assert world.all_heard_once()
    again = [one for one in world.carrier.sent if one.attempt > 1]
    assert [one.pairs for one in again] == [world.carrier.sent[0].pairs[2:]]


async def test_shards_that_still_wait_are_not_sent_again():
    world = World()

    def work(request, number):
        world.carrier.held = 5
        asyncio.get_running_loop().call_later(0.2, world.save, request)

    await world.run(work)

    assert world.all_heard_once()
    assert {one.attempt for one in world.carrier.sent} == {1}


async def test_a_shard_that_is_always_lost_fails_the_experiment_and_not_the_run():
    world = World(settings=dataclasses.replace(QUICK, max_attempts=3))

    with pytest.raises(UnavailableError, match="3 times") as failure:
        await world.run(lambda request, number: None)

    assert failure.value.code == "shard_lost"
    assert not isinstance(failure.value, RunnerLost)


async def test_no_worker_for_long_is_no_lost_shard():
    # Nothing is heard for far longer than an item may take, and all that was sent still waits.
    world = World(settings=dataclasses.replace(QUICK, give_up_seconds=1000, max_attempts=3))
    world.block = dataclasses.replace(
        world.block,
        options=dataclasses.replace(world.block.options, item_timeout_seconds=0.01),
    )
    await world.repository.create_experiment(world.experiment)
    carrier = Carrier(lambda request, number: None)
    carrier.held = 5
    lease = Lease(job_id="o", owner="w", token=1)
    blocks = ShardedBlocks(
        carrier, world.repository, world.gate, lease, world.settings, HurriedClock()
    )

    async with asyncio.timeout(600):
        with pytest.raises(RunnerLost, match="no worker"):
            await blocks.run(world.block)
        await blocks.close()

    assert max(one.attempt for one in carrier.sent) > 3


async def test_a_stopped_workers_rest_goes_to_another_at_once():
    world = World()

    def work(request, number):
        if number == 1:
            return [reply_to(request, "stopped", "w")]
        world.save(request)
        return [done(request)]

    await world.run(work)

    assert world.all_heard_once()


async def test_refusals_end_the_run_when_nobody_gives_a_result():
    world = World()
    world.block = dataclasses.replace(
        world.block,
        options=dataclasses.replace(world.block.options, item_timeout_seconds=0.01),
    )

    with pytest.raises(RunnerLost, match=r"other code \(worker w\)") as failure:
        await world.run(lambda request, _: [reply_to(request, "refused", "w", why="other code")])

    assert failure.value.code == "workers_refuse"


def elsewhere(request):
    return reply_to(request, "refused", "w", error_code="not_found", why="no run", fix="--db")


async def test_a_run_whose_workers_all_have_another_database_ends_at_once():
    world = World(settings=dataclasses.replace(QUICK, refusal_seconds=1e9))

    with pytest.raises(RunnerLost, match="no run") as failure:
        await world.run(lambda request, _: [elsewhere(request)])

    assert (failure.value.code, "--db" in failure.value.fix) == ("other_database", True)


async def test_one_worker_of_another_database_does_not_end_the_run_of_others():
    world = World(settings=dataclasses.replace(QUICK, refusal_seconds=1e9))

    def work(request, number):
        if request.attempt < 2:
            return [elsewhere(request)]
        world.save(request)
        return [done(request)]

    await world.run(work)

    assert world.all_heard_once()


async def test_a_worker_that_fails_fails_the_experiment_with_its_words():
    world = World()

    with pytest.raises(UnavailableError, match="the endpoint is away"):
        await world.run(
            lambda request, _: [
                reply_to(
                    request,
                    "failed",
                    "w",
                    error_code="endpoint_unavailable",
                    what="it stopped",
                    why="the endpoint is away",
                    fix="wait",
                )
            ]
        )


async def test_infrastructure_failures_in_a_row_end_it_over_small_shards_too():
    world = World()
    away = ItemError(kind=ErrorKind.INFRASTRUCTURE, message="away")

    def work(request, number):
        world.save(request, error=away)
        return [done(request)]

    with pytest.raises(UnavailableError, match="10 in a row"):
        await world.run(work)


async def test_an_experiment_that_failed_leaves_its_room_to_the_next():
    # Nobody knows what a run costs, so no more than four are under way at once.
    world = World(budget=Budget(max_calls=100))
    world.block = dataclasses.replace(
        world.block, options=dataclasses.replace(world.block.options, max_failures_in_a_row=2)
    )
    away = ItemError(kind=ErrorKind.INFRASTRUCTURE, message="away")
    await world.repository.create_experiment(world.experiment)

    def work(request, number):
        world.save(request, error=away if number == 1 else None)
        return [done(request)]

    lease = Lease(job_id="o", owner="w", token=1)
    blocks = ShardedBlocks(Carrier(work), world.repository, world.gate, lease, QUICK)
    async with asyncio.timeout(600):
        with pytest.raises(UnavailableError, match="2 in a row"):
            await blocks.run(world.block)
        await blocks.run(dataclasses.replace(world.block, items=ITEMS[10:], progress=Progress()))
        await blocks.close()

    assert {item.id for item in ITEMS[10:]} <= set(world.heard)


async def test_the_budget_admits_each_run_before_it_is_sent():
    world = World(budget=Budget(max_evaluations=7))

    def work(request, number):
        world.save(request)
        return [done(request)]

    with pytest.raises(BudgetReached):
        await world.run(work)

    assert sum(len(one.pairs) for one in world.carrier.sent) == len(world.heard) == 7
    assert world.gate.evaluations == 7


async def test_as_long_as_nobody_knows_what_a_run_costs_few_are_under_way():
    world = World(budget=Budget(max_calls=100))
    under_way, most = set(), []

    def work(request, number):
        under_way.update(request.pairs)
        most.append(len(under_way))

        def finish():
            world.save(request)
            under_way.difference_update(request.pairs)

        asyncio.get_running_loop().call_soon(finish)

    await world.run(work)

    assert world.all_heard_once()
    assert max(most) <= 4


async def test_an_old_failure_is_no_news_until_a_worker_says_that_it_is_done():
    old = result_of("3", 0, error=ItemError(kind=ErrorKind.TIMEOUT, message="late"))
    world = World(stale={("3", 0): old}, items=ITEMS[3:4])
    answered = []

    def work(request, number):
        assert request.retry_errors

        def finish():
            answered.append(list(world.heard))
            world.carrier._replies.put_nowait(done(request))

        world.carrier.held = 1
        asyncio.get_running_loop().call_later(0.1, finish)

    await world.run(work)

    assert answered == [[]]
    assert world.heard == ["3"]


def test_shards_get_smaller_towards_the_end():
    sizes = [len(shard) for shard in ShardSize().cut([(ITEMS[0], n) for n in range(640)])]

    assert sum(sizes) == 640
    assert sizes[0] == 64
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] >= 13


@pytest.mark.parametrize(
    ("count", "sizes"), [(0, []), (5, [5]), (40, [14, 13, 13]), (64, [16] * 4)]
)
def test_a_small_block_is_cut_into_equal_shards(count, sizes):
    cut = ShardSize().cut([(ITEMS[0], n) for n in range(count)])

    assert [len(shard) for shard in cut] == sizes


def test_a_question_that_stands_twice_waits_for_its_first_answer():
    twin = Item(id="twin", data=ITEMS[0].data)

    assert repeats_last([(ITEMS[0], 0), (twin, 0), (ITEMS[1], 0)]) == [
        [(ITEMS[0], 0), (ITEMS[1], 0)],
        [(twin, 0)],
    ]


def test_just_the_wanted_pairs_are_run():
    pairs = [("a", 0), ("a", 2), ("b", 1)]

    assert only([("a", 2)], pairs) == {("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 2)}
