"""Runs that cannot be run, are somebody else's, or take their server down."""

import asyncio
import contextlib

import pytest
from serving_world import DEADLINE, make_served_project

from burnish.app.optimize.cancellation import cancel_optimization
from burnish.app.optimize.creation import create_run
from burnish.app.optimize.executor import RunExecutor
from burnish.app.wiring import Workspace
from burnish.config.served_project import RunRequest, ServedProject
from burnish.domain import OptimizationStatus
from burnish.jobs.executor import ExecutorSettings

QUICK = ExecutorSettings(look_seconds=0.02, max_attempts=3)


@pytest.fixture
def project(tmp_path):
    return ServedProject(make_served_project(tmp_path / "project", items=8) / "burnish.toml")


@pytest.fixture
async def workspace(project):
    async with Workspace.open(str(project.folder / "burnish.db")) as opened:
        yield opened


async def queued(workspace, project, **request):
    identity = await create_run(workspace, project, RunRequest(**request))
    await workspace.run_jobs.add(identity)
    return identity


async def ended(workspace, identity):
    async with asyncio.timeout(DEADLINE):
        while True:
            record = await workspace.optimizations.get_optimization(identity)
            if record.status.final and not await workspace.run_jobs.waiting():
                return record
            await asyncio.sleep(0.01)


async def test_queued_runs_are_run_a_bounded_number_at_once(workspace, project):
    made = [await queued(workspace, project, seed=n) for n in range(4)]
    executor = RunExecutor(workspace, project, ExecutorSettings(max_jobs=2, look_seconds=0.02))
    most = 0
    async with executor:
        async with asyncio.timeout(DEADLINE):
            while await workspace.run_jobs.depth() or executor.active:
                most = max(most, executor.active)
                await asyncio.sleep(0.005)
    records = [await workspace.optimizations.get_optimization(one) for one in made]

    # That two run side by side is shown where their work can be held: test_executor.py.
    assert most <= 2
    assert {one.status for one in records} == {OptimizationStatus.COMPLETED}
    assert executor.tally.totals().items > 0


async def test_a_run_whose_code_has_changed_fails_with_the_reason(workspace, project):
    identity = await queued(workspace, project)
    agent = project.folder / "agent.py"
    agent.write_text(agent.read_text() + "\nCHANGED = True\n")

    async with RunExecutor(workspace, project, QUICK):
        record = await ended(workspace, identity)

    assert record.status is OptimizationStatus.FAILED
    assert record.framework_error["code"] == "code_changed"
    kinds = [one.type.value for one in await workspace.optimizations.list_events(identity)]
    assert kinds == ["run_status_changed", "run_finished"]


async def test_code_that_the_configuration_does_not_name_is_never_run(workspace, project):
    identity = await queued(workspace, project)
    config = project.config.read_text()
    (project.folder / "other.py").write_text((project.folder / "agent.py").read_text())
    project.config.write_text(config.replace("agent:answer", "other:answer"))

    async with RunExecutor(workspace, project, QUICK):
        record = await ended(workspace, identity)

    assert record.framework_error["code"] == "foreign_code"


async def test_a_broken_agent_ends_its_run_and_not_the_executor(workspace, project):
    identity = await queued(workspace, project)
    agent = project.folder / "agent.py"
    good = agent.read_text()
    agent.write_text("raise SystemError('broken on import')\n")

    async with RunExecutor(workspace, project, QUICK) as executor:
        record = await ended(workspace, identity)
        agent.write_text(good)
        await workspace.run_jobs.add(identity)
        executor.wake()
        async with asyncio.timeout(DEADLINE):
            while record.status is not OptimizationStatus.COMPLETED:
                record = await workspace.optimizations.get_optimization(identity)
                await asyncio.sleep(0.01)

    assert record.framework_error is None


async def test_a_run_of_another_owner_waits_until_its_lease_has_run_out(
    workspace, project, monkeypatch
):
    identity = await queued(workspace, project)
    await workspace.optimizations.acquire_lease(identity, owner="elsewhere", seconds=3600)
    waiting, looks = workspace.run_jobs.waiting, []

    async def watched():
        looks.append(await waiting())
        return looks[-1]

    monkeypatch.setattr(workspace.run_jobs, "waiting", watched)
    async with RunExecutor(workspace, project, QUICK) as executor:
        executor.wake()
        async with asyncio.timeout(DEADLINE):
            while len(looks) < 3:
                await asyncio.sleep(0.01)
        assert executor.active == 0
        assert looks[-1][0].free is False
        await workspace.optimizations.acquire_lease(identity, owner="elsewhere", seconds=0)
        record = await ended(workspace, identity)

    assert record.status is OptimizationStatus.COMPLETED


async def test_a_run_that_takes_every_server_down_is_not_tried_for_ever(workspace, project):
    identity = await queued(workspace, project)
    for _ in range(QUICK.max_attempts):
        await workspace.run_jobs.acquire(identity, owner="dead", seconds=0)

    async with RunExecutor(workspace, project, QUICK):
        record = await ended(workspace, identity)

    assert record.framework_error["code"] == "too_many_attempts"


async def test_what_runs_at_the_end_is_given_back_and_goes_on_elsewhere(
    workspace, project, monkeypatch
):
    monkeypatch.setenv("AGENT_SECONDS", "3600")
    identity = await queued(workspace, project)
    async with RunExecutor(workspace, project, QUICK):
        async with asyncio.timeout(DEADLINE):
            while not await workspace.optimizations.list_events(identity):
                await asyncio.sleep(0.01)
    left = await workspace.run_jobs.waiting()
    record = await workspace.optimizations.get_optimization(identity)
    monkeypatch.setenv("AGENT_SECONDS", "0")

    assert record.status is OptimizationStatus.RUNNING
    assert [(one.job_id, one.free) for one in left] == [(identity, True)]
    async with RunExecutor(workspace, project, QUICK):
        assert (await ended(workspace, identity)).status is OptimizationStatus.COMPLETED


async def test_a_cancelled_run_leaves_the_queue_without_being_run(workspace, project):
    identity = await queued(workspace, project)
    await cancel_optimization(workspace, identity)

    async with RunExecutor(workspace, project, QUICK):
        record = await ended(workspace, identity)

    assert record.status is OptimizationStatus.CANCELLED
    with contextlib.suppress(FileNotFoundError):
        assert (project.folder / "calls.log").read_text() == ""


async def test_a_bug_in_looking_at_the_queue_does_not_end_the_executor(
    workspace, project, monkeypatch
):
    identity = await queued(workspace, project)
    waiting, broken = workspace.run_jobs.waiting, []

    async def broken_once():
        if not broken:
            broken.append(True)
            raise RuntimeError("a bug")
        return await waiting()

    monkeypatch.setattr(workspace.run_jobs, "waiting", broken_once)
    async with RunExecutor(workspace, project, QUICK):
        record = await ended(workspace, identity)

    assert record.status is OptimizationStatus.COMPLETED
    assert broken
