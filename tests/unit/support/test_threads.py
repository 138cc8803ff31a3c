"""Threads for blocking functions: each function gets one, whatever the others do."""

import asyncio
import sys
import threading

import pytest

from burnish.support.threads import DaemonThreads


@pytest.fixture
def quick_switches():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("quick_switches")
async def test_no_function_is_left_to_a_thread_that_is_busy():
    threads = DaemonThreads(8)

    for number in range(2000):
        # Were the second to wait for the first one's thread, neither would pass it.
        barrier = threading.Barrier(2, timeout=600)
        await asyncio.gather(threads.run(barrier.wait), threads.run(barrier.wait))
        if number % 10 == 0:
            threads.close()
