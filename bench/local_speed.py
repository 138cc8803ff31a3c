"""Items a second of the embedded model: prompts of one search step, in today's way and the earlier one.

A step has several candidates, each with examples of its own, and every candidate answers the same
rows. Both ways take turns in one run, each time with processes that have read nothing yet.

    python -m bench local-speed --data DIR --tasks banking77_eight,bbh_hyperbaton
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from bench.real.tasks import Task, load_task
from burnish.domain import Message, ModelRequest, ModelResponse
from burnish.models.local import pool
from burnish.models.local.model import (
    LocalModel,
    chat_payload,
    chat_response,
    decided_label,
    open_local,
)
from burnish.models.settings import ModelSettings


class EarlierModel(LocalModel):
    """Asks for one token, and where that decides nothing for all of them, behind the queue."""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer."""
        payload = chat_payload(request, context_tokens=self._context_tokens)
        payload.pop("labels", None)
        if not request.labels:
            return await super().complete(request)
        begun = await self._ask(request, {**payload, "max_tokens": 1})
        return decided_label(request, begun) or chat_response(
            request, await self._ask(request, payload)
        )


@contextmanager
def earlier_choice() -> Iterator[None]:
    """Workers that do not look at what the others have read."""
    choose = pool.choose_request

    def without_others(leads: Sequence[str], last: str, **options: Any) -> int:
        return choose(leads, last, jumps=options["jumps"])

    pool.choose_request = without_others
    try:
        yield
    finally:
        pool.choose_request = choose


def step(task: Task, examples: int, candidates: int, items: int, seed: int) -> list[ModelRequest]:
    """All requests of a step, candidate by candidate."""
    draw = random.Random(seed)
    rows = draw.sample(task.rows, items)
    return [
        ModelRequest(
            messages=(Message("system", prompt), Message("user", str(row["message"]))),
            labels=tuple(task.labels),
        )
        for prompt in (_prompt(task, examples, draw, number) for number in range(candidates))
        for row in rows
    ]


def _prompt(task: Task, examples: int, draw: random.Random, number: int) -> str:
    shown = [f"Input: {row['message']}\nAnswer: {row['label']}" for row in task.rows]
    return "\n\n".join([f"Version {number}. {task.seed_prompt}", *draw.sample(shown, examples)])


async def measure(requests: list[ModelRequest], *, earlier: bool) -> tuple[float, float, list[str]]:
    """Seconds, seconds of the processors, and the answers."""
    model = open_local("smollm2-135m", ModelSettings())
    if earlier:
        model.__class__ = EarlierModel
    try:
        # Both processes are there before time counts.
        hello = [ModelRequest.text(text, max_tokens=1) for text in ("Hi", "Ho")]
        await asyncio.gather(*(model.complete(one) for one in hello))
        pids = model.worker_pids()
        started, worked = time.perf_counter(), cpu_seconds(pids)
        answers = await asyncio.gather(*(model.complete(one) for one in requests))
        spent, work = time.perf_counter() - started, cpu_seconds(pids) - worked
        return spent, work, [answer.text for answer in answers]
    finally:
        await model.close()


def cpu_seconds(pids: Sequence[int]) -> float:
    """What processes have worked, as Linux counts it."""
    stats = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(one[11]) + int(one[12]) for one in stats) / os.sysconf("SC_CLK_TCK")


def compare(requests: list[ModelRequest], rounds: int) -> str:
    """Items a second and work per item, earlier and now, and how many answers differ."""
    seconds, work = {True: 0.0, False: 0.0}, {True: 0.0, False: 0.0}
    said: dict[bool, list[str]] = {}
    for turn in range(2 * rounds):
        earlier = turn % 4 in (0, 3)
        with earlier_choice() if earlier else nullcontext():
            spent, worked, said[earlier] = asyncio.run(measure(requests, earlier=earlier))
        seconds[earlier] += spent
        work[earlier] += worked
    different = sum(a != b for a, b in zip(said[True], said[False], strict=True))
    count = rounds * len(requests)
    return (
        f"{count / seconds[True]:.1f} -> {count / seconds[False]:.1f} "
        f"({seconds[True] / seconds[False]:.2f}), "
        f"{1e3 * work[True] / count:.0f} -> {1e3 * work[False] / count:.0f} "
        f"({work[True] / work[False]:.2f}), {different} of {len(requests)}"
    )


def main(arguments: Sequence[str]) -> None:
    """Print a line for each task and number of examples."""
    parser = argparse.ArgumentParser(prog="python -m bench local-speed", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of tasks")
    parser.add_argument("--tasks", default="banking77_eight,bbh_hyperbaton")
    parser.add_argument("--examples", default="0,8,16")
    parser.add_argument("--candidates", type=int, default=4)
    parser.add_argument("--items", type=int, default=12, help="rows that each candidate answers")
    parser.add_argument("--rounds", type=int, default=2, help="turns of each way")
    options = parser.parse_args(arguments)
    print(
        "task, examples: items a second earlier -> now (ratio), ms of processors an item, different"
    )
    for name in options.tasks.split(","):
        task = load_task(options.data, name)
        for examples in map(int, options.examples.split(",")):
            requests = step(task, examples, options.candidates, options.items, seed=examples)
            print(f"{name}, {examples}: {compare(requests, options.rounds)}", flush=True)
