"""Burnish's compression and the plain algorithm in the same worlds."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import burnish
from burnish.benchmarks.compress_world import CompressWorld, WorldStrategy
from burnish.benchmarks.compress_yardstick import plain_compression
from burnish.domain import Configuration, InvariantError
from burnish.models import count_tokens
from burnish.optimizers.compress.optimizer import Compress


@dataclass(frozen=True, slots=True, kw_only=True)
class Compression:
    """One algorithm in one world. `regressions` are true ones, which no search sees."""

    algorithm: str
    seed: int
    tokens: int
    saved: int
    regressions: int
    evaluations: int


def run_plain(world: CompressWorld, strength: str, *, runs: int) -> Compression:
    """The plain algorithm with one strength of edits."""
    configuration = Configuration.of({"sections": world.sections})
    edits = WorldStrategy(world, (strength,)).edits(configuration, list(world.sections))
    items = [item["id"] for item in world.items]
    result = plain_compression(world.sections, edits, items, world.answer, runs=runs)
    return _compression(f"plain, {strength}", world, result.sections, world.calls)


def run_compress(world: CompressWorld, *, runs: int, lines: bool = True) -> Compression:
    """Burnish's `compress`, through the public API, in a database of its own."""

    def run(configuration: Mapping[str, Any], item: Mapping[str, Any]) -> str:
        return world.answer(configuration["sections"], item["name"])

    with tempfile.TemporaryDirectory(prefix="burnish-bench-") as folder:
        result = burnish.optimize(
            agent=burnish.Agent(
                name="prompt",
                configuration={"sections": world.sections},
                run=run,
                version=f"compress:{world.seed}",
                concurrency=1,
            ),
            suite=burnish.Suite(dataset=world.items, scorers=[_score], repeats=runs),
            optimizer=Compress(
                strategies=[WorldStrategy(world)], lines=lines, min_section_tokens=1
            ),
            seed=world.seed,
            db=Path(folder) / "bench.db",
        )
    if result.evaluations != world.calls:
        raise InvariantError(
            what="the count of evaluations cannot be trusted",
            why=f"the world was called {world.calls} times, Burnish counted {result.evaluations}",
            fix="report it with the command that was run",
        )
    name = "compress" if lines else "compress, sections only"
    return _compression(name, world, result.best.configuration.sections, world.calls)


def _score(output: burnish.AgentOutput, item: Mapping[str, Any]) -> float:
    return float(str(output) == "right")


def _compression(
    algorithm: str, world: CompressWorld, sections: Mapping[str, str], calls: int
) -> Compression:
    tokens = sum(count_tokens(text) for text in world.sections.values())
    return Compression(
        algorithm=algorithm,
        seed=world.seed,
        tokens=tokens,
        saved=tokens - sum(count_tokens(text) for text in sections.values()),
        regressions=world.regressions(sections),
        evaluations=calls,
    )
