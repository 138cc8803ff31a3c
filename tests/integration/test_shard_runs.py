"""Runs on workers: the same result as in one process, whoever joins, leaves or refuses."""

import asyncio
import dataclasses
import multiprocessing
import signal
import time

import pytest
from optimization_world import World, agent_of, fingerprint, run, suite
from redis.asyncio import Redis
from shard_world import QUICK, ShardWorld, run_sharded, serve, wait_until
from tests.servers.s3 import Fault

import burnish
from burnish.app.optimize import runners
from burnish.app.wiring import Workspace
from burnish.domain import OptimizationStatus, Overlay, UnavailableError
from burnish.optimization.experiments.masks import NAMESPACE
from burnish.overrides import MaskTags, Patience, S3PromptOverridesStore, descriptor_of
from burnish.runtime.mailboxes import MessageTypes, RedisMailbox
from burnish.runtime.shards.messages import ShardRequest

SMALL = {"budget": burnish.Budget(max_trials=3)}


@pytest.fixture
def world(valkey, tmp_path):
    world = ShardWorld(tmp_path, valkey.url)
    yield world
    world.end()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """The undisturbed run in one process."""
    world = World(tmp_path_factory.mktemp("local"))
    result = fingerprint(asyncio.run(run(world, **SMALL)))
    return result, len(world.calls())


@pytest.mark.parametrize("workers", [1, 2, 3])
async def test_any_number_of_workers_gives_the_result_of_one_process(world, expected, workers):
    for _ in range(workers):
        world.start_worker()

    result = await run_sharded(world, **SMALL)

    assert (fingerprint(result), len(world.calls())) == expected


async def test_workers_share_a_postgresql_database(world, postgres, expected):
    world.db = postgres.url(postgres.create_database())
    world.start_worker()
    world.start_worker()

    result = await run_sharded(world, **SMALL)

    assert (fingerprint(result), len(world.calls())) == expected


async def test_races_end_alike(world, tmp_path):
    options = {"racing": "aggressive", "budget": burnish.Budget(max_trials=5)}
    local = await run(_local(tmp_path), **options)
    world.start_worker()
    world.start_worker()

    result = await run_sharded(world, **options)

    assert fingerprint(result) == fingerprint(local)
    assert "pruned" in {trial.status.value for trial in result.trials}


async def test_a_budget_of_evaluations_is_kept_to_the_last_one(world, tmp_path):
    options = {"budget": burnish.Budget(max_evaluations=93)}
    local = await run(_local(tmp_path), **options)
    world.start_worker()
    world.start_worker()

    result = await run_sharded(world, **options)

    assert fingerprint(result) == fingerprint(local)
    assert len(world.calls()) <= 93


async def test_a_budget_of_calls_is_never_exceeded(world):
    world.start_worker()
    world.start_worker()

    result = await run_sharded(world, budget=burnish.Budget(max_calls=90))

    assert result.usage["calls"] == len(world.calls()) <= 90


@pytest.mark.parametrize("optimizer", ["gepa"])
async def test_other_optimizers_run_alike(world, tmp_path, optimizer):
    options = {"optimizer": optimizer, "budget": burnish.Budget(max_trials=2)}
    local = await run(_local(tmp_path), **options)
    world.start_worker()
    world.start_worker()

    assert fingerprint(await run_sharded(world, **options)) == fingerprint(local)


async def test_workers_join_and_leave_during_a_run(world, expected):
    world.item_seconds = 0.02
    # Time to end what it has: what is given back would be called again.
    first = world.start_worker(grace=60)
    begin_second = world.worker_for_later()
    running = asyncio.create_task(run_sharded(world, **SMALL))
    await asyncio.to_thread(wait_until, lambda: len(world.calls()) > 20)
    begin_second()
    assert await asyncio.to_thread(world.end_worker, first, signal.SIGTERM) == 0

    assert (fingerprint(await running), len(world.calls())) == expected


async def test_a_worker_with_other_code_refuses_and_another_does_the_work(world, expected):
    stranger = dataclasses.replace(agent_of(world), version="2")
    world.start_worker(agent=stranger)
    world.start_worker()

    result = await run_sharded(world, **SMALL)

    assert (fingerprint(result), len(world.calls())) == expected


