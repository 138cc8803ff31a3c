"""`python -m bench real`: runs what is not yet in the file, and prints all of it."""

from __future__ import annotations

import argparse
import os
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench.mixtures import seeds_of
from bench.processes import ROOT
from bench.real.foreign import FOREIGN
from bench.real.job import HARD
from bench.real.page import section
from bench.real.report import report
from bench.real.runs import COMMITTED, KEPT, Run, code_of, finished, keep, publish, read_runs
from bench.real.tasks import load_task, task_names
from bench.results import save
from burnish.benchmarks.batches import Batch, end_batches, run_batch
from burnish.benchmarks.contestants import Contestant, contestants

CALLS = ROOT / "build" / "bench" / "real-calls.db"
# What a finished run has to agree in, beside task, seed and contestant, to be taken as it is.
KEY = ("evaluations", "reflections", "test", "model", "reflector")
_ASKING = ("gepa", "meta_prompt", "evolve")
# On a busy machine; what was answered until then is on disk.
_DEADLINE_SECONDS = 4 * 3_600.0


def main(arguments: Sequence[str]) -> None:
    """Run the plan; a command that was killed goes on where it was."""
    options = parse(arguments)
    jobs = plan(options)
    done, missing = finished(jobs, read_runs(COMMITTED, KEPT))
    if not options.show:
        done += run_all(missing, options.jobs)
        save(section(publish()))
    report(done, list(options.contestants.split(",")))
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


def settings_of(names: str) -> dict[str, dict[str, Any]]:
    """Contestants by name with what they are set to: ours, and those of other libraries."""
    wanted = names.split(",")
    ours = {name: name.removesuffix(HARD) for name in wanted if name not in FOREIGN}
    known = {one.name: dict(one.settings) for one in contestants(list(ours.values()) or ["auto"])}
    return {
        name: dict(FOREIGN[name].settings) if name in FOREIGN else known[ours[name]]
        for name in wanted
    }


def asks(contestant: str) -> bool:
    """Whether a contestant asks the reflector; of the others its settings make no other run."""
    if contestant in FOREIGN:
        return FOREIGN[contestant].asks
    return contestant.startswith(_ASKING)


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
            "settings": settings,
            "code": code_of(name),
            "key": [digests[task], *(_told(options, one, name) for one in KEY)],
        }
        for seed in seeds_of(options.seeds)
        for task in wanted
        for name, settings in settings_of(options.contestants).items()
    ]


def _told(options: argparse.Namespace, option: str, contestant: str) -> Any:
    told = getattr(options, option)
    return None if option.startswith("reflect") and not asks(contestant) else told


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
            run["measured"] = datetime.now(UTC).strftime("%Y-%m-%d %H:%M")
            made.append(run)
            keep(run)
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
