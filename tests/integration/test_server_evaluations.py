"""Evaluations outlive the server that began them, and are cancelled and resumed from anywhere."""

import asyncio
import contextlib
import json
import os
import signal
import time
from collections import Counter

import pytest
from serving_world import (
    API,
    DEADLINE,
    OPTIMIZATIONS,
    ServerThread,
    calls,
    make_served_project,
    settings_of,
    wait_for_calls,
    wait_until_final,
)

from burnish.app.evaluate.queued import EvaluationExecutor
from burnish.app.wiring import Workspace
from burnish.config.served_project import ServedProject
from burnish.domain import ExperimentStatus
from burnish.jobs.executor import ExecutorSettings

EVALUATIONS = f"{API}/evaluations"
# The first four are answered at once, and the others once there is a file `go`.
WAITING_AGENT = """
import asyncio, pathlib

HERE = pathlib.Path(__file__).parent

async def answer(configuration, item):
    while int(item.id[1:]) >= 4 and not (HERE / "go").exists():
        await asyncio.sleep(0.01)
    with (HERE / "calls.log").open("a") as log:
        log.write(f"{item.id}\\n")
    return item["label"]
"""


@pytest.fixture
def project(tmp_path):
    return make_served_project(tmp_path / "evaluations", items=24)


@pytest.fixture
def waiting_project(project):
    (project / "agent.py").write_text(WAITING_AGENT)
    return project


def wait_until(client, experiment_id, holds):
    deadline = time.monotonic() + 600
    while True:
        view = client.get(f"{EVALUATIONS}/{experiment_id}").json()
        if holds(view):
            return view
        assert time.monotonic() < deadline, view
        time.sleep(0.02)


def wait_until_ended(client, experiment_id):
    ended = ("completed", "failed", "cancelled")
    return wait_until(client, experiment_id, lambda view: view["status"] in ended)


def has_four(view):
    return view["result"] is not None and view["result"]["items"] == 4


def ask(client, experiment_id, action):
    return client.post(f"{EVALUATIONS}/{experiment_id}/{action}")


def test_another_server_goes_on_where_one_stopped(project, monkeypatch):
    monkeypatch.setenv("AGENT_STOPS_AT", "4")
    with ServerThread(settings_of(project)) as server, server.client() as client:
        identity = client.post(EVALUATIONS, json={}).json()["experiment_id"]
        wait_for_calls(project, 4)
    assert len(calls(project)) == 4
    monkeypatch.delenv("AGENT_STOPS_AT")
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


def test_one_that_is_cancelled_in_mid_run_keeps_its_results_and_goes_on(waiting_project):
    with ServerThread(settings_of(waiting_project)) as server, server.client() as client:
        identity = client.post(EVALUATIONS, json={}).json()["experiment_id"]
        wait_until(client, identity, has_four)

        answer = ask(client, identity, "cancel")
        cancelled = wait_until_ended(client, identity)
        again = ask(client, identity, "cancel")
        (waiting_project / "go").touch()
        resumed = ask(client, identity, "resume")
        view = wait_until_ended(client, identity)

    assert (answer.status_code, again.status_code, resumed.status_code) == (202, 202, 202)
    assert answer.json()["experiment_id"] == identity
    assert (cancelled["status"], cancelled["result"]["items"]) == ("cancelled", 4)
    assert again.json() == cancelled
    assert resumed.json()["status"] in ("pending", "running", "completed")
    assert (view["status"], view["result"]["items"], view["error"]) == ("completed", 24, None)
    assert set(Counter(calls(waiting_project)).values()) == {1}, "nothing is asked twice"


def test_one_that_is_cancelled_while_it_waits_ends_at_once(project):
    with ServerThread(settings_of(project, execute=False)) as server, server.client() as client:
        identity = client.post(EVALUATIONS, json={}).json()["experiment_id"]
        answer = ask(client, identity, "cancel")

    assert (answer.status_code, answer.json()["status"]) == (202, "cancelled")
    with ServerThread(settings_of(project)) as server, server.client() as client:
        assert ask(client, identity, "resume").json()["status"] != "cancelled"
        assert wait_until_ended(client, identity)["status"] == "completed"


def test_one_that_is_cancelled_as_its_server_ends_stays_cancelled(waiting_project):
    async def wish(services):
        await services.workspace.evaluation_jobs.request_cancel(identity)

    with ServerThread(settings_of(waiting_project)) as server, server.client() as client:
        identity = client.post(EVALUATIONS, json={}).json()["experiment_id"]
        wait_until(client, identity, has_four)
        server.call(wish(server.services))
    with ServerThread(settings_of(waiting_project)) as server, server.client() as client:
        view = wait_until_ended(client, identity)

    assert (view["status"], view["result"]["items"]) == ("cancelled", 4)


