"""Finished runs: what makes two of them the same, where they are kept, and what may be published.

`build/bench/real.jsonl` has all of a run on this machine; `bench/results/real.jsonl` is committed and
has its figures with digests, so that a benchmark of many runs goes on where the last machine ended.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from bench.peers.venvs import PEERS as PEER_FILES
from bench.processes import ROOT
from bench.real.foreign import FOREIGN
from burnish.optimizers.catalog import optimizer_maker

KEPT = ROOT / "build" / "bench" / "real.jsonl"
COMMITTED = ROOT / "bench" / "results" / "real.jsonl"
SOURCE = ROOT / "src"
OPTIMIZERS = SOURCE / "burnish" / "optimizers"
# What decides a result beside the optimizer: the search around it, the prompt, and the score.
_AROUND = ("optimization", "evaluation/agents/prompt_agent.py", "evaluation/scorers")
# A prompt and examples of a task, and what only this machine knows.
_PRIVATE = ("configuration", "challenger", "unusable")
_LISTED = ("task", "evaluations", "contestant", "seed")
Run = dict[str, Any]


def identity(run: Mapping[str, Any]) -> str:
    """Runs that agree in this are the same run."""
    return json.dumps([run[name] for name in ("task", "seed", "contestant", "key", "code")])


def read_runs(*paths: Path) -> list[Run]:
    """All runs of some files, each once; what a later line says counts."""
    found: dict[str, Run] = {}
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                run = json.loads(line)
            except ValueError:  # Half a line, of a command that was killed.
                continue
            found[identity(run)] = run
    return list(found.values())


def finished(jobs: Sequence[Run], runs: Iterable[Run]) -> tuple[list[Run], list[Run]]:
    """Results that are there already, made by the code as it is now, and jobs to do."""
    found = {identity(run): run for run in runs}
    done = [found[identity(job)] for job in jobs if identity(job) in found]
    return done, [job for job in jobs if identity(job) not in found]


def keep(run: Run, path: Path = KEPT) -> None:
    """Append a run; the first line end closes what an earlier command was writing when it died."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(run) + "\n")


def publish(kept: Path = KEPT, committed: Path = COMMITTED) -> list[Run]:
    """Write the committed file with what this machine has beside it, and return its runs."""
    found = {identity(run): run for run in read_runs(committed)}
    found |= {identity(run): public(run) for run in read_runs(kept)}
    runs = sorted(found.values(), key=lambda one: (*(one[name] for name in _LISTED), one["code"]))
    committed.parent.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(one, sort_keys=True) for one in runs]
    committed.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return runs


def public(run: Run) -> Run:
    """Figures and digests only: no text of a task."""
    shown = {name: value for name, value in run.items() if name not in _PRIVATE}
    if "configuration" in run:
        text = json.dumps(run["configuration"], sort_keys=True)
        shown["winner"] = hashlib.sha256(text.encode()).hexdigest()[:12]
        shown["examples"] = len(run["configuration"].get("examples") or ())
    return shown


@cache
def code_of(contestant: str) -> str:
    """A digest of the code that decides a contestant's result."""
    if contestant in FOREIGN:
        one = FOREIGN[contestant]
        files = [PEER_FILES / one.script, PEER_FILES / f"requirements-{one.environment}.txt"]
        return _digest(files, json.dumps(one.settings, sort_keys=True))
    return _digest([*_around(), *_of_optimizer(contestant.removesuffix("_hard"))])


def _around() -> list[Path]:
    found: list[Path] = []
    for name in _AROUND:
        path = SOURCE / "burnish" / name
        found += path.rglob("*.py") if path.is_dir() else [path]
    return found


def _of_optimizer(name: str) -> Iterable[Path]:
    """The optimizer's file, and those of the optimizers' folder that it imports; of `auto` all."""
    if name == "auto":
        return OPTIMIZERS.rglob("*.py")
    if name.startswith("gepa_package"):
        return (SOURCE / "burnish" / "benchmarks" / "peers").glob("gepa_package.py")
    module = optimizer_maker(name).__module__
    open_, found = [_file_of(module)], set[Path]()
    while open_:
        path = open_.pop()
        if path is None or path in found:
            continue
        found.add(path)
        open_ += [_file_of(one) for one in _imports(path)]
    return found


def _imports(path: Path) -> Iterable[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _file_of(module: str) -> Path | None:
    """The file of a module in the optimizers' folder."""
    place = SOURCE.joinpath(*module.split("."))
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    return path if path.is_file() and path.is_relative_to(OPTIMIZERS) else None


def _digest(files: Iterable[Path], *texts: str) -> str:
    hashed = hashlib.sha256()
    for path in sorted(files):
        hashed.update(path.read_bytes())
    for text in texts:
        hashed.update(text.encode())
    return hashed.hexdigest()[:12]
