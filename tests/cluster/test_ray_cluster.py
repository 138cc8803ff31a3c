"""A run on a Ray cluster of two nodes, one of which dies. `make test-ray` has the package."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason="`make test-ray` installs it")

from ray.cluster_utils import Cluster  # noqa: E402

from burnish.app.optimize.optimizations import Optimization  # noqa: E402
from burnish.app.optimize.ray_runner import RayRunner  # noqa: E402
from burnish.app.optimize.run_spec import spec_of  # noqa: E402
from burnish.app.wiring import Workspace  # noqa: E402
from burnish.config.settings import load_settings  # noqa: E402

# What Ray leaves behind in its own code is not ours to warn about.
pytestmark = pytest.mark.filterwarnings("ignore")

AGENT = """
import asyncio
import hashlib

async def answer(configuration, item):
    text = configuration["sections"]["system"]
    with open("calls.log", "a") as log:
        log.write(f"{hashlib.sha256(text.encode()).hexdigest()[:8]} {item['n']}\\n")
    await asyncio.sleep(0.05)
    digest = hashlib.sha256(f"{text}|{item['n']}".encode()).hexdigest()
    return "yes" if int(digest[:2], 16) < 160 else "no"
"""
CONFIG = """
[agent]
name = "rayed"
run = "rayed:answer"
concurrency = 4
[agent.sections]
system = "Say yes. Be kind. Be brief. Be sure."
[suite]
dataset = "rows.jsonl"
scorers = [{ kind = "exact_match", field = "label" }]
split = { train = 0.2, validation = 0.6, test = 0.2 }
[optimizer]
name = "edits"
seed = 3
[budget]
max_trials = 4
"""


@pytest.fixture
def cluster():
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "rayed.py").write_text(AGENT.replace('"calls.log"', repr(str(folder / "calls.log"))))
    (folder / "burnish.toml").write_text(CONFIG)
    rows = (json.dumps({"n": n, "label": "yes"}) for n in range(60))
    (folder / "rows.jsonl").write_text("\n".join(rows) + "\n")
    monkeypatch.chdir(folder)
    return folder


async def run(folder, database, make_adapter=None):
    settings = load_settings(folder / "burnish.toml")
    async with Workspace.open(database) as workspace:
        optimization = Optimization.of_settings(workspace, settings, make_adapter=make_adapter)
        try:
            created = await optimization.create(spec=spec_of(settings, optimization))
            return await optimization.run(created)
        finally:
            await optimization.close()


def gist(result):
    return (
        result.best.score,
        result.best.configuration.to_json(),
        [(trial.status.value, trial.objective_score) for trial in result.trials],
        result.to_json()["evaluations"],
        result.to_json()["test"],
    )


async def test_a_run_on_two_nodes_survives_the_death_of_one(cluster, folder):
    local = gist(await run(folder, str(folder / "local.db")))
    calls = folder / "calls.log"
    calls.unlink()
    database = str(folder / "ray.db")
    cluster.add_node(num_cpus=1)
    doomed = cluster.add_node(num_cpus=1)
    runner = RayRunner(cluster.address, database, folder)
    running = asyncio.create_task(run(folder, database, runner))
    deadline = time.monotonic() + 600
    while not running.done() and not (calls.exists() and len(calls.read_text().splitlines()) > 45):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)

    await asyncio.to_thread(cluster.remove_node, doomed, False)

    assert gist(await asyncio.wait_for(running, 90)) == local


async def test_the_command_runs_on_the_cluster_as_it_does_here(cluster, folder):
    local = gist(await run(folder, str(folder / "local.db")))
    (folder / "calls.log").unlink()
    cluster.add_node(num_cpus=1)
    command = [str(Path(sys.executable).with_name("burnish")), "optimize", "--json"]
    where = ["--runner", "ray", "--ray-address", cluster.address]

    done = await asyncio.to_thread(
        subprocess.run, [*command, *where], cwd=folder, capture_output=True, text=True, timeout=90
    )

    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    score, configuration, _, evaluations, test = local
    assert (result["best"]["score"], result["best"]["configuration"]) == (score, configuration)
    assert (result["evaluations"], result["test"]) == (evaluations, test)
    assert len((folder / "calls.log").read_text().splitlines()) > 0
