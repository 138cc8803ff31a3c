"""Kill -9 at a place that has a name: a write, or a call of the agent."""

import os
import signal
import sqlite3

from optimization_world import hang_from, in_child, wait_for

from burnish.storage.engine import failpoints


def die():
    """End this process as nobody can catch it."""
    os.kill(os.getpid(), signal.SIGKILL)


def killed(work):
    """Run work in a process of its own, which dies in it."""
    assert wait_for(in_child(work)) == -signal.SIGKILL


def die_at_write(place, number):
    """Die at the number-th passing of a place such as `save_step:after`."""
    passed = []

    def reach(name):
        if name.endswith(f".{place}"):
            passed.append(name)
            if len(passed) == number:
                die()

    failpoints.on_reach = reach


def die_in_call(world, number):
    """Die in a call of the agent, with others under way and whatever is being written then."""

    async def called():
        if len(world.calls()) >= number:
            die()

    world.on_call = called


def die_once_stored(world, number):
    """Die when all results before this call are stored; it and those after it never end."""

    def reach(name):
        if name.endswith(".save_results:after") and stored_results(world) == number - 1:
            die()

    hang_from(world, number)
    failpoints.on_reach = reach


def stored_results(world):
    """How many results of items are in the world's database."""
    connection = sqlite3.connect(world.db)
    try:
        return connection.execute("select count(*) from experiment_items").fetchone()[0]
    finally:
        connection.close()
