"""Services that routes work with, opened when the server starts and closed when it ends."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from burnish.app.agents.optimizers.scheduler import OptimizerScheduler
from burnish.app.agents.trying import Tries
from burnish.app.datasets.pictures import SuitePictures
from burnish.app.evaluate.queued import EvaluationExecutor
from burnish.app.images.executor import ImageExecutor
from burnish.app.images.models import image_model_options
from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.app.optimize.executor import RunExecutor
from burnish.app.run_tally import RunTally
from burnish.app.wiring import Workspace
from burnish.config.served_project import ServedProject
from burnish.domain import Event
from burnish.jobs.event_hub import EventHub
from burnish.jobs.event_listeners import open_listener
from burnish.jobs.executor import ExecutorSettings
from burnish.server.http.metrics import Metrics
from burnish.server.http.settings import ServerSettings
from burnish.server.http.sse import encode_event
from burnish.server.images.streams import ImageRunHub


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Everything that is open. Executors are None in a server that only serves."""

    settings: ServerSettings
    workspace: Workspace
    project: ServedProject
    hub: EventHub[Event]
    metrics: Metrics
    keeper: OptimizerScheduler
    tries: Tries
    images: ImageRuns
    image_hub: ImageRunHub
    pictures: SuitePictures
    executor: RunExecutor | None = None
    evaluator: EvaluationExecutor | None = None
    image_executor: ImageExecutor | None = None

    async def start_run(self, optimization_id: str) -> None:
        """Let it be run by whoever is first."""
        await self.workspace.run_jobs.add(optimization_id)
        self.wake()

    def wake(self) -> None:
        """Look at what waits to be run, now."""
        for one in (self.executor, self.evaluator, self.image_executor):
            if one is not None:
                one.wake()

    def close_streams(self) -> None:
        """End every stream of events: they would never end by themselves."""
        self.hub.close()
        self.image_hub.close()


@contextlib.asynccontextmanager
async def open_services(
    settings: ServerSettings, metrics: Metrics, tally: RunTally
) -> AsyncIterator[Services]:
    """All services, on an open database."""
    project = ServedProject(settings.config, settings.urls)
    async with contextlib.AsyncExitStack() as stack:
        workspace = await stack.enter_async_context(Workspace.open(settings.database))
        hub: EventHub[Event] = EventHub(
            workspace.feed,
            encode_event,
            listener=open_listener(settings.database),
            look_seconds=settings.streams.look_seconds,
            room=settings.streams.room,
            quiet_seconds=settings.streams.keep_alive_seconds,
            stuck_seconds=settings.streams.send_seconds,
        )
        workspace.listeners.append(hub.notify)
        await stack.enter_async_context(hub)
        images = await stack.enter_async_context(_open_images(settings, workspace))
        image_hub = ImageRunHub(workspace.images, settings.streams)
        images.listeners.append(image_hub.notify)
        await stack.enter_async_context(image_hub)
        executor = evaluator = image_executor = None
        if settings.execute:
            others = ExecutorSettings(lease_seconds=settings.runs.lease_seconds)
            executor = RunExecutor(
                workspace, project, settings.runs, tally=tally, make_adapter=settings.make_adapter
            )
            await stack.enter_async_context(executor)
            evaluator = EvaluationExecutor(workspace, project, others)
            await stack.enter_async_context(evaluator)
            image_executor = ImageExecutor(workspace, images, others)
            await stack.enter_async_context(image_executor)
        # Also where nothing is run: it only says what is to be run, and sees to what has ended.
        keeper = OptimizerScheduler(
            workspace, project, started=executor.wake if executor is not None else None
        )
        await stack.enter_async_context(keeper)
        yield Services(
            settings=settings,
            workspace=workspace,
            project=project,
            hub=hub,
            metrics=metrics,
            executor=executor,
            evaluator=evaluator,
            keeper=keeper,
            tries=Tries(workspace, project, seconds=settings.try_seconds),
            images=images,
            image_hub=image_hub,
            pictures=SuitePictures(project),
            image_executor=image_executor,
        )


def _open_images(
    settings: ServerSettings, workspace: Workspace
) -> contextlib.AbstractAsyncContextManager[ImageRuns]:
    """Image runs with the models that requests may name: none is found by a path or an address."""
    chosen = ImageSettings.load(settings.config)
    known = {one.name for one in image_model_options(chosen) if one.name is not None}
    named = {name for name in chosen.models if "/" in name}
    return ImageRuns.open(workspace, settings.database, chosen, allowed_models={*known, *named})


async def _services(request: Request) -> Services:
    services: Services = request.app.state.services
    return services


Serving = Annotated[Services, Depends(_services)]