async def test_a_run_that_every_worker_refuses_says_why_and_can_go_on(world, expected):
    stranger = world.start_worker(agent=dataclasses.replace(agent_of(world), version="2"))

    with pytest.raises(UnavailableError, match="agent's code or model differs") as failure:
        await run_sharded(world, item_timeout=0.1, **SMALL)

    assert failure.value.code == "workers_refuse"
    world.end_worker(stranger)
    world.start_worker()
    assert (fingerprint(await run_sharded(world, **SMALL)), len(world.calls())) == expected


async def test_a_run_without_workers_says_so_and_ends_in_time(world, expected):
    said = []
    hasty = dataclasses.replace(
        QUICK, notice_seconds=0.3, give_up_seconds=0.8, on_notice=said.append
    )

    with pytest.raises(UnavailableError, match="no worker on redis://127.0.0.1") as failure:
        await run_sharded(world, settings=hasty, **SMALL)

    assert failure.value.code == "no_workers"
    assert len(said) == 1
    assert "burnish worker --mailbox redis://127.0.0.1" in said[0]
    world.start_worker()
    assert (fingerprint(await run_sharded(world, **SMALL)), len(world.calls())) == expected


async def test_a_cancelled_run_stops_its_workers(world):
    world.item_seconds = 3600
    world.start_worker()
    running = asyncio.create_task(run_sharded(world, **SMALL))
    await asyncio.to_thread(wait_until, lambda: len(world.calls()) >= 3)

    async with Workspace.open(world.db) as workspace:
        await workspace.optimizations.request_cancel(world.optimization_id)
        result = await asyncio.wait_for(running, 600)
        assert result.status is OptimizationStatus.CANCELLED
        await _until_idle(world)

    assert len(world.calls()) == 3


async def test_a_tag_that_is_deleted_or_edited_changes_no_result(world, expected):
    world.item_seconds = 0.01
    world.start_worker()
    world.start_worker()
    vandals = []

    def start_vandal(workspace):
        vandals.append(asyncio.create_task(_vandalise(workspace, world.optimization_id)))

    result = await run_sharded(world, started=start_vandal, **SMALL)
    vandals[0].cancel()

    assert (fingerprint(result), len(world.calls())) == expected


async def test_a_worker_whose_clock_is_an_hour_off_is_as_good_as_any(world, expected):
    world.start_worker(before=lambda: _shift_clock(3600.0))
    world.start_worker(before=lambda: _shift_clock(-3600.0))

    result = await run_sharded(world, **SMALL)

    assert (fingerprint(result), len(world.calls())) == expected


async def test_garbage_in_the_mailbox_blocks_nobody(world, valkey, expected):
    client = Redis.from_url(valkey.url)
    types = MessageTypes()
    types.declare(dict, "nobody-knows", dump=lambda body: body, load=lambda body: body)
    await RedisMailbox(world.mailbox, client, types=types).send({"a": 1})
    await RedisMailbox(world.mailbox, client).send(_nonsense())
    world.start_worker()

    result = await run_sharded(world, **SMALL)
    letters = await RedisMailbox(world.mailbox, client).dead_letters.receive()
    await client.aclose()

    assert (fingerprint(result), len(world.calls())) == expected
    assert [letter.body.reason for letter in letters] == ["undecodable"]


async def test_masks_in_a_slow_and_failing_s3_make_a_run_slower_and_not_wrong(world, s3, expected):
    # No fork: the client's threads, once this process has used it, would be missing in the worker.
    process = multiprocessing.get_context("spawn").Process(
        target=_serve_with_masks_in_s3, args=(world, s3.settings)
    )
    process.start()
    world.workers.append(process.pid)
    s3.misbehave(*[Fault(status=503), Fault(seconds=0.05), Fault(status=500)] * 3)
    try:
        result = await run_sharded(world, overlays=_masks_in_s3(world, s3.settings), **SMALL)
    finally:
        s3.misbehave()

    assert (fingerprint(result), len(world.calls())) == expected


def _serve_with_masks_in_s3(world, settings):
    asyncio.run(serve(world, overlays=lambda: _masks_in_s3(world, settings)))


