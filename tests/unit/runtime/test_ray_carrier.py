"""Shards as tasks of a cluster, without one: what comes back, and what is given up."""

import asyncio

from burnish.runtime.shards.messages import ShardRequest, read_request, reply_to, written
from burnish.runtime.shards.ray import RayTransport

REQUEST = ShardRequest(
    shard_id="s",
    optimization_id="o",
    experiment_id="e",
    overrides_tag="t",
    configuration_hash="h",
    pairs=(("1", 0),),
    lease_owner="w",
    lease_token=1,
)


class Tasks:
    """Tasks that end as they are told; `cancelled` are those that nobody wants."""

    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.started = []
        self.cancelled = []

    def submit(self, payload):
        self.started.append((read_request(payload), asyncio.Future(loop=self.loop)))
        return self.started[-1][1]

    def cancel(self, task):
        self.cancelled.append(task)


async def test_a_reply_comes_back_as_it_was_given():
    tasks = Tasks()
    carrier = RayTransport(tasks, where="here")
    await carrier.send(REQUEST)
    [(request, task)] = tasks.started
    assert request == REQUEST
    assert await carrier.outstanding() == 1

    reply = reply_to(REQUEST, "done", "node", results=1)
    task.set_result(written(reply))

    assert await carrier.replies() == [reply]
    await asyncio.sleep(0)
    assert await carrier.outstanding() == 0


async def test_what_the_cluster_gives_up_is_refused_with_the_reason():
    tasks = Tasks()
    carrier = RayTransport(tasks, where="here")
    await carrier.send(REQUEST)

    tasks.started[0][1].set_exception(ModuleNotFoundError("No module named 'burnish'"))
    [reply] = await carrier.replies()

    assert (reply.shard_id, reply.status) == ("s", "refused")
    assert "No module named 'burnish'" in reply.why


async def test_closing_cancels_what_runs():
    tasks = Tasks()
    carrier = RayTransport(tasks, where="here")
    await carrier.send(REQUEST)

    await carrier.close()

    assert tasks.cancelled == [tasks.started[0][1]]
    assert await carrier.outstanding() == 0