def test_one_with_a_budget_ends_there_and_is_not_resumed_into_the_same_limit(project):
    with ServerThread(settings_of(project)) as server, server.client() as client:
        refused = client.post(EVALUATIONS, json={"budget": {"max_trials": 1}})
        made = client.post(EVALUATIONS, json={"budget": {"max_evaluations": 5}}).json()
        view = wait_until_ended(client, made["experiment_id"])
        again = ask(client, made["experiment_id"], "resume")

    assert refused.status_code == 422
    assert (view["status"], view["budget"]) == ("cancelled", {"max_evaluations": 5})
    assert (view["result"]["items"], view["error"]["code"]) == (5, "budget")
    assert "5 of 24 runs" in " ".join(view["result"]["warnings"])
    assert (again.status_code, again.json()["code"]) == (409, "budget")
    assert len(calls(project)) == 5


def test_what_has_come_to_its_end_cannot_go_on(project):
    with ServerThread(settings_of(project)) as server, server.client() as client:
        identity = client.post(EVALUATIONS, json={}).json()["experiment_id"]
        completed = wait_until_ended(client, identity)
        refused = ask(client, identity, "resume")
        cancelled = ask(client, identity, "cancel")
        unknown = ask(client, "nothing", "cancel"), ask(client, "nothing", "resume")

    assert (refused.status_code, refused.json()["code"]) == (409, "completed")
    assert (cancelled.status_code, cancelled.json()) == (202, completed)
    assert [one.status_code for one in unknown] == [404, 404]


def test_a_trial_is_cancelled_and_resumed_with_its_optimization_only(project):
    with ServerThread(settings_of(project)) as server, server.client() as client:
        run = client.post(OPTIMIZATIONS, json={}).json()["optimization_id"]
        wait_until_final(client, run, seconds=60)
        trial = client.get(f"{OPTIMIZATIONS}/{run}/trials").json()["items"][0]["experiment_id"]
        answers = [ask(client, trial, action) for action in ("cancel", "resume")]

    assert [one.status_code for one in answers] == [409, 409]
    assert {one.json()["code"] for one in answers} == {"part_of_optimization"}
    assert all(run in one.json()["fix"] for one in answers)


def test_one_that_failed_is_tried_again_without_its_error(project):
    rows = project / "rows.jsonl"
    kept = rows.read_text()
    with ServerThread(settings_of(project, execute=False)) as server, server.client() as client:
        identity = client.post(EVALUATIONS, json={}).json()["experiment_id"]
    rows.unlink()
    with ServerThread(settings_of(project)) as server, server.client() as client:
        failed = wait_until_ended(client, identity)
        rows.write_text(kept)
        ask(client, identity, "resume")
        view = wait_until_ended(client, identity)

    assert (failed["status"], failed["error"] is None) == ("failed", False)
    assert (view["status"], view["error"]) == ("completed", None)


@contextlib.contextmanager
def evaluating(commands, project):
    """`burnish eval` as a user starts it; what it said is told once it has ended."""
    command = commands.start(["eval"], cwd=project)
    try:
        yield command
    finally:
        if command.poll() is None:
            os.kill(command.pid, signal.SIGKILL)
            command.communicate()


def burnish(commands, project, *words):
    """The exit code of a command, and the document that it printed."""
    done = commands.run([*words, "--json"], cwd=project)
    return done.returncode, json.loads(done.stdout or "null") or done.stderr


async def results_in(database, number):
    """The one experiment of a database, once it has so many results."""
    async with asyncio.timeout(600), Workspace.open(database) as workspace:
        while True:
            for one in await workspace.experiments.list_experiments():
                stored = [r async for r in workspace.experiments.stream_results(one.id)]
                if len(stored) == number:
                    return one.id
            await asyncio.sleep(0.02)


