"""Executors of every kind of job on one database: one in a child process that stops in mid-work.

The child stops itself (SIGSTOP) at a place that is named, with no transaction under way, so that
nobody waits for a lock of it. What it does once it is woken stands in its last line.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import sys
from pathlib import Path

from tests.integration.serving_world import make_served_project
from tests.support.image_samples import make_request

from burnish.app.evaluate.evaluations import Selection
from burnish.app.evaluate.queued import EvaluationExecutor, create_evaluation
from burnish.app.images.executor import ImageExecutor
from burnish.app.images.models import ImageModels
from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.app.optimize.creation import Choice, create_run
from burnish.app.optimize.executor import RunExecutor
from burnish.app.wiring import Workspace
from burnish.config.schema import ImagesTable
from burnish.config.served_project import RunRequest, ServedProject
from burnish.domain import ExperimentStatus
from burnish.domain.jobs import JobKind
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel
from burnish.jobs.executor import ExecutorSettings
from burnish.storage import Database
from burnish.storage.experiments.repository import SqlExperimentRepository
from burnish.storage.images.repository import SqlImageRepository
from burnish.storage.optimizations.repository import SqlOptimizationRepository

WORKING, ENDING, GIVING_BACK = "working", "ending", "giving back"
ITEMS = 8
WISH = make_request(image_model="scripted", judge_model="scripted")
CHILD = "from tests.integration.frozen_world import main; main()"
# In the child, the agent tells where it is; `sys` is what both processes surely share a name of.
AGENT = """
import sys, zlib

async def answer(configuration, item):
    reached = getattr(sys, "burnish_agent_reached", None)
    if reached is not None:
        await reached()
    luck = zlib.crc32((str(configuration["sections"]) + item["text"]).encode())
    return item["label"] if luck % 2 else "other"
"""


def make_project(folder: Path) -> Path:
    """A project whose agent says that it was reached, for who listens."""
    make_served_project(folder, items=ITEMS)
    (folder / "agent.py").write_text(AGENT)
    config = folder / "burnish.toml"
    words = config.read_text().replace("concurrency = 4", "concurrency = 1")
    config.write_text(words.replace("max_trials = 4", "max_trials = 2"))
    return folder


async def queue_job(workspace: Workspace, kind: JobKind, folder: Path) -> str:
    """The id of a job that waits."""
    project = ServedProject(folder / "burnish.toml")
    if kind is JobKind.OPTIMIZATION:
        identity = await create_run(workspace, project, RunRequest())
        await workspace.run_jobs.add(identity)
        return identity
    if kind is JobKind.EVALUATION:
        return await create_evaluation(workspace, project, Choice(), Selection(), name=None)
    await workspace.images.create_run("r1", WISH)
    return "r1"


class Picturing(ScriptedImageModel):
    """Tells when it edits: the anchor is stored by then."""

    reached = None

    async def edit(self, base, prompt, *, quality):
        if self.reached is not None:
            await self.reached()
        return await super().edit(base, prompt, quality=quality)


@contextlib.asynccontextmanager
async def executing(workspace, kind, database, folder, settings):
    """An executor of the kind, and the model that draws."""
    project = ServedProject(folder / "burnish.toml")
    model = Picturing()
    async with contextlib.AsyncExitStack() as stack:
        if kind is JobKind.OPTIMIZATION:
            executor = RunExecutor(workspace, project, settings)
        elif kind is JobKind.EVALUATION:
            executor = EvaluationExecutor(workspace, project, settings)
        else:
            chosen = ImageSettings(folder=folder, table=ImagesTable())
            models = ImageModels(
                chosen,
                workspace.model,
                drawing={"scripted": model},
                judging={"scripted": ScriptedImageJudge()},
            )
            images = await stack.enter_async_context(
                ImageRuns.open(workspace, database, chosen, models=models)
            )
            executor = ImageExecutor(workspace, images, settings)
        yield executor, model


class _Freezer:
    """Stops this process at its place, once, while nothing is being written."""

    def __init__(self, moment: str) -> None:
        self._moment = moment
        self._writing = asyncio.Lock()
        self.woken = asyncio.Event()
        self.terminated = asyncio.Event()

    def watch_writes(self) -> None:
        original = Database.write

        async def write(database, work):
            async with self._writing:
                return await original(database, work)

        Database.write = write

    def watch_end(self, kind: JobKind) -> None:
        """Stop before the write that ends the job, which is then tried at once."""
        place, name = {
            JobKind.OPTIMIZATION: (SqlOptimizationRepository, "save_status"),
            JobKind.EVALUATION: (SqlExperimentRepository, "update_experiment"),
            JobKind.IMAGE_RUN: (SqlImageRepository, "save_run"),
        }[kind]
        original = getattr(place, name)

        async def ending(repository, *given, **named):
            if _is_end(kind, given, named):
                await self.stop()
            return await original(repository, *given, **named)

        setattr(place, name, ending)

    async def work(self) -> None:
        """The agent was asked: it will never answer."""
        await self.stop()
        await asyncio.Event().wait()

    async def stop(self) -> None:
        if self.woken.is_set():
            return
        async with self._writing:
            os.kill(os.getpid(), signal.SIGSTOP)
            self.woken.set()
            if self._moment == GIVING_BACK:
                # Until it is given up: what is written first then is that it is given back.
                await asyncio.Event().wait()


def _is_end(kind, given, named) -> bool:
    if kind is JobKind.OPTIMIZATION:
        return given[1].final
    if kind is JobKind.EVALUATION:
        return named.get("status") is ExperimentStatus.COMPLETED
    return given[0].status.ended


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


async def _execute(kind: JobKind, database: str, folder: Path, moment: str) -> list[str]:
    kept = _Kept()
    logging.getLogger("burnish").addHandler(kept)
    logging.getLogger("burnish").setLevel(logging.INFO)
    freezer = _Freezer(moment)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, freezer.terminated.set)
    settings = ExecutorSettings(lease_seconds=1.0, look_seconds=0.05)
    async with Workspace.open(database) as workspace:
        freezer.watch_writes()
        if moment == ENDING:
            freezer.watch_end(kind)
        async with executing(workspace, kind, database, folder, settings) as (executor, model):
            if moment != ENDING:
                sys.burnish_agent_reached = freezer.work
                model.reached = freezer.work
            async with executor:
                await freezer.woken.wait()
                if moment == GIVING_BACK:
                    await freezer.terminated.wait()
                else:
                    while executor.active:
                        await asyncio.sleep(0.01)
            assert executor.active == 0
    return kept.lines


def main() -> None:
    """Execute until the job that was begun here is no longer executed here."""
    kind, database, folder, moment = sys.argv[1:]
    lines = asyncio.run(_execute(JobKind(kind), database, Path(folder), moment))
    print(json.dumps(lines), flush=True)
