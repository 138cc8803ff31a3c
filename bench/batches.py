"""`python -m bench batches`: a batch run that is killed again and again, against single calls."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import burnish
from bench.processes import ROOT
from bench.results import Section, save
from burnish.app.evaluate.evaluations import Evaluation
from burnish.app.wiring import Workspace
from burnish.domain import ModelResponse, SystemClock
from burnish.models.batches import model as batched
from burnish.storage.engine import failpoints
from burnish.testing.vendors.batches import BatchFaults, OpenAIBatchServer
from burnish.testing.vendors.server import SeenRequest, in_thread

REQUESTS = 2000
# Each is reached in turn; half of what was not answered before expires, so all are reached twice.
PLACES = (
    *("SqlBatchRecords.record:before", "SqlBatchRecords.record:after"),
    *("SqlBatchRecords.note_sending:before", "SqlBatchRecords.note_sending:after"),
    *("SqlBatchRecords.note_sent:before", "SqlBatchRecords.note_ended:before"),
    *("SqlBatchRecords.note_ended:after", "SqlCallCache._write:after"),
    *("SqlBatchRecords.release:before", "SqlBatchRecords.release:after"),
)
KILLS = 2 * len(PLACES)
_PRICES = {"input_price": 1.0, "output_price": 2.0}
_TOKENS = burnish.Usage(calls=1, input_tokens=20, output_tokens=2)


class SkippingClock(SystemClock):
    """Real time, in which the hours of a batch are skipped over."""

    skipped = 0.0

    def monotonic(self) -> float:
        """With what was skipped."""
        return super().monotonic() + self.skipped

    def now(self) -> datetime:
        """With what was skipped."""
        return super().now() + timedelta(seconds=self.skipped)

    async def sleep(self, seconds: float) -> None:
        """A short while in place of a long one."""
        await asyncio.sleep(min(seconds, 0.2))
        self.skipped += seconds


def main(arguments: Sequence[str]) -> None:
    """Measure and save; exit 1 unless nothing was paid twice or lost. A child has arguments."""
    os.environ["OPENAI_API_KEY"] = "a-key"
    if arguments:
        _child(*arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        single, _, _ = _run(Path(folder) / "single.db", batch=False, kills=())
        killed, server, kills = _run(Path(folder) / "batch.db", batch=True, kills=PLACES * 2)
    twice = sum(times - 1 for times in server.paid.values())
    lost = REQUESTS - len(server.paid)
    differing = sum(a != b for a, b in zip(killed["items"], single["items"], strict=True))
    share = killed["cost_usd"] / single["cost_usd"]
    rows: list[list[object]] = [
        ["kills with SIGKILL", kills, KILLS],
        ["batches that were sent", len(server.batches), ""],
        ["requests paid twice", twice, 0],
        ["requests lost", lost, 0],
        ["requests called singly", server.called.total(), 0],
        ["items with another output or score than without batches", differing, 0],
        ["score, and without batches", f"{killed['score']}, {single['score']}", "the same"],
        ["cost, in times of that without batches", f"{share:.3f}", "0.5"],
    ]
    for row in rows:
        print("  " + "  ".join(str(cell) for cell in row))
    wrong = twice or lost or differing or server.called or kills != KILLS or abs(share - 0.5) > 1e-9
    if wrong or killed["score"] != single["score"]:
        raise SystemExit(1)
    save(_section(rows))


def _section(rows: list[list[object]]) -> Section:
    return Section(
        name="batches",
        title=f"Batches: a run of {REQUESTS:,} requests that is killed {KILLS} times",
        command="python -m bench batches",
        columns=["", "measured", "goal"],
        rows=rows,
        notes=[
            "A fake of OpenAI's batch endpoint outlives the processes. Each is killed at another place "
            f"around recording, sending, reading and letting go of a batch: {len(PLACES)} places, "
            "each twice. Half of what was not answered before expires, in each of the first four "
            "batches.",
            "The hours that a batch takes are skipped over by the clock.",
        ],
    )


def _run(
    database: Path, *, batch: bool, kills: Sequence[str]
) -> tuple[dict[str, Any], OpenAIBatchServer, int]:
    """The result of one experiment, whoever had to be killed for it."""
    faults = BatchFaults(looks=2, expired=lambda number, place: number < 4 and place % 2 == 1)
    died = 0
    with in_thread(OpenAIBatchServer(_answer, faults=faults)) as server:
        arguments = (server.base_url, str(database), str(int(batch)))
        experiment = asyncio.run(_evaluate(*arguments))
        for place in kills:
            words = [sys.executable, "-m", "bench", "batches", *arguments, experiment, place]
            ended = subprocess.run(words, cwd=ROOT, check=False, capture_output=True)
            print(f"  {place}: {ended.returncode}", file=sys.stderr)
            died += ended.returncode == -signal.SIGKILL
        batched.SystemClock = SkippingClock  # type: ignore[misc]
        result = asyncio.run(_evaluate(*arguments, experiment))
    return result, server, died


def _child(base_url: str, database: str, batch: str, experiment: str, place: str) -> None:
    def reach(name: str) -> None:
        if name == place:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.on_reach = reach
    batched.SystemClock = SkippingClock  # type: ignore[misc]
    asyncio.run(_evaluate(base_url, database, batch, experiment))


async def _evaluate(base_url: str, database: str, batch: str, experiment: str = "") -> Any:
    rows = [
        {"id": f"i{number}", "word": f"w{number}", "answer": f"SAY W{number - number % 2}"}
        for number in range(REQUESTS)
    ]
    agent = burnish.Agent(
        name="shout",
        model="openai/small",
        configuration={"sections": {"user": "say {{word}}"}},
    )
    scorers = [{"kind": "exact_match", "field": "answer"}]
    suite = burnish.Suite(dataset=rows, scorers=scorers, name="words")
    models = {"batch": batch == "1", "openai": {"base_url": base_url, **_PRICES}}
    async with Workspace.open(database, models=models) as workspace:
        evaluation = Evaluation(workspace, agent, suite)
        if not experiment:
            return await evaluation.create()
        result = await evaluation.resume(experiment)
        stored = workspace.experiments.stream_results(experiment)
        return {
            "score": result.score,
            "cost_usd": result.summary.spending.total.cost_usd,
            "items": sorted(
                [(one.item_id, one.score, one.output and one.output.text) async for one in stored]
            ),
        }


def _answer(request: SeenRequest) -> ModelResponse:
    return ModelResponse(text=request.body["messages"][-1]["content"].upper(), usage=_TOKENS)
