"""Run of a bench with the embedded model: options, kept answers, the time limit, and the report."""

from __future__ import annotations

import argparse
import os
import random
import signal
import sqlite3
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import burnish
from bench.processes import ROOT
from bench.real.calls import KeptCalls
from bench.results import Section, save
from burnish.domain import Model
from burnish.models.catalog import open_model
from burnish.models.settings import ModelSettings

MODEL = "local/qwen2.5-coder-1.5b"
FOLDER = ROOT / "build" / "bench"
# Results must not depend on how busy the machine is.
_PATIENT = ModelSettings(workers=1, timeout_seconds=3_600, queue_seconds=36_000)
Rows = list[dict[str, Any]]


def parse(name: str, arguments: Sequence[str], *, data: bool = False) -> argparse.Namespace:
    """The options of both benches."""
    parser = argparse.ArgumentParser(prog=f"python -m bench {name}")
    if data:
        parser.add_argument("--data", type=Path, required=True, help="folder of tasks")
    parser.add_argument("--minutes", type=float, help="end then, with what is known")
    parser.add_argument("--items", type=int, help="so many items only, and no optimization")
    return parser.parse_args(arguments)


def open_kept(name: str) -> Model:
    """The model, whose answers stand on disk."""
    return open_model(MODEL, _PATIENT, cache=KeptCalls(FOLDER / f"{name}-calls.db"))


def shuffled(rows: Rows, shares: Mapping[str, int]) -> Rows:
    """The rows in a seeded order, with their split."""
    rows = list(rows)
    random.Random(0).shuffle(rows)
    names = [name for name, many in shares.items() for _ in range(many)]
    return [{**row, "split": name} for row, name in zip(rows, names, strict=True)]


def measure(
    name: str,
    title: str,
    agent: burnish.Agent,
    suite: burnish.Suite,
    options: argparse.Namespace,
    evaluations: int,
) -> None:
    """Before, the search, and after; a page where it came to its end."""
    db = FOLDER / f"{name}.db"
    if options.minutes:
        # As Ctrl-C: what was answered is kept, and the command goes on when it is given again.
        # What a shell starts in the background ignores that until it is told not to.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, options.minutes * 60)
    started = time.perf_counter()
    try:
        before = burnish.evaluate(
            agent, suite, split=None if options.items else "test", limit=options.items, db=db
        )
        seconds = time.perf_counter() - started
        print(f"before: {before.score:.3f} on {before.items} items, {seconds:.0f} s", flush=True)
        if options.items:
            return
        result = burnish.optimize(
            agent=agent,
            suite=suite,
            optimizer="gepa",
            settings={"model": agent.model},
            budget=burnish.Budget(max_evaluations=evaluations),
            seed=0,
            db=db,
            on_event=_say,
        )
    except KeyboardInterrupt:
        _not_finished(name, "stopped")
    if result.status != "completed":
        _not_finished(name, f"{result.status}, {result.stop_reason}")
    save(section(name, title, result, before, time.perf_counter() - started))


def _not_finished(name: str, why: str) -> NoReturn:
    kept = sqlite3.connect(FOLDER / f"{name}-calls.db")
    (answers,) = kept.execute("SELECT COUNT(*) FROM calls").fetchone()
    kept.close()
    print(f"not finished ({why}): {answers} answers are kept; give the command again to go on")
    raise SystemExit(1)


def _say(event: burnish.Event) -> None:
    """Trials that ended, and who leads; not every sign of life."""
    told = event.payload
    if event.type == "best_candidate_changed" or told.get("status") == "completed":
        names = ("number", "type", "status", "score", "candidate_id")
        words = ", ".join(f"{name} {told[name]}" for name in names if name in told)
        print(f"  {event.type}: {words}", file=sys.stderr, flush=True)


def section(
    name: str, title: str, result: Any, before: burnish.EvaluationResult, seconds: float
) -> Section:
    """The table, whichever way it went."""
    change = result.improvement
    first = result.baseline.configuration.sections
    last = result.best.configuration.sections
    changed = {path: text for path, text in last.items() if text != first.get(path)}
    verdict = "Nothing was found that is better than the first configuration."
    if changed and change is not None:
        better = change.ci_low > 0
        verdict = (
            "It improves, beyond chance on the held-out items."
            if better
            else "The winner of the search is not proven better on the held-out items."
        )
    rows = [
        [f"{before.items} held out, first configuration", f"{before.score:.3f}", ""],
        ["search, first configuration", f"{result.baseline.score:.3f}", ""],
        ["search, winner", f"{result.best.score:.3f}", ""],
    ]
    if change is not None:
        interval = f"{change.ci_low:+.3f} to {change.ci_high:+.3f}"
        told = f"{change.delta:+.3f} ({interval}), p {change.p_value:.3f}"
        rows.append([f"{change.items} held out, winner less first", "", told])
    return Section(
        name=name,
        title=title,
        command=f"python -m bench {name}",
        columns=["what", "score", "paired difference, 95 %"],
        rows=rows,
        notes=[
            verdict,
            f"{result.evaluations} evaluations, {seconds:.0f} s of this run of the command.",
            *(f"Changed: `{path}`: {text!r}" for path, text in changed.items()),
        ],
    )
