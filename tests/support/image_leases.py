"""Leases of image runs, taken and kept by token as the tests of a repository want them."""

from tests.support.memory_images import MemoryImageRepository

from burnish.domain import ConflictError, Lease
from burnish.domain.images.protocols import LeasedRun
from burnish.domain.jobs import JobKind
from burnish.storage import SqlImageJobs


def _jobs(images):
    return SqlImageJobs(images._database)


def _lease(run_id, token):
    return Lease(kind=JobKind.IMAGE_RUN, job_id=run_id, owner="", token=token)


async def take_this_run(images, run_id, *, owner, seconds):
    """The run, unless it has ended or somebody holds it."""
    if isinstance(images, MemoryImageRepository):
        return await images.take_this_run(run_id, owner=owner, seconds=seconds)
    try:
        job = await _jobs(images).acquire(run_id, owner=owner, seconds=seconds)
    except ConflictError:
        return None
    return LeasedRun(run=await images.run(run_id), token=job.lease.token, attempts=job.attempts)


async def take_run(images, *, owner, seconds):
    """The oldest that can be had."""
    if isinstance(images, MemoryImageRepository):
        return await images.take_run(owner=owner, seconds=seconds)
    for waiting in await _jobs(images).waiting():
        if waiting.free:
            taken = await take_this_run(images, waiting.job_id, owner=owner, seconds=seconds)
            if taken is not None:
                return taken
    return None


async def keep_run(images, run_id, *, token, seconds):
    """Whether its cancellation was asked for; ConflictError when somebody else has it."""
    if isinstance(images, MemoryImageRepository):
        return await images.keep_run(run_id, token=token, seconds=seconds)
    await _jobs(images).renew(_lease(run_id, token), seconds=seconds)
    return await _jobs(images).cancel_requested(run_id)


async def release_run(images, run_id, *, token):
    """Let anybody have it."""
    if isinstance(images, MemoryImageRepository):
        await images.release_run(run_id, token=token)
    else:
        await _jobs(images).give_back(_lease(run_id, token))
