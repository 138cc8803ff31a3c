"""Image runs with models that only wait: one after another, or many at once. Prints JSON."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from statistics import median

from burnish.app.images.executor import ImageExecutor
from burnish.app.images.models import ImageModels
from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.app.wiring import Workspace
from burnish.config.schema import ImagesTable
from burnish.domain.images.runs import ImageRunRequest, ObjectivePreset
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel, flat_picture

REQUEST = ImageRunRequest(
    project_id="bench",
    base_prompt="an astronaut chef in a neon diner",
    objective_preset=ObjectivePreset.ADHERENCE,
    image_model="scripted",
    judge_model="scripted",
)


async def one_after_another(runs: int) -> dict[str, float]:
    """Milliseconds of each run with instant models, wall and CPU."""
    async with opened(0.0, 8) as (images, _, _, _):
        walls, cpus = [], []
        for _ in range(runs):
            started, cpu = time.perf_counter(), time.process_time()
            ended = await images.execute((await images.create(REQUEST)).run_id)
            walls.append((time.perf_counter() - started) * 1000)
            cpus.append((time.process_time() - cpu) * 1000)
            assert ended.status.value == "completed", ended
    return {"median": median(walls), "worst": max(walls), "cpu": median(cpus)}


async def at_once(runs: int, wait: float, calls: int) -> dict[str, float]:
    """How full the bound was kept, from the first call to the last."""
    async with opened(wait, calls) as (images, workspace, model, judge):
        for _ in range(runs):
            await images.create(REQUEST)
        started, cpu = time.perf_counter(), time.process_time()
        async with ImageExecutor(workspace, images):
            while True:
                page = await images.repository.runs(limit=runs)
                if all(run.status.ended for run in page.items):
                    break
                await asyncio.sleep(0.05)
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        assert {run.status.value for run in page.items} == {"completed"}
        made = model.calls + judge.calls
    return {
        "seconds": seconds,
        "ideal": made * wait / calls,
        "occupancy": made * wait / calls / seconds,
        "calls": made,
        "cpu": cpu,
    }


@asynccontextmanager
async def opened(
    wait: float, calls: int
) -> AsyncIterator[tuple[ImageRuns, Workspace, ScriptedImageModel, ScriptedImageJudge]]:
    """Image runs in an empty folder, with their scripted models."""
    database = "bench.db"
    settings = ImageSettings(table=ImagesTable(max_calls=calls))
    model = ScriptedImageModel(latency_seconds=wait, picture=partial(flat_picture, side=512))
    judge = ScriptedImageJudge(latency_seconds=wait)
    async with Workspace.open(database) as workspace:
        models = ImageModels(
            settings,
            workspace.model,
            drawing={"scripted": model},
            judging={"scripted": judge},
        )
        async with ImageRuns.open(workspace, database, settings, models=models) as images:
            yield images, workspace, model, judge


def main() -> None:
    runs = int(sys.argv[2])
    if sys.argv[1] == "overhead":
        print(json.dumps(asyncio.run(one_after_another(runs))))
    else:
        print(json.dumps(asyncio.run(at_once(runs, float(sys.argv[3]), int(sys.argv[4])))))


main()
