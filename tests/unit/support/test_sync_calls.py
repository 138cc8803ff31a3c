"""Sync calls of async work inside and outside of a running event loop, and Ctrl-C in both."""

import asyncio
import contextlib
import contextvars
import os
import signal
import threading

import pytest

from burnish.support.sync_calls import run_sync

asked_by = contextvars.ContextVar("asked_by", default="nobody")


async def answer():
    await asyncio.sleep(0)
    return asked_by.get(), threading.current_thread()


async def fail():
    raise ValueError("no answer")


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def interrupted_work(told, *, ends=True):
    """Work that Ctrl-C hits in the middle and that saves something before it ends."""

    async def work():
        told.append("began")
        interrupt()
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            told.append("saved")
            if not ends:
                interrupt()
                await asyncio.Event().wait()

    return work()


def test_without_a_loop_it_runs_here():
    asked_by.set("a script")

    assert run_sync(answer()) == ("a script", threading.current_thread())


async def test_within_a_loop_it_runs_elsewhere_under_the_same_context():
    asked_by.set("a notebook")
    loop = asyncio.get_running_loop()

    name, thread = run_sync(answer())

    assert name == "a notebook"
    assert thread is not threading.current_thread()
    assert asyncio.get_running_loop() is loop


async def test_errors_come_back_as_they_are():
    with pytest.raises(ValueError, match="no answer"):
        run_sync(fail())


async def test_calls_within_calls():
    async def outer():
        return run_sync(answer())

    assert run_sync(outer())[0] == asked_by.get()


@contextlib.contextmanager
def handler(listens):
    previous = signal.signal(signal.SIGINT, listens)
    try:
        yield
        assert signal.getsignal(signal.SIGINT) is listens
    finally:
        signal.signal(signal.SIGINT, previous)


# What a notebook's kernel sets while a cell runs.
NOTEBOOK = signal.default_int_handler


async def test_an_interrupt_lets_the_work_save_and_then_interrupts_the_cell():
    told = []

    with handler(NOTEBOOK), pytest.raises(KeyboardInterrupt) as caught:
        run_sync(interrupted_work(told))

    assert told == ["began", "saved"]
    assert caught.value.__suppress_context__


async def test_a_second_interrupt_waits_for_nothing():
    told = []

    with handler(NOTEBOOK), pytest.raises(KeyboardInterrupt):
        run_sync(interrupted_work(told, ends=False))

    assert told == ["began", "saved"]


def test_an_async_program_is_interrupted_as_ever():
    told = []

    async def program():
        run_sync(interrupted_work(told))

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(program())

    assert told == ["began", "saved"]


async def test_a_server_that_listens_itself_hears_of_it_and_is_not_thrown_out():
    told, heard = [], []

    with handler(lambda number, _: heard.append(number)), pytest.raises(asyncio.CancelledError):
        run_sync(interrupted_work(told))

    assert (told, heard) == (["began", "saved"], [signal.SIGINT])


async def test_threads_other_than_the_main_one_may_call_it():
    async def within():
        return run_sync(answer())

    name, _ = await asyncio.to_thread(lambda: asyncio.run(within()))

    assert name == asked_by.get()
