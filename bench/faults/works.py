"""The kinds of work that are disturbed: each is started or gone on with, and looked at afterwards."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from optimization_world import (
    WORTH,
    Climber,
    agent_of,
    fingerprint,
    result_of,
    suite,
)
from shard_world import ShardWorld, run_sharded
from tests.servers import misbehaving
from tests.support.image_samples import make_request

import burnish
from burnish.app.evaluate import leases as evaluation_leases
from burnish.app.evaluate.evaluations import Evaluation
from burnish.app.images import runs as image_runs
from burnish.app.images.models import ImageModels
from burnish.app.images.runs import ImageRuns
from burnish.app.images.settings import ImageSettings
from burnish.app.optimize.optimizations import Optimization
from burnish.app.wiring import Workspace
from burnish.config.search import SearchSpec
from burnish.images import pictures
from burnish.images.models.scripted import ScriptedImageJudge, ScriptedImageModel, flat_picture
from burnish.jobs.lease_renewer import LEASE_SECONDS
from burnish.storage import Database
from burnish.support.threads import DaemonThreads

BUDGET = burnish.Budget(max_trials=4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long a run waits for what is away; None is what the product does by itself."""

    patience_seconds: float | None = None
    timeout_seconds: float | None = None
    lease_seconds: float = LEASE_SECONDS
    outage_seconds: float = burnish.Agent.outage_seconds


# Over soon, so that many faults can be tried.
SHORT = Limits(patience_seconds=1.0, timeout_seconds=1.0, lease_seconds=1.0, outage_seconds=2.0)


class FaultWorld(ShardWorld):
    """A world with limits, and perhaps a model behind HTTP."""

    def __init__(self, folder: Path, *, limits: Limits = SHORT, valkey: str = "") -> None:
        super().__init__(folder, valkey, item_seconds=0.001, outage_seconds=limits.outage_seconds)
        self.limits = limits
        self.base_url: str | None = None
        self.on_fork: Callable[[], None] | None = None

    @property
    def where(self) -> Path:
        """A file with the name of the place that was hit."""
        return self.folder / "where"

    @property
    def errors(self) -> Path:
        """A file with the errors that attempts ended with."""
        return self.folder / "errors"

    def enter_fork(self) -> None:
        """Make a forked process that of this world, with its limits: they are the process's own."""
        if self.limits.patience_seconds is not None:
            patience = self.limits.patience_seconds
            Database.open = partial(Database.open, patience_seconds=patience)  # type: ignore[method-assign]
        evaluation_leases.LEASE_SECONDS = self.limits.lease_seconds
        image_runs._LOOK_SECONDS = 0.02  # noqa: SLF001
        # A fork has none of the threads that its parent's pools count on.
        pictures._background = DaemonThreads(1)  # noqa: SLF001
        if self.on_fork is not None:
            self.on_fork()

    def agent(self) -> burnish.Agent:
        """The world's agent, or a prompt for its model."""
        agent = agent_of(self)
        return agent if self.base_url is None else replace(agent, run=None, model="openai/m")

    def models(self) -> dict[str, Any]:
        """Where its model is."""
        if self.base_url is None:
            return {}
        seconds = self.limits.timeout_seconds
        given = {} if seconds is None else {"timeout_seconds": seconds}
        return {"openai": {"base_url": self.base_url, "api_key_env": "", **given}}