def test_commands_cancel_and_resume_an_evaluation_of_another_process(commands, waiting_project):
    with evaluating(commands, waiting_project) as command:
        database = str(waiting_project / ".burnish" / "burnish.db")
        identity = asyncio.run(results_in(database, 4))

        code, cancelled = burnish(commands, waiting_project, "cancel", "latest")
        said = "".join(command.communicate())
        again = burnish(commands, waiting_project, "cancel", identity)
        (waiting_project / "go").touch()
        resumed, result = burnish(commands, waiting_project, "resume", identity[-8:])

    assert (code, cancelled["experiment_id"], cancelled["cancelled"]) == (0, identity, True)
    assert (command.returncode, f"burnish resume {identity}" in said) == (3, True), said
    assert (again[0], again[1]["requested"]) == (0, False)
    assert (resumed, result["items"], result["experiment_id"]) == (0, 24, identity)
    assert set(Counter(calls(waiting_project)).values()) == {1}, "nothing is asked twice"


def test_one_that_a_command_runs_is_cancelled_by_a_server(commands, waiting_project):
    with evaluating(commands, waiting_project) as command:
        settings = settings_of(waiting_project, execute=False)
        with ServerThread(settings) as server, server.client() as client:
            deadline = time.monotonic() + 600
            while not (found := client.get(EVALUATIONS).json()["items"]):
                assert time.monotonic() < deadline
            identity = found[0]["experiment_id"]
            wait_until(client, identity, has_four)
            ask(client, identity, "cancel")
            view = wait_until_ended(client, identity)
            refused = ask(client, identity, "resume")
        said = "".join(command.communicate())

    assert (view["status"], view["result"]["items"]) == ("cancelled", 4)
    assert (command.returncode, "cancelled" in said) == (3, True), said
    assert (refused.status_code, refused.json()["code"]) == (409, "settings_not_kept")


# Every item passes until there is a file `worse`; then r1 fails always, r2 the first time only.
CHANGED_AGENT = """
import pathlib

HERE = pathlib.Path(__file__).parent
failed = set()

async def answer(configuration, item):
    with (HERE / "calls.log").open("a") as log:
        log.write(f"{item.id}\\n")
    worse = (HERE / "worse").exists()
    if worse and (item.id == "r1" or (item.id == "r2" and "r2" not in failed)):
        failed.add(item.id)
        return "other"
    return item["label"]
"""


def start(client, **asked):
    answer = client.post(EVALUATIONS, json=asked)
    assert answer.status_code == 201, answer.text
    return wait_until_ended(client, answer.json()["experiment_id"])


def test_failing_items_alone_are_run_again(project):
    with ServerThread(settings_of(project)) as server, server.client() as client:
        first = start(client)
        failing = {"failing": True, "limit": 100}
        path = f"{EVALUATIONS}/{first['experiment_id']}/items"
        ids = {one["item_id"] for one in client.get(path, params=failing).json()["items"]}
        again = start(client, failing_of=first["experiment_id"])
        path = f"{EVALUATIONS}/{again['experiment_id']}/items"
        ran = {one["item_id"] for one in client.get(path).json()["items"]}
        some = start(client, failing_of=first["experiment_id"], limit=1)
        refused = client.post(EVALUATIONS, json={"failing_of": "nowhere"})

    assert 0 < len(ids) < 24
    assert ran == ids
    assert (again["planned_items"], some["planned_items"]) == (len(ids), 1)
    assert refused.status_code == 404


def test_a_comparison_with_a_baseline_tells_broken_items_from_flaky_ones(project):
    (project / "agent.py").write_text(CHANGED_AGENT)
    with ServerThread(settings_of(project)) as server, server.client() as client:
        good = start(client)["experiment_id"]
        nothing = client.post(EVALUATIONS, json={"failing_of": good})
        (project / "worse").touch()
        # Other texts, so that no answer is known yet.
        other = {"overrides": {"sections": {"system": "Classify."}}, "baseline": good}
        asked = client.post(EVALUATIONS, json={**other, "reruns": 4}).json()["experiment_id"]
        view = wait_until(client, asked, lambda one: "broken_items" in (one["result"] or {}))
        alone = client.post(EVALUATIONS, json={"reruns": 2})

    told = view["result"]
    assert told["baseline"]["experiment_id"] == good
    assert (told["items"], told["failed"], told["baseline"]["look"]) == (24, 2, 1)
    standings = {one["item_id"]: one["standing"] for one in told["broken_items"]["items"]}
    assert (standings, told["broken_items"]["passed"]) == ({"r1": "broken", "r2": "flaky"}, False)
    asked_of = Counter(calls(project))
    assert (asked_of["r1"], asked_of["r2"], asked_of["r3"]) == (1 + 1 + 4, 1 + 1 + 1, 1 + 1)
    assert (nothing.status_code, alone.status_code) == (422, 422)
