"""Burnish's optimizers as jobs: the same protocol as the peers' scripts, in a process of their own."""

from __future__ import annotations

from typing import Any

from burnish.benchmarks.burnish_runner import run_burnish
from burnish.benchmarks.peers.peer_jobs import serve
from burnish.benchmarks.worlds import make_world


def run(job: dict[str, Any]) -> dict[str, Any]:
    """One optimization."""
    world = make_world(job["world"], job["seed"], latency_seconds=job.get("latency_seconds", 0.0))
    curve = run_burnish(world, job["optimizer"], job["budget"], job["seed"], job.get("settings"))
    return curve.to_json()


if __name__ == "__main__":
    serve(run)