def said(request: misbehaving.SeenRequest) -> str:
    """The answer of the world's model, from the prompt alone."""
    text = " ".join(str(one["content"]) for one in request.body["messages"])
    chance = 0.3 + sum(worth for word, worth in WORTH.items() if word in text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    return "yes" if int(digest[:8], 16) / 16**8 < chance else "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What is stored at the end: facts to compare, what is there twice, and how many are blamed."""

    facts: dict[str, Any]
    doubled: str = ""
    blamed: int = 0


class Work(Protocol):
    """Something that ends the same, however often it is begun again."""

    name: str

    async def run(self, world: FaultWorld) -> Any:
        """Start or go on with it, to its end."""

    async def look(self, world: FaultWorld) -> Outcome:
        """What is stored of it."""


class Optimizing:
    """A small search on the local runner."""

    name = "optimization"

    async def run(self, world: FaultWorld) -> Any:
        """Start or go on with it."""
        async with Workspace.open(world.db, models=world.models()) as workspace:
            optimization = Optimization(
                workspace,
                world.agent(),
                suite(),
                SearchSpec(optimizer=Climber(), seed=5),
                BUDGET,
                lease_seconds=world.limits.lease_seconds,
            )
            async with contextlib.AsyncExitStack() as stack:
                stack.push_async_callback(optimization.close)
                if world.optimization_id is None:
                    world.remember((await optimization.create()).id)
                return await optimization.run(world.optimization_id)

    async def look(self, world: FaultWorld) -> Outcome:
        """Its result, and whether experiments, events or results are there twice."""
        result, identity = await result_of(world), world.optimization_id
        async with Workspace.open(world.db) as workspace:
            experiments = await workspace.experiments.list_experiments(
                limit=1000, optimization_id=identity
            )
            events = await workspace.optimizations.list_events(identity, limit=10_000)
            evaluated = await workspace.experiments.evaluated(identity)
        facts = fingerprint(result)
        numbers = [event.sequence for event in events]
        doubled = (
            len(experiments) != len(result.candidates) + 2
            or numbers != list(range(1, len(numbers) + 1))
            or len(evaluated) != facts["evaluations"]
        )
        told = f"{len(experiments)} experiments, {len(evaluated)} results"
        ended = ("completed", "pruned")
        return Outcome(
            facts=facts,
            doubled=told if doubled else "",
            blamed=sum(trial.status.value not in ended for trial in result.trials),
        )


class Sharding(Optimizing):
    """The same search on workers, which take their items from a mailbox on Valkey."""

    name = "optimization on workers"

    async def run(self, world: FaultWorld) -> Any:
        """Start or go on with it; the workers are there already."""
        return await run_sharded(world, budget=BUDGET, lease_seconds=world.limits.lease_seconds)


class Evaluating:
    """One evaluation of all items."""

    name = "evaluation"

    async def run(self, world: FaultWorld) -> Any:
        """Start or go on with it."""
        async with Workspace.open(world.db, models=world.models()) as workspace:
            evaluation = Evaluation(workspace, world.agent(), suite())
            async with contextlib.AsyncExitStack() as stack:
                stack.push_async_callback(evaluation.close)
                if world.optimization_id is None:
                    world.remember(await evaluation.create())
                return await evaluation.resume(world.optimization_id)

    async def look(self, world: FaultWorld) -> Outcome:
        """Its scores by item."""
        async with Workspace.open(world.db) as workspace:
            experiment = await workspace.experiments.get_experiment(world.optimization_id)
            stream = workspace.experiments.stream_results(world.optimization_id)
            results = [one async for one in stream]
        keys = Counter((one.item_id, one.repeat) for one in results)
        scores = {f"{one.item_id} {one.repeat}": one.passed for one in results}
        return Outcome(
            facts={"status": experiment.status.value, "scores": scores},
            doubled=", ".join(str(key) for key, number in keys.items() if number > 1),
            blamed=sum(one.error is not None for one in results),
        )


class Drawing:
    """An image run of an anchor and three variants."""

    name = "image run"

    async def run(self, world: FaultWorld) -> Any:
        """Start or go on with it."""
        settings = ImageSettings(folder=world.folder)
        async with Workspace.open(world.db, models=world.models()) as workspace:
            models = ImageModels(
                settings,
                workspace.model,
                drawing={"scripted": ScriptedImageModel(picture=partial(_draw, world))},
                judging={"scripted": ScriptedImageJudge()},
            )
            async with ImageRuns.open(workspace, world.db, settings, models=models) as images:
                wish = make_request(image_model="scripted", judge_model="scripted", n_variants=3)
                await images.create(wish, run_id="r1")
                seconds = world.limits.lease_seconds
                return await images.execute("r1", lease_seconds=seconds)

    async def look(self, world: FaultWorld) -> Outcome:
        """Its ranking and its pictures, all of which can be read."""
        async with (
            Workspace.open(world.db) as workspace,
            ImageRuns.open(workspace, world.db, ImageSettings(folder=world.folder)) as images,
        ):
            run = await images.repository.run("r1")
            commits = (await images.repository.commits("p1")).items
            for one in commits:
                await images.image(one.images[0].digest)
        names = Counter(one.commit_id for one in commits)
        return Outcome(
            facts={
                "status": run.status.value,
                "best": list(run.top_k),
                "commits": sorted(names),
                "scores": [one.composite_score for one in run.variants],
            },
            doubled=", ".join(name for name, number in names.items() if number > 1),
            blamed=sum(one.image is None for one in run.variants),
        )


WORKS: dict[str, Work] = {one.name: one for one in (Optimizing(), Evaluating(), Drawing())}


def _draw(world: FaultWorld, prompt: str) -> bytes:
    with world.log.open("a") as log:
        log.write(json.dumps(prompt) + "\n")
    if world.on_call is not None:
        # It awaits nothing.
        with contextlib.suppress(StopIteration):
            world.on_call().send(None)
    return flat_picture(prompt)


def outcome_of(work: Work, world: FaultWorld) -> Outcome:
    """What is stored, looked at from here."""
    return asyncio.run(work.look(world))
