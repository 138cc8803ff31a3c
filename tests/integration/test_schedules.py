"""Schedules on both databases: due times that start one run, whoever looks and however late."""

import asyncio
import shutil
from datetime import UTC, datetime, timedelta

import pytest
from serving_world import make_served_project

from burnish.app.agents.optimizers.configs import OptimizerConfig, OptimizerConfigs
from burnish.app.agents.optimizers.runs import start_run
from burnish.app.agents.optimizers.scheduler import OptimizerScheduler
from burnish.app.wiring import Workspace
from burnish.config.served_project import ServedProject
from burnish.domain import ConflictError, OptimizationStatus
from burnish.storage import Database
from burnish.testing.clocks import FakeClock

NIGHTLY = "0 2 * * *"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return ServedProject(
        make_served_project(tmp_path_factory.mktemp("schedules"), items=10) / "burnish.toml"
    )


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    path = tmp_path_factory.mktemp("template") / "burnish.db"
    asyncio.run(_make(path))
    return path


async def _make(address):
    await (await Database.open(address)).close()


@pytest.fixture(params=["sqlite", "postgres"])
def location(request, tmp_path, template):
    if request.param == "sqlite":
        return str(shutil.copy(template, tmp_path / "burnish.db"))
    return request.getfixturevalue("postgres_url")


@pytest.fixture
async def workspace(location):
    async with Workspace.open(location) as opened:
        yield opened


def next_night(optimizer, hour):
    """The hour of the day on which the schedule's two o'clock comes first after it was made."""
    made = datetime.fromisoformat(optimizer.created_at).astimezone(UTC)
    day = made - timedelta(hours=2) + timedelta(days=1)
    return day.replace(hour=hour, minute=0, second=0, microsecond=0)


async def configured(workspace, project, **changes):
    config = OptimizerConfig(
        name="nightly",
        agent_name="tickets",
        suite_id="",
        optimizer="edits",
        schedule=NIGHTLY,
        **changes,
    )
    configs = OptimizerConfigs(workspace, project)
    return await configs.save(config, author="", expected_version=None)


async def end(workspace, run_id):
    lease = await workspace.optimizations.acquire_lease(run_id, owner="o", seconds=60)
    await workspace.optimizations.save_status(lease, OptimizationStatus.COMPLETED)
    await workspace.optimizations.release_lease(lease)


async def test_a_schedule_starts_one_run_at_a_time_and_missed_times_make_one(workspace, project):
    optimizer = await configured(workspace, project)
    clock = FakeClock(next_night(optimizer, 1))
    keeper = OptimizerScheduler(workspace, project, clock=clock)

    assert await keeper.start_due() == [], "the time before it was made does not count"
    clock.advance(3600)
    first = await keeper.start_due()
    assert len(first) == 1
    assert await keeper.start_due() == []
    assert (await workspace.optimizer_runs.get(first[0])).due_at.startswith(
        next_night(optimizer, 2).strftime("%Y-%m-%dT02:00")
    )

    clock.advance(3 * 86400)
    assert await keeper.start_due() == [], "the first one has not ended"
    await end(workspace, first[0])
    second = await keeper.start_due()
    assert len(second) == 1, "three nights were missed, and make one run"
    await end(workspace, second[0])
    assert await keeper.start_due() == []
    page = await workspace.optimizer_runs.page(optimizer.id)
    assert [one.run.id for one in page.items] == [*second, *first]


async def test_several_servers_start_a_due_run_once(location, workspace, project):
    optimizer = await configured(workspace, project)
    async with Workspace.open(location) as other, Workspace.open(location) as third:
        keepers = [
            OptimizerScheduler(one, project, clock=FakeClock(next_night(optimizer, 3)))
            for one in (workspace, other, third)
        ]
        started = await asyncio.gather(*(one.start_due() for one in keepers))

    assert len([run for runs in started for run in runs]) == 1, started
    page = await workspace.optimizer_runs.page(optimizer.id)
    assert len(page.items) == 1
    assert await workspace.run_jobs.depth() == 1
    assert len(await workspace.optimizations.list_optimizations()) == 1


async def test_runs_by_hand_at_once_are_one_and_leave_nothing_that_waits(workspace, project):
    optimizer = await configured(workspace, project)

    outcomes = await asyncio.gather(
        *(start_run(workspace, project, optimizer) for _ in range(3)), return_exceptions=True
    )

    assert sum(isinstance(one, str) for one in outcomes) == 1
    refused = [one for one in outcomes if isinstance(one, ConflictError)]
    assert [one.code for one in refused] == ["already_running"] * 2
    statuses = {one.status for one in await workspace.optimizations.list_optimizations()}
    assert statuses <= {OptimizationStatus.INITIALIZED, OptimizationStatus.CANCELLED}
    assert len(await workspace.run_jobs.waiting()) == 1


async def test_a_server_that_died_between_making_and_starting_is_made_up_for(workspace, project):
    optimizer = await configured(workspace, project)
    keeper = OptimizerScheduler(workspace, project, clock=FakeClock(next_night(optimizer, 3)))
    begin = workspace.optimizer_runs.begin

    async def dies(run):
        raise asyncio.CancelledError

    workspace.optimizer_runs.begin = dies
    with pytest.raises(asyncio.CancelledError):
        await keeper.start_due()
    workspace.optimizer_runs.begin = begin
    started = await keeper.start_due()

    assert len(started) == 1
    assert len(await workspace.optimizations.list_optimizations()) == 1
    assert (await workspace.optimizer_runs.get(started[0])).optimizer_id == optimizer.id


async def test_what_cannot_start_is_not_tried_all_the_time(workspace, project, caplog):
    optimizer = await configured(workspace, project)
    clock = FakeClock(next_night(optimizer, 3))
    keeper = OptimizerScheduler(workspace, project, clock=clock)
    broken = ServedProject(project.folder / "burnish.toml")
    rows = project.folder / "rows.jsonl"
    content = rows.read_bytes()
    rows.write_text("not json\n")
    try:
        keeper._project = broken
        assert await keeper.start_due() == []
        assert await keeper.start_due() == []
    finally:
        rows.write_bytes(content)

    assert caplog.text.count("cannot be started") == 1
    clock.advance(86400)
    assert len(await keeper.start_due()) == 1
