"""What the peers' scripts share: the worlds by path, jobs in, curves out. Standard library only."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

_WORLDS = Path(__file__).resolve().parents[1] / "worlds" / "__init__.py"
_MODULE = "burnish_worlds"

if TYPE_CHECKING:
    from burnish.benchmarks.worlds import World
else:
    World = Any


def load_world(job: dict[str, Any]) -> World:
    """The world of a job, from the package's files and without the package."""
    if _MODULE not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            _MODULE, _WORLDS, submodule_search_locations=[str(_WORLDS.parent)]
        )
        assert spec is not None and spec.loader is not None
        sys.modules[_MODULE] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[_MODULE])
    make: Callable[..., World] = sys.modules[_MODULE].make_world
    return make(job["world"], job["seed"], latency_seconds=job.get("latency_seconds", 0.0))


def curve(
    job: dict[str, Any],
    world: World,
    found: Iterable[tuple[int, float, dict[str, str]]],
    seconds: float,
) -> dict[str, Any]:
    """The curve of a run from its candidates: calls when known, validation score, sections."""
    points: list[dict[str, Any]] = []
    best = float("-inf")
    for calls, score, sections in found:
        if score > best:
            best = score
            points.append({"calls": calls, "expectation": world.expectation(sections)})
    return {
        "world": world.name,
        "optimizer": job["optimizer"],
        "seed": job["seed"],
        "budget": job["budget"],
        "start": world.start,
        "maximum": world.maximum,
        "calls": world.calls,
        "reflections": world.reflections,
        "seconds": seconds,
        "points": points,
        "note": "",
        "best_tried": world.best_tried,
    }


def serve(run: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Answer each job of the JSON list on stdin with a JSON line, as soon as it is done.

    A job that fails is answered with its error, and the next one still runs. Whatever else is printed
    goes to stderr.
    """
    out, sys.stdout = sys.stdout, sys.stderr
    for job in json.load(sys.stdin):
        try:
            answer = run(job)
        except Exception as error:  # noqa: BLE001 - told to whoever asked
            answer = {**job, "error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()
