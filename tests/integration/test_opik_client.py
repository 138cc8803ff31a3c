"""The real `opik` and `opik-optimizer` against a real `burnish serve`, each in its own environment."""

import json
import os
import re
import subprocess
from collections import Counter
from pathlib import Path

import pytest
from opik_world import OpikSender
from serving_world import ServerProcess, make_served_project

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".opik-venv" / "bin" / "python"
JOB = Path(__file__).with_name("opik_job.py")
KEY = "canary-0123456789abcdef-canary"
# Its environment is another; and what it loads takes seconds to compile, so that is kept.
OURS = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
IDENTITY = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
ASKED = {
    *("GET /api/is-alive/ping", "GET /api/is-alive/ver"),
    *("GET auth/workspace", "POST projects/retrieve"),
    *("POST datasets/retrieve", "POST datasets", "PUT datasets/items", "GET datasets/ID/versions"),
    *("GET datasets/ID/items", "POST datasets/items/stream"),
    *("POST optimizations", "PUT optimizations/ID", "GET optimizations/ID"),
    *("POST experiments", "GET experiments/ID", "POST experiments/items"),
    *("POST experiments/finish", "POST traces/batch", "POST spans/batch"),
    "PUT traces/feedback-scores",
}

pytestmark = pytest.mark.skipif(
    not PYTHON.exists(), reason="there is no .opik-venv: `make opik-venv` builds it"
)


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """What the client said, what it asked, and what our API says about both runs."""
    project = make_served_project(tmp_path_factory.mktemp("opik_client"), items=4)
    with ServerProcess(project, variables={"BURNISH_API_KEY": KEY}) as server:
        ran = subprocess.run(
            [PYTHON, JOB],
            env={
                **{name: value for name, value in os.environ.items() if name not in OURS},
                "OPIK_URL_OVERRIDE": f"{server.address}/api",
                "OPIK_API_KEY": KEY,
                "OPIK_WORKSPACE": "default",
                "HOME": str(project),
            },
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr[-4000:]
        told = json.loads(ran.stdout.splitlines()[-1])
        asked = [one for one in map(json.loads, server.log().splitlines()) if "method" in one]
        with server.client(headers={"Authorization": f"Bearer {KEY}"}) as client:
            opik = OpikSender(client)
            shown = {
                name: (opik.view(run), opik.trials(run), _items(opik, run))
                for name, run in ((n, told[n]["optimization_id"]) for n in ("gepa", "parameters"))
            }
    return told, asked, shown


def _items(opik, run):
    ids = {one["candidate_id"] for one in opik.trials(run) if one["type"] == "trial"}
    return {one: opik.items(run, one) for one in ids}


def test_every_request_is_answered_well(done):
    _, asked, _ = done

    kinds = Counter(
        f"{one['method']} " + IDENTITY.sub("ID", one["path"]).removeprefix("/api/v1/private/")
        for one in asked
    )
    print(f"{kinds.total()} requests of {len(kinds)} kinds")
    bad = [
        (one["method"], one["path"], one["status"]) for one in asked if one["status"] // 100 != 2
    ]
    assert bad == []
    assert kinds.keys() >= ASKED
    assert kinds.total() > 100
    # Nothing else is asked either, but for datasets and projects by their ids.
    assert kinds.keys() - ASKED <= {"GET datasets/ID", "GET projects/ID"}


def test_gepas_run_shows_with_trials_items_scores_and_prompts(done):
    told, _, shown = done
    view, trials, items = shown["gepa"]

    assert told["statuses"] == ["completed", "completed"]
    assert (view["status"], view["optimizer"]) == ("completed", "GepaOptimizer")
    assert view["baseline_score"] == told["gepa"]["initial_score"] == 0.25
    assert view["best_score"] == told["gepa"]["score"] == 1.0
    messages = {one["role"]: one["content"] for one in told["gepa"]["messages"]}
    assert view["best"]["configuration"]["sections"] == messages
    assert view["baseline"]["configuration"]["sections"]["system"] == "Route the ticket."
    assert view["counters"]["mini_batches"] >= 2
    assert {one["status"] for one in trials} == {"completed"}
    best = items[view["best_candidate_id"]]
    assert len(best) == 8
    assert {one["scores"][0]["name"] for one in best} == {"label_match"}
    assert best[0]["input"]["ticket"]
    spans = [span["name"] for span in best[0]["output"]["trace"]["spans"]]
    assert "llm_task" in spans
    assert view["usage"]["calls"] >= 8 * len(items)


def test_the_parameter_run_shows_what_it_tried(done):
    told, _, shown = done
    view, trials, items = shown["parameters"]

    assert (view["status"], view["optimizer"]) == ("completed", "ParameterOptimizer")
    assert view["best_score"] == told["parameters"]["score"] == 0.25
    assert len(trials) == len(items) >= 2
    assert all(len(one) == 8 for one in items.values())