def _masks_in_s3(world, settings):
    store = S3PromptOverridesStore.from_url(
        f"s3://overrides/{world.mailbox}", patience=Patience(first_wait_seconds=0.02), **settings
    )
    agent = agent_of(world)
    return MaskTags(store, descriptor_of(agent.name, agent.configuration))


async def test_compress_runs_alike_on_workers(world, tmp_path):
    def short_of(name, **options):
        return burnish.compress_async(
            _wordy_agent(), _wordy_suite(), seed=3, db=str(tmp_path / name), **options
        )

    local = await short_of("local.db")
    world.db = str(tmp_path / "shared.db")
    async with Workspace.open(world.db):
        pass
    world.start_worker(agent=_wordy_agent(), suite_=_wordy_suite())
    world.start_worker(agent=_wordy_agent(), suite_=_wordy_suite())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runners, "MailboxRunner", lambda url, settings: world.runner())
        far = await short_of("shared.db", mailbox=world.url)

    assert far.configuration == local.configuration
    assert far.report.total_token_reduction == local.report.total_token_reduction > 0
    assert fingerprint(far.result) == fingerprint(local.result)


def _local(tmp_path):
    folder = tmp_path / "local-world"
    folder.mkdir()
    return World(folder)


async def _until_idle(world):
    """Until no message is held: the worker has stopped, replied and acknowledged."""
    client = Redis.from_url(world.url)
    mailbox = RedisMailbox(world.mailbox, client)
    deadline = time.monotonic() + 600
    while await mailbox.approximate_count():
        assert time.monotonic() < deadline, "the worker goes on"
        await asyncio.sleep(0.02)
    await client.aclose()


async def _vandalise(workspace, optimization_id):
    """Delete and edit every mask again and again."""
    garbage = Overlay(sections={"system": "Edited by somebody {{n}}"})
    while True:
        for number in range(8):
            tag = f"opt-{optimization_id}-{number}"
            if await workspace.overlays.get(NAMESPACE, "world", tag) is not None:
                await workspace.overlays.put(NAMESPACE, "world", tag, garbage)
                await asyncio.sleep(0.01)
                await workspace.overlays.delete(NAMESPACE, "world", tag)
        await asyncio.sleep(0.01)


def _shift_clock(seconds):
    true = time.time
    time.time = lambda: true() + seconds


def _nonsense():
    return ShardRequest(
        shard_id="s",
        optimization_id="no-such-run",
        experiment_id="e",
        overrides_tag="t",
        configuration_hash="h",
        pairs=(("1", 0),),
        lease_owner="o",
        lease_token=1,
    )


def _wordy_agent():
    def answer(configuration, item):
        return "yes" if "ESSENTIAL" in configuration["sections"]["system"] else "no"

    text = "\n".join(
        [
            "ESSENTIAL: say yes to {{n}}.",
            *(
                f"Please note that rule {number} is very, very important indeed."
                for number in range(9)
            ),
        ]
    )
    return burnish.Agent(
        name="wordy", configuration={"sections": {"system": text}}, run=answer, version="1"
    )


def _wordy_suite():
    return suite()


async def test_shards_are_not_run_for_a_run_that_was_stopped(world):
    """After Ctrl-C, shards may still wait in the mailbox: nobody pays for them."""
    stopped = asyncio.create_task(run_sharded(world, **SMALL))
    client = Redis.from_url(world.url)
    mailbox = RedisMailbox(world.mailbox, client)
    deadline = time.monotonic() + 600
    while not await mailbox.approximate_count():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)
    stopped.cancel()
    with pytest.raises(asyncio.CancelledError):
        await stopped
    await client.aclose()

    world.start_worker()
    await _until_idle(world)

    assert world.calls() == []


async def test_what_failed_outside_at_the_start_is_run_again_on_resume(world, expected):
    world.start_worker(before=lambda: setattr(world, "log", _Away()))
    with pytest.raises(burnish.BurnishError, match="the endpoint is away"):
        await run_sharded(world, **SMALL)
    world.end()
    world.start_worker()

    result = await run_sharded(world, **SMALL)

    assert (fingerprint(result), len(world.calls())) == expected


class _Away:
    """In place of the log that the agent writes to."""

    def open(self, mode):
        raise UnavailableError(what="no answer", why="the endpoint is away", fix="wait")
