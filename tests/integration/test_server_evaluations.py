"""Evaluations outlive the server that began them."""

import time

import pytest
from serving_world import (
    API,
    DEADLINE,
    ServerThread,
    calls,
    make_served_project,
    settings_of,
    wait_for_calls,
)

from burnish.app.evaluate.queued import EvaluationExecutor
from burnish.app.wiring import Workspace
from burnish.config.served_project import ServedProject
from burnish.domain import ExperimentStatus
from burnish.jobs.executor import ExecutorSettings

EVALUATIONS = f"{API}/evaluations"


@pytest.fixture
def project(tmp_path):
    return make_served_project(tmp_path / "evaluations", items=24)


def wait_until_ended(client, experiment_id):
    deadline = time.monotonic() + DEADLINE
    while True:
        view = client.get(f"{EVALUATIONS}/{experiment_id}").json()
        if view["status"] in ("completed", "failed", "cancelled"):
            return view
        assert time.monotonic() < deadline, view
        time.sleep(0.02)


def test_another_server_goes_on_where_one_stopped(project, monkeypatch):
    monkeypatch.setenv("AGENT_SECONDS", "0.05")
    with ServerThread(settings_of(project)) as server, server.client() as client:
        identity = client.post(EVALUATIONS, json={}).json()["experiment_id"]
        wait_for_calls(project, 4)
    assert len(calls(project)) < 24
    monkeypatch.setenv("AGENT_SECONDS", "0")
    with ServerThread(settings_of(project)) as server, server.client() as client:
        view = wait_until_ended(client, identity)

    assert view["status"] == "completed"
    assert (view["result"]["items"], view["result"]["errors"]) == (24, 0)
    assert len(calls(project)) == 24, "what was answered is not asked again"


async def test_one_whose_server_died_is_taken_over(project):
    with ServerThread(settings_of(project, execute=False)) as server, server.client() as client:
        identity = client.post(EVALUATIONS, json={}).json()["experiment_id"]
    async with Workspace.open(str(project / ".burnish" / "burnish.db")) as workspace:
        queue = workspace.evaluation_jobs
        await queue.acquire(identity, owner="dead", seconds=0)
        settings = ExecutorSettings(look_seconds=0.05)
        async with EvaluationExecutor(workspace, ServedProject(project / "burnish.toml"), settings):
            deadline = time.monotonic() + DEADLINE
            while await queue.is_waiting(identity):
                assert time.monotonic() < deadline
                await workspace.experiments.get_experiment(identity)
        experiment = await workspace.experiments.get_experiment(identity)

    assert experiment.status is ExperimentStatus.COMPLETED


async def test_one_that_can_never_end_fails_and_says_why(project):
    with ServerThread(settings_of(project, execute=False)) as server, server.client() as client:
        identity = client.post(EVALUATIONS, json={}).json()["experiment_id"]
    (project / "rows.jsonl").unlink()
    with ServerThread(settings_of(project)) as server, server.client() as client:
        view = wait_until_ended(client, identity)

    assert view["status"] == "failed"
    assert view["error"]["code"]
    assert view["error"]["fix"]


def test_keys_that_stand_in_the_configuration_are_stored_nowhere(project):
    with (project / "burnish.toml").open("a") as config:
        config.write('[models.openai]\napi_key = "canary-0123456789"\n')
    with ServerThread(settings_of(project)) as server, server.client() as client:
        made = client.post(EVALUATIONS, json={}).json()
        view = wait_until_ended(client, made["experiment_id"])

    assert view["status"] == "completed"
    for file in (project / ".burnish").iterdir():
        assert b"canary-0123456789" not in file.read_bytes(), file
