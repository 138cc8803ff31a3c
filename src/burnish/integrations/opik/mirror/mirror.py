"""Mirror of optimizations on an Opik server: its target, and its delivery beside a run or at once."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from burnish.app.wiring import Workspace
from burnish.config.schema import MirrorTable
from burnish.domain import (
    BurnishError,
    Candidate,
    Experiment,
    ItemResult,
    OptimizationRecord,
    UsageError,
)
from burnish.domain.opik import Mirror, MirrorTarget
from burnish.domain.optimizations.pages import HeldOutRun, RunPoint
from burnish.integrations.opik.mirror.client import MirrorClient
from burnish.integrations.opik.mirror.documents import OpikWords
from burnish.support.retry import RetryPolicy

_PART = 200
_BEGUN, _STATUS = "begun", "status"
_log = logging.getLogger(__name__)
_LOOKS = RetryPolicy(first_wait_seconds=1.0, longest_wait_seconds=60.0)
DRAIN_SECONDS = 5.0
# A run goes on beside it and looks again anyway, so each look tries but a little.
_BRIEF = RetryPolicy(max_attempts=2, longest_wait_seconds=2.0, longest_retry_after_seconds=10.0)
OPIK = "opik"
_URL, _WORKSPACE = "OPIK_URL_OVERRIDE", "OPIK_WORKSPACE"


@dataclass(slots=True)
class MirrorOutcome:
    """How much was sent, and what went wrong last; `open` mirrors have something left."""

    experiments: int = 0
    open: int = 0
    problems: list[str] = field(default_factory=list)


def mirror_target(table: MirrorTable) -> MirrorTarget | None:
    """The target; None where nothing is to be mirrored."""
    if table.to is None:
        return None
    if table.to != OPIK:
        raise _unusable(f"nothing can be mirrored to {table.to!r}", "use opik")
    url = (table.url or os.environ.get(_URL) or "").rstrip("/")
    if not url:
        raise _unusable(
            "no url is given",
            f"set url in [mirror], or {_URL}, such as http://127.0.0.1:5173/api",
        )
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise _unusable(f"{url!r} is no address", "write it like http://127.0.0.1:5173/api")
    if parts.username is not None or parts.password is not None:
        raise _unusable(
            "the url holds a password, which would be stored",
            f"put the key into the variable {table.api_key_env}",
        )
    return MirrorTarget(
        url=url,
        workspace=table.workspace or os.environ.get(_WORKSPACE) or "default",
        project=table.project,
        api_key_env=table.api_key_env,
    )


@contextlib.asynccontextmanager
async def mirrored(
    workspace: Workspace, optimization_id: str, target: MirrorTarget | None
) -> AsyncIterator[MirrorOutcome | None]:
    """Mirror an optimization within the block, and with it what earlier ones left."""
    if target is None:
        yield None
        return
    await workspace.mirrors.enrol(optimization_id, target)
    async with mirroring(workspace) as outcome:
        yield outcome


@contextlib.asynccontextmanager
async def mirroring(workspace: Workspace) -> AsyncIterator[MirrorOutcome]:
    """Send within the block what open mirrors have, as it comes about.

    The run neither waits for this nor fails by it. At the end there are a few seconds for the rest;
    what is left then stays open, for the next run or `flush`.
    """
    task = _Background(workspace)
    ring: Callable[[str], None] = task.ring
    workspace.listeners.append(ring)
    going = asyncio.create_task(task.go_on())
    try:
        yield task.outcome
        task.ending.set()
        await asyncio.wait([going], timeout=DRAIN_SECONDS)
        with contextlib.suppress(BurnishError):
            task.outcome.open = len(await workspace.mirrors.open_mirrors())
    finally:
        # Whoever stops a run does not wait for its mirror.
        workspace.listeners.remove(ring)
        going.cancel()
        await asyncio.wait([going])


async def flush(workspace: Workspace) -> MirrorOutcome:
    """Send what every open mirror has left, each as far as it goes."""
    outcome = MirrorOutcome()
    outcome.problems = await _deliver_all(workspace, outcome, MirrorClient)
    outcome.open = len(await workspace.mirrors.open_mirrors())
    return outcome


async def deliver(workspace: Workspace, mirror: Mirror, client: MirrorClient) -> int:
    """Send what there is to send now; how many experiments that were.

    A part is marked when it is there as a whole, so whatever ends this in between is made good by
    sending that part again. The mirror is closed with the end of its optimization.
    """
    try:
        sent = await _Delivery(workspace, mirror, client).run()
    except BurnishError as error:
        await workspace.mirrors.note_error(mirror, f"{error.what}: {error.why}")
        raise
    if mirror.error is not None:
        await workspace.mirrors.note_error(mirror, None)
    return sent


class _Background:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._news = asyncio.Event()
        # There may be something from before.
        self._news.set()
        self._failures = 0
        self.ending = asyncio.Event()
        self.outcome = MirrorOutcome()

    def ring(self, _: str) -> None:
        """Something was stored."""
        self._news.set()

    async def go_on(self) -> None:
        """Until the run ends, and once more then."""
        while True:
            last = self.ending.is_set()
            await self._look()
            if last:
                return
            await self._pause()

    async def _pause(self) -> None:
        """A while, in which news gather; a longer one after failures."""
        pause = _LOOKS.wait_seconds(self._failures + 1, None, random.random())  # noqa: S311
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(pause):
                await self.ending.wait()

    async def _look(self) -> None:
        if not (self._news.is_set() or self._failures or self.ending.is_set()):
            return
        self._news.clear()
        problems: list[str] = []
        try:
            problems = await _deliver_all(
                self._workspace, self.outcome, partial(MirrorClient, policy=_BRIEF)
            )
        except BurnishError as error:
            problems = [f"{error.what}: {error.why}"]
        except Exception:  # noqa: BLE001 - a bug here is no reason to end a run
            _log.exception("the mirror failed")
            problems = ["the mirror failed of a bug; the log says more"]
        if problems and not self._failures:
            _log.info("the mirror is behind: %s", problems[0])
        self._failures = min(self._failures + 1, 30) if problems else 0
        self.outcome.problems = problems


async def _deliver_all(
    workspace: Workspace,
    outcome: MirrorOutcome,
    open_client: Callable[[MirrorTarget], MirrorClient],
) -> list[str]:
    """What went wrong. A target that cannot be reached is not tried for the next mirror."""
    problems: dict[MirrorTarget, str] = {}
    for mirror in await workspace.mirrors.open_mirrors():
        if mirror.target in problems:
            continue
        try:
            async with open_client(mirror.target) as client:
                outcome.experiments += await deliver(workspace, mirror, client)
        except BurnishError as error:
            problems[mirror.target] = f"{error.what}: {error.why}"
    return list(problems.values())


class _Delivery:
    def __init__(self, workspace: Workspace, mirror: Mirror, client: MirrorClient) -> None:
        self._workspace = workspace
        self._mirror = mirror
        self._client = client

    async def run(self) -> int:
        workspace, book = self._workspace, self._workspace.mirrors
        identity = self._mirror.optimization_id
        # First, so that no experiment can end unseen before it.
        record = await workspace.optimizations.get_optimization(identity)
        words = await self._words(record)
        done = await book.delivered(self._mirror)
        if _BEGUN not in done:
            await self._begin(words)
            await book.mark(self._mirror, _BEGUN, "sent")
        sent = 0
        for experiment_id, candidate_id, status in await self._ended():
            if done.get(experiment_id) != status:
                candidate = await workspace.insights.candidate(identity, candidate_id)
                await self._experiment(words, experiment_id, candidate)
                await book.mark(self._mirror, experiment_id, status)
                sent += 1
        if record.status.final:
            if done.get(_STATUS) != record.status.value:
                path = f"optimizations/{words.optimization_id}"
                await self._client.send("PUT", path, words.status())
                await book.mark(self._mirror, _STATUS, record.status.value)
            await book.close(self._mirror)
        return sent

    async def _words(self, record: OptimizationRecord) -> OpikWords:
        name = record.suite_name
        if record.dataset_id is not None:
            dataset = await self._workspace.datasets.get_dataset(record.dataset_id)
            # Another content under the same name is another dataset, as it is here.
            name = f"{dataset.name} ({dataset.fingerprint[:8]})"
        return OpikWords(record=record, dataset_name=name, project=self._mirror.target.project)

    async def _begin(self, words: OpikWords) -> None:
        project = {"project_name": self._mirror.target.project}
        named = {"dataset_name": words.dataset_name, **project}
        if words.record.dataset_id is not None:
            rows = []
            async for item in self._workspace.datasets.stream_items(words.record.dataset_id):
                rows.append(words.row(item))
                if len(rows) == _PART:
                    await self._client.send_list("PUT", "datasets/items", "items", rows, **named)
                    rows = []
            await self._client.send_list("PUT", "datasets/items", "items", rows, **named)
        await self._client.send("POST", "optimizations", words.optimization())

    async def _ended(self) -> list[tuple[str, str, str]]:
        """Experiments that have ended, with their candidate and how, by candidate."""
        insights, identity = self._workspace.insights, self._mirror.optimization_id
        every: list[RunPoint | HeldOutRun] = [*await insights.points(identity)]
        every += await insights.held_out(identity)
        return [
            (one.experiment_id, one.candidate_id, one.status.value)
            for one in every
            if one.status.final
        ]

    async def _experiment(self, words: OpikWords, experiment_id: str, candidate: Candidate) -> None:
        experiment = await self._workspace.experiments.get_experiment(experiment_id)
        told = words.experiment(experiment, candidate)
        await self._client.send("POST", "experiments", told)
        results: list[ItemResult] = []
        async for result in self._workspace.experiments.stream_results(experiment_id):
            results.append(result)
            if len(results) == _PART:
                await self._items(words, experiment, candidate, results)
                results = []
        await self._items(words, experiment, candidate, results)
        await self._client.send("POST", "experiments/finish", {"ids": [told["id"]]})

    async def _items(
        self,
        words: OpikWords,
        experiment: Experiment,
        candidate: Candidate,
        results: list[ItemResult],
    ) -> None:
        found = words.items(experiment, candidate, results)
        send = self._client.send_list
        await send("POST", "traces/batch", "traces", found.traces)
        await send("POST", "spans/batch", "spans", found.spans)
        await send("PUT", "traces/feedback-scores", "scores", found.scores)
        await send("POST", "experiments/items", "experiment_items", found.items)


def _unusable(why: str, fix: str) -> UsageError:
    return UsageError(what="the run cannot be mirrored", why=why, fix=fix, code="invalid_mirror")
