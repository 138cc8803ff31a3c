"""The renewer of leases: it stops what lost its lease, and nothing else."""

import asyncio
import contextlib

import pytest

from burnish.domain import ConflictError
from burnish.jobs.lease_renewer import LeaseRenewer


def renewer(renew, *, on_cancel=None, asked=False, on_renewed=None):
    async def requested():
        return asked

    async def ignored():
        pass

    return LeaseRenewer(
        renew=renew,
        cancel_requested=requested,
        on_cancel=on_cancel or ignored,
        on_renewed=on_renewed,
        seconds=0.03,
    )


async def lost(seconds):
    raise ConflictError(what="not written", why="it has moved", fix="wait", code="lease_lost")


async def kept(seconds):
    pass


async def test_work_whose_lease_moved_is_cancelled_and_the_task_goes_on():
    with pytest.raises(ConflictError, match="moved"):
        async with renewer(lost):
            await asyncio.Event().wait()

    assert asyncio.current_task().cancelling() == 0
    await asyncio.sleep(0)


async def test_work_that_ends_by_itself_as_the_lease_moves_is_lost_too():
    with pytest.raises(ConflictError, match="moved"):
        async with renewer(lost):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            # It would go on to write here.


async def test_a_bug_in_a_renewal_stops_the_work_that_nobody_renews():
    async def broken(seconds):
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        async with renewer(broken):
            await asyncio.Event().wait()


async def test_renewals_are_counted():
    numbers, third = [], asyncio.Event()

    async def renewed(number):
        numbers.append(number)
        if number == 3:
            third.set()

    async with renewer(kept, on_renewed=renewed):
        await third.wait()

    assert numbers[:3] == [1, 2, 3]


async def test_a_wish_to_cancel_is_told_once():
    told, again = [], asyncio.Event()

    async def cancel():
        told.append(True)

    async def renew(seconds):
        if told:
            again.set()

    async with renewer(renew, on_cancel=cancel, asked=True) as one:
        one.nudge()
        await again.wait()

    assert told == [True]
