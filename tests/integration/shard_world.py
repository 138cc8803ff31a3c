"""Workers for the world of `optimization_world`: real processes on a real Valkey."""

import asyncio
import contextlib
import dataclasses
import functools
import os
import signal
import time
import uuid

import redis
from optimization_world import World, agent_of, in_child, prepare, suite
from redis.asyncio import Redis

from burnish.app.optimize.runners import MailboxRunner
from burnish.app.wiring import Workspace
from burnish.app.worker.shard_worker import shard_evaluator
from burnish.runtime.mailboxes import RedisMailbox
from burnish.runtime.shards.blocks import ShardSettings
from burnish.runtime.shards.loop import VISIBILITY_SECONDS, ShardLoop
from burnish.runtime.shards.suite import ShardSize

# Impatient, so that tests are quick; none of it changes a result.
QUICK = ShardSettings(
    size=ShardSize(smallest=3, largest=5),
    look_seconds=0.2,
    longest_look_seconds=0.4,
    lost_seconds=0.4,
    notice_seconds=30.0,
    refusal_seconds=1.0,
    give_up_seconds=90.0,
)


class ShardWorld(World):
    """A world whose evaluations go to workers on a mailbox of its own."""

    def __init__(self, folder, url, **options):
        super().__init__(folder, **options)
        self.url = url
        self.mailbox = f"shards-{uuid.uuid4().hex[:8]}"
        self.workers = []

    def start_worker(self, **options):
        """A worker process; its id. Never while a run goes on here: see `worker_for_later`."""
        child = in_child(lambda: asyncio.run(serve(self, **options)))
        self.workers.append(child)
        return child

    def worker_for_later(self, **options):
        """A worker process that begins when what is returned is called.

        It is forked before the run: a fork in the middle of a transaction would inherit SQLite's
        memory of the lock, and find the database locked for ever.
        """
        waits, begin = os.pipe()

        def work():
            os.close(begin)
            os.read(waits, 1)
            asyncio.run(serve(self, **options))

        self.workers.append(in_child(work))
        os.close(waits)
        return functools.partial(os.close, begin)

    def end_worker(self, child, number=signal.SIGKILL):
        """Signal a worker and wait until it is gone; its exit code."""
        self.workers.remove(child)
        os.kill(child, number)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

    def held_by(self, child):
        """The shards that a worker holds."""
        return list(self._leases(child))

    def seconds_left(self, child):
        """The longest that a shard stays a worker's own, or 0 if it holds none."""
        return max(self._leases(child).values(), default=0.0)

    def let_leases_run_out(self, child):
        """What a worker held that is gone now is free at once; nobody else's lease changes."""
        with redis.Redis.from_url(self.url) as client:
            for receipt in self._leases(child):
                client.zadd(self._due, {receipt: 0})

    def _leases(self, child):
        """Each receipt of a worker with the seconds for which it counts."""
        with redis.Redis.from_url(self.url) as client:
            seconds, micros = client.time()
            held = client.zrange(self._due, 0, -1, withscores=True)
        now = seconds + micros / 1e6
        return {
            receipt: max(moment / 1000 - now, 0.0)
            for receipt, moment in held
            if f"-{child}-".encode() in receipt.split()[-1]
        }

    @property
    def _due(self):
        return f"burnish:mailbox:{{{self.mailbox}}}:due"

    def end(self):
        for child in list(self.workers):
            with contextlib.suppress(ProcessLookupError, ChildProcessError):
                self.end_worker(child)

    def runner(self, settings=QUICK):
        return MailboxRunner(self.url, settings, mailbox=self.mailbox)


async def serve(
    world,
    *,
    visibility=VISIBILITY_SECONDS,
    concurrency=4,
    agent=None,
    suite_=None,
    before=None,
    overlays=None,
    grace=0.2,
):
    """What a worker does: the program of a team whose agent is a function."""
    if before is not None:
        before()
    async with Workspace.open(world.db) as workspace:
        client = Redis.from_url(world.url)
        evaluator = shard_evaluator(
            workspace,
            world.folder,
            agent=agent or agent_of(world),
            suite=suite_ or suite(),
            concurrency=concurrency,
            overlays=None if overlays is None else overlays(),
        )
        loop = ShardLoop(evaluator=evaluator, requests=RedisMailbox(world.mailbox, client))
        stop = asyncio.create_task(_until_terminated(loop, grace))
        try:
            await loop.run(visibility_timeout=visibility, wait_time_seconds=1)
        finally:
            stop.cancel()
            await evaluator.close()
            await client.aclose()


async def _until_terminated(loop, grace):
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    await told.wait()
    await loop.shutdown(timeout=grace)


async def run_sharded(
    world, *, settings=QUICK, overlays=None, started=None, item_timeout=120.0, **options
):
    """Start or go on with the world's optimization on its workers, to its end."""
    async with Workspace.open(world.db) as workspace:
        optimization = await prepare(world, workspace, **options)
        spec = optimization._spec
        optimization._spec = dataclasses.replace(spec, timeout_seconds=item_timeout)
        optimization._make_adapter = world.runner(settings)
        if overlays is not None:
            optimization._overlays = overlays
        try:
            if world.optimization_id is None:
                world.id_file.write_text((await optimization.create()).id)
            if started is not None:
                started(workspace)
            return await optimization.run(world.optimization_id)
        finally:
            await optimization.close()


def wait_until(check, *, seconds=600.0):
    """Until it holds; an event that only a file or a server tells of."""
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, "it did not come to that in time"
        time.sleep(0.01)
