"""`python -m bench real`: runs what is not yet in the file, and prints all of it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from bench.mixtures import code_of, seeds_of
from bench.processes import ROOT
from bench.real.report import report
from bench.real.tasks import load_task, task_names
from burnish.benchmarks.batches import Batch, end_batches, run_batch
from burnish.benchmarks.contestants import Contestant, contestants

KEPT = ROOT / "build" / "bench" / "real.jsonl"
CALLS = ROOT / "build" / "bench" / "real-calls.db"
# What a finished run has to agree in, beside task, seed and contestant, to be taken as it is.
KEY = ("evaluations", "reflections", "test", "model", "reflector")
# On a busy machine; what was answered until then is on disk.
_DEADLINE_SECONDS = 4 * 3_600.0
Run = dict[str, Any]


def main(arguments: Sequence[str]) -> None:
    """Run the plan; a command that was killed goes on where it was."""
    options = parse(arguments)
    jobs = plan(options)
    KEPT.parent.mkdir(parents=True, exist_ok=True)
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    done, missing = finished(jobs, lines)
    if not options.show:
        done += run_all(missing, options.jobs)
    report(done, [name for name, _ in named(options.contestants)])
    if len(done) < len(jobs):
        print(f"\n{len(jobs) - len(done)} of {len(jobs)} runs are not finished")


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench real", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of tasks")
    parser.add_argument(
        "--tasks", default="", help="names, parted by commas; all of the folder else"
    )
    parser.add_argument("--contestants", default="gepa,gepa_package")
    parser.add_argument("--seeds", default="2", help="how many from 0 up, or FIRST-LAST")
    parser.add_argument("--evaluations", type=int, default=700, help="item runs of a search")
    parser.add_argument("--reflections", type=int, default=5, help="questions to the reflector")
    parser.add_argument("--test", type=int, default=150, help="held-out rows, if there are so many")
    parser.add_argument("--model", default="smollm2-135m", help="answers; a name or a .gguf file")
    parser.add_argument("--reflector", default="qwen2.5-coder-1.5b")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--show", action="store_true", help="run nothing, print what is finished")
    return parser.parse_args(arguments)


def named(names: str) -> list[tuple[str, Contestant]]:
    return [(one.name, one) for one in contestants(names.split(","))]


def plan(options: argparse.Namespace) -> list[Run]:
    """The jobs; contestants of one task and seed follow each other, so that early results are pairs."""
    folder = options.data.resolve()
    known = task_names(folder)
    wanted = options.tasks.split(",") if options.tasks else known
    if unknown := [name for name in wanted if name not in known]:
        raise SystemExit(
            f"there is no task {unknown[0]!r} in {folder}; known are {', '.join(known)}"
        )
    digests = {name: load_task(folder, name).digest for name in wanted}
    common = {"data": str(folder), "calls": str(CALLS)}
    return [
        {
            **common,
            **{name: getattr(options, name) for name in KEY},
            "task": task,
            "seed": seed,
            "contestant": name,
            "settings": dict(one.settings),
            "code": code_of(one),
            "key": [digests[task], *(getattr(options, name) for name in KEY)],
        }
        for seed in seeds_of(options.seeds)
        for task in wanted
        for name, one in named(options.contestants)
    ]


def identity(run: Mapping[str, Any]) -> str:
    return json.dumps([run[name] for name in ("task", "seed", "contestant", "key", "code")])


def finished(jobs: Sequence[Run], lines: Iterable[str]) -> tuple[list[Run], list[Run]]:
    """Results that the lines have already, made by the code as it is now, and jobs to do."""
    found: dict[str, Run] = {}
    for line in lines:
        try:
            run = json.loads(line)
        except ValueError:  # Half a line, of a command that was killed.
            continue
        found[identity(run)] = run
    done = [found[identity(job)] for job in jobs if identity(job) in found]
    return done, [job for job in jobs if identity(job) not in found]


def run_all(jobs: Sequence[Run], processes: int) -> list[Run]:
    """Each job in a process of its own; what fails is said, and everything else still runs."""
    # The processes run in folders of their own.
    os.environ["PYTHONPATH"] = str(ROOT)
    made: list[Run] = []
    lock = threading.Lock()

    def take(run: Run) -> None:
        with lock:
            name = f"{run['contestant']} on {run['task']}, seed {run['seed']}"
            if "error" in run:
                say(f"{name}: {run['error']}")
                return
            made.append(run)
            with KEPT.open("a", encoding="utf-8") as file:
                # The first line end closes what an earlier command was writing when it was killed.
                file.write("\n" + json.dumps(run) + "\n")
            gain, seconds = run["gain"], run["seconds"]
            say(f"{name}: {gain:+.3f}, {seconds:.0f} s; {len(made)} of {len(jobs)} done")

    def work(job: Run) -> None:
        contestant = Contestant(name=job["contestant"], about="")
        command = [sys.executable, "-m", "bench.real.job"]
        batch = Batch(contestant=contestant, jobs=[job])
        if failed := run_batch(command, batch, take, seconds=_DEADLINE_SECONDS):
            say(f"{job['contestant']} on {job['task']}, seed {job['seed']}: {failed}")

    with ThreadPoolExecutor(processes) as pool:
        try:
            list(pool.map(work, jobs))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_batches()
            raise
    return made


def say(line: str) -> None:
    print(f"  {line}", file=sys.stderr, flush=True)
