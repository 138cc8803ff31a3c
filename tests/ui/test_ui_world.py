"""The world that the UI is tested in: a served project, and a run of thousands of trials."""

import json
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

ROOT = Path(__file__).parents[2]
# In a process of its own: the world's modules are found from the repository's root.
MAKE = """
import json, sys
from pathlib import Path
from tests.ui.large_run import add_large_run
from tests.ui.project_files import write_project
from tests.ui.refusals import add_refusals
from tests.ui.served import serving

folder = Path(sys.argv[1])
write_project(folder, "http://127.0.0.1:9/v1")
database = folder / ".burnish" / "burnish.db"
run = add_large_run(database, 300)
add_refusals(database, run)
with serving(folder, 0) as address:
    print(json.dumps({"run": run, "address": address}), flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    folder = tmp_path_factory.mktemp("world")
    with subprocess.Popen(
        [sys.executable, "-c", MAKE, str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as made:
        told = json.loads(made.stdout.readline())
        with httpx2.Client(base_url=f"{told['address']}/v1/private", timeout=600) as client:
            yield client, told["run"]
        made.stdin.close()
        assert made.wait(600) == 0


def test_a_large_run_can_be_drawn_at_once(world):
    client, run = world

    points = client.get(f"/optimizations/{run}/points").json()
    view = client.get(f"/optimizations/{run}").json()
    line = client.get("/optimizations").json()["items"][0]

    columns = points["columns"]
    assert points["count"] == 301
    assert {len(column) for column in columns.values()} == {301}
    assert {"completed", "pruned", "failed"} == set(columns["status"])
    assert max(number for number in columns["evaluations"]) == 301 * 60
    assert view["best_candidate_id"] == points["best_candidate_id"]
    assert 2 <= len(line["spark"]) <= 40
    assert client.get(f"/optimizations/{run}/rejections").json()["items"]


def test_its_project_can_be_served_and_estimated(world):
    client, _ = world

    project = client.get("/project").json()
    estimate = client.post("/optimizations/estimate", json={}).json()
    items = client.get("/suites/tickets/items", params={"split": "test"}).json()

    assert (project["agent"], project["suite"]) == ("support", "tickets")
    assert estimate["splits"] == {"train": 60, "validation": 60, "test": 40}
    assert items["total"] == 40
