"""Image runs: what a run costs beside its calls, how full the bound is, how quick the API stays."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from bench.processes import ROOT, measure
from bench.results import Section
from bench.serving import serving

RUNS, WAIT, CALLS = 20, 1.0, 8
SINGLE, PROCESSES = 20, 3
GOAL_MS, GOAL_OCCUPANCY, GOAL_API_MS = 150, 0.9, 100


def run() -> Section:
    """Each measurement in a process of its own; the last with a server and an endpoint of its own."""
    load = os.getloadavg()[0]
    singles = [measure("bench.burnish_images", "overhead", SINGLE) for _ in range(PROCESSES)]
    together = measure("bench.burnish_images", "together", RUNS, WAIT, CALLS)
    served, endpoint = _served()
    assert served["states"] == ["completed"], served
    ideal = endpoint["calls"] * WAIT / CALLS
    times = served["all"]
    rows: list[list[object]] = [
        [
            "a run with instant models, from the request to the end: median, worst, CPU",
            ", ".join(
                f"{median(one[key] for one in singles):.0f} ms"
                for key in ("median", "worst", "cpu")
            ),
            f"under {GOAL_MS} ms",
        ],
        [
            f"{RUNS} runs at once, calls of {WAIT:g} s, at most {CALLS} of them at once",
            f"{together['seconds']:.1f} s; with the bound always full {together['ideal']:.1f} s",
            "",
        ],
        [
            "how full the bound was",
            f"{together['occupancy']:.3f}",
            f"at least {GOAL_OCCUPANCY}",
        ],
        [
            "the same through the server, with an OpenAI-like endpoint: how full the bound was",
            f"{ideal / endpoint['seconds']:.3f} ({endpoint['calls']} calls, at most "
            f"{endpoint['most']} at once)",
            f"at least {GOAL_OCCUPANCY}",
        ],
        [
            f"the API meanwhile, {times['count']} requests: 50%, 99%, worst",
            ", ".join(f"{times[key]:.0f} ms" for key in ("p50", "p99", "worst")),
            f"within {GOAL_API_MS} ms",
        ],
    ]
    return Section(
        name="images",
        title="Image runs: overhead, a full bound, an API that answers",
        command="python -m bench images",
        columns=["", "measured", "goal"],
        rows=rows,
        notes=[
            f"Runs of 3 variants on SQLite and files on disk: 7 calls each. The first row: {SINGLE} "
            f"runs one after another in each of {PROCESSES} processes, pictures of 512 pixels.",
            "Through the server pictures have 1024 pixels and travel as base64 over HTTP. Requests: "
            "a run, the list, a thumbnail, a picture, now and then the lineage, one after another.",
            f"All share {os.cpu_count()} cores. Load average: {load:.1f} to {os.getloadavg()[0]:.1f}.",
        ],
    )


def _served() -> tuple[dict[str, Any], dict[str, Any]]:
    with (
        tempfile.TemporaryDirectory(prefix="burnish-bench-") as folder,
        subprocess.Popen(
            [sys.executable, "-m", "bench.images_endpoint", str(WAIT)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        ) as endpoint,
    ):
        try:
            assert endpoint.stdout is not None
            port = int(endpoint.stdout.readline())
            Path(folder, "burnish.toml").write_text(_CONFIG.format(port=port, calls=CALLS))
            Path(folder, "rows.jsonl").write_text('{"id": "1", "text": "x", "label": "x"}\n')
            database = str(Path(folder) / "images.db")
            with serving(folder, database, options=()) as (address, _):
                served = measure("bench.images_client", address, f"http://127.0.0.1:{port}", RUNS)
            connection = http.client.HTTPConnection("127.0.0.1", port)
            connection.request("GET", "/stats")
            return served, json.loads(connection.getresponse().read())
        finally:
            endpoint.terminate()


_CONFIG = """
[agent]
model = "scripted/echo"
[agent.sections]
user = "{{{{text}}}}"
[suite]
dataset = "rows.jsonl"
scorers = [{{ kind = "exact_match", field = "label" }}]
[images]
image_model = "openai/draw"
judge_model = "openai/look"
base_url = "http://127.0.0.1:{port}/v1"
api_key_env = ""
max_calls = {calls}
"""
