"""The record of a run is read once before its first step, however the run came about."""

import asyncio

import pytest
from optimization_world import World, prepare
from serving_world import DEADLINE, make_served_project
from sqlalchemy import event
from sqlalchemy.engine import Engine

from burnish.app.optimize.creation import create_run
from burnish.app.optimize.executor import RunExecutor
from burnish.app.wiring import Workspace
from burnish.cli.invocation import run_command
from burnish.config.served_project import RunRequest, ServedProject
from burnish.domain import ConflictError, OptimizationStatus, UnavailableError, UsageError
from burnish.jobs.executor import ExecutorSettings
from burnish.storage.engine import failpoints


@pytest.fixture
def reads():
    """The statements that read a record with its documents until a run says that it began a step."""
    seen = []

    def note(connection, cursor, statement, parameters, context, executemany):
        if statement.startswith("INSERT INTO candidates") or "step" in seen:
            seen.append("step")
        elif statement.startswith("SELECT") and "AS checkpoint" in statement:
            seen.append("read")

    event.listen(Engine, "before_cursor_execute", note)
    yield seen
    event.remove(Engine, "before_cursor_execute", note)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(make_served_project(tmp_path / "project", items=8))


def break_at(place, monkeypatch):
    def reach(reached):
        if reached == place:
            raise UnavailableError(what="the database", why="is away", fix="wait")

    monkeypatch.setattr(failpoints, "on_reach", reach)


@pytest.mark.usefixtures("project")
def test_a_new_run_and_one_that_goes_on_read_their_record_once(reads, monkeypatch):
    break_at("SqlOptimizationRepository.save_checkpoint:after", monkeypatch)

    assert run_command(["optimize"]) == UnavailableError.exit_code
    began = reads.count("read")
    assert "step" in reads
    monkeypatch.setattr(failpoints, "on_reach", None)
    reads.clear()

    assert run_command(["resume", "latest"]) == 0
    assert (began, reads.count("read")) == (1, 1)


async def test_a_queued_run_reads_its_record_once(reads, tmp_path):
    project = ServedProject(make_served_project(tmp_path, items=8) / "burnish.toml")
    async with Workspace.open(str(tmp_path / "burnish.db")) as workspace:
        identity = await create_run(workspace, project, RunRequest())
        await workspace.run_jobs.add(identity)
        reads.clear()
        executor = RunExecutor(workspace, project, ExecutorSettings(look_seconds=0.02))
        async with executor, asyncio.timeout(DEADLINE):
            while await workspace.run_jobs.depth() or executor.active:
                await asyncio.sleep(0.005)
        record = await workspace.optimizations.get_optimization(identity)

    assert record.status is OptimizationStatus.COMPLETED
    assert reads[: reads.index("step")] == ["read"]


@pytest.mark.parametrize("written", [OptimizationStatus.RUNNING, OptimizationStatus.CANCELLED])
async def test_what_was_written_between_reading_and_the_lease_is_read(reads, tmp_path, written):
    async with Workspace.open(World(tmp_path).db) as workspace:
        repository = workspace.optimizations
        optimization = await prepare(World(tmp_path), workspace)
        made = await optimization.create()
        record = await repository.get_optimization(made.id)
        other = await repository.acquire_lease(made.id, owner="another", seconds=30)
        # Given up, a lease still serves its holder until somebody takes the next one.
        await repository.release_lease(other)
        await repository.save_checkpoint(other, {"version": 0})
        await repository.save_status(other, written)
        reads.clear()

        with pytest.raises((UsageError, ConflictError), match="cancelled|checkpoint has version 0"):
            await optimization.run(record)

        assert reads == ["read"]
