"""Optimizations over HTTP, on a real server: make, follow, read, stop, go on, copy."""

import json
import sqlite3

import pytest
from serving_world import (
    API,
    OPTIMIZATIONS,
    ServerThread,
    events_of,
    make_served_project,
    settings_of,
    wait_until_final,
    wait_until_ready,
)

from burnish.app.wiring import Workspace
from burnish.domain import OptimizationStatus
from burnish.jobs.ownership import new_owner
from burnish.testing.samples.optimizations import make_record

UNKNOWN = f"{OPTIMIZATIONS}/no-such"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_served_project(tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def server(project):
    with ServerThread(settings_of(project)) as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    with server.client() as opened:
        yield opened


@pytest.fixture(scope="module")
def finished(client):
    made = client.post(OPTIMIZATIONS, json={"seed": 5, "name": "the first"})
    assert made.status_code == 201, made.text
    return wait_until_final(client, made.json()["optimization_id"])


def pages(client, path, **parameters):
    found, cursor = [], None
    while True:
        given = {**parameters, **({"cursor": cursor} if cursor else {})}
        page = client.get(path, params=given).json()
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def test_a_run_started_over_http_completes_in_the_background(finished):
    assert finished["status"] == "completed"
    assert finished["seed"] == 5
    assert finished["name"] == "the first"
    assert finished["best"]["score"] == finished["best_score"] >= finished["baseline_score"]
    assert finished["items"]["planned"] == finished["items"]["finished"] > 0
    assert finished["counters"]["completed"] == finished["trials"] == 4
    assert finished["usage"]["by_purpose"] == finished["result"]["usage"]["by_purpose"]
    assert finished["framework_error"] is None
    assert finished["owned"] is False


def test_making_a_run_answers_before_it_has_run(client):
    made = client.post(OPTIMIZATIONS, json={"start": False}).json()

    assert made["status"] == "initialized"
    assert (
        client.get(f"{OPTIMIZATIONS}/{made['optimization_id']}").json()["status"] == "initialized"
    )


def test_one_that_was_not_started_starts_when_told(client):
    made = client.post(OPTIMIZATIONS, json={"start": False}).json()

    resumed = client.post(f"{OPTIMIZATIONS}/{made['optimization_id']}/resume")

    assert resumed.status_code == 202
    assert wait_until_final(client, made["optimization_id"])["status"] == "completed"


def test_trials_come_in_pages_that_lose_and_repeat_none(client, finished):
    path = f"{OPTIMIZATIONS}/{finished['optimization_id']}/trials"

    whole = pages(client, path)
    for sort in ("number", "-number", "score", "-score"):
        by_one = pages(client, path, limit=1, sort=sort)
        assert sorted(one["number"] for one in by_one) == [one["number"] for one in whole]
    scores = [one["score"] for one in pages(client, path, limit=2, sort="-score")]
    assert scores == sorted(scores, reverse=True)
    assert [one["number"] for one in whole] == [0, 1, 2, 3, 4]


def test_a_trial_has_its_configuration_and_its_items(client, finished):
    path = f"{OPTIMIZATIONS}/{finished['optimization_id']}/trials/{finished['best_candidate_id']}"

    detail = client.get(path).json()
    items = pages(client, f"{path}/items", limit=5)
    failing = pages(client, f"{path}/items", failing=True)

    assert detail["configuration"] == finished["best"]["configuration"]
    assert len(items) == detail["items"] == 12
    assert len({one["item_id"] for one in items}) == 12
    assert {one["item_id"] for one in failing} == {
        one["item_id"] for one in items if not one["passed"]
    }
    assert all(one["input"]["label"] in ("billing", "technical") for one in items)
    assert all(one["scores"][0]["name"] == "exact_match" for one in items)


def test_the_graph_names_every_candidate_and_its_parents(client, finished):
    graph = client.get(f"{OPTIMIZATIONS}/{finished['optimization_id']}/graph").json()

    assert [node["number"] for node in graph["nodes"]] == [0, 1, 2, 3, 4]
    assert [node["id"] for node in graph["nodes"] if node["best"]] == [
        finished["best_candidate_id"]
    ]
    assert len(graph["edges"]) == sum(len(one["parent_candidate_ids"]) for one in graph["nodes"])


def test_front_rejections_and_report_are_there(client, finished):
    path = f"{OPTIMIZATIONS}/{finished['optimization_id']}"

    assert client.get(f"{path}/front").json()["points"]
    assert client.get(f"{path}/rejections").json()["items"] == []
    report = client.get(f"{path}/report")
    assert report.headers["content-type"].startswith("text/html")
    assert "script-src 'sha256-" in report.headers["content-security-policy"]
    assert "the first" in report.text


def test_lists_are_filtered_sorted_and_paged(client, finished):
    client.post(OPTIMIZATIONS, json={"start": False, "name": "Zebra 100%_"})

    everything = pages(client, OPTIMIZATIONS)
    names = [one["name"] for one in pages(client, OPTIMIZATIONS, limit=1, sort="name")]
    by_score = [one["best_score"] for one in pages(client, OPTIMIZATIONS, sort="-best_score")]

    assert len(names) == len(everything)
    assert names == sorted(names)
    assert by_score[0] is not None
    assert by_score[-1] is None
    assert [one["name"] for one in pages(client, OPTIMIZATIONS, name="100%_")] == ["Zebra 100%_"]
    completed = pages(client, OPTIMIZATIONS, status="completed")
    assert {one["status"] for one in completed} == {"completed"}
    assert pages(client, OPTIMIZATIONS, agent="nobody") == []


async def test_a_list_of_those_that_run_has_none_that_nobody_works_on(tmp_path):
    project = make_served_project(tmp_path / "states", items=4)
    async with Workspace.open(str(project / ".burnish" / "burnish.db")) as workspace:
        for name in ("left", "owned"):
            await workspace.optimizations.create_optimization(make_record(name))
            lease = await workspace.optimizations.acquire_lease(
                name, owner=new_owner(), seconds=600
            )
            await workspace.optimizations.save_status(lease, OptimizationStatus.RUNNING)
            if name == "left":
                await workspace.optimizations.release_lease(lease)
    with ServerThread(settings_of(project, execute=False)) as server, server.client() as client:
        found = {
            state: [one["optimization_id"] for one in pages(client, OPTIMIZATIONS, status=state)]
            for state in ("running", "interrupted")
        }

    assert found == {"running": ["owned"], "interrupted": ["left"]}


def test_a_copy_is_prefilled_and_not_started(client, finished):
    made = client.post(f"{OPTIMIZATIONS}/{finished['optimization_id']}/duplicate", json={"seed": 9})

    copy = made.json()
    assert made.status_code == 201
    assert copy["optimization"]["status"] == "initialized"
    assert copy["request"]["seed"] == copy["optimization"]["seed"] == 9
    assert copy["request"]["agent"] == "tickets"
    assert copy["request"]["budget"]["max_trials"] == 4
    again = client.post(OPTIMIZATIONS, json={**copy["request"], "start": False})
    assert again.status_code == 201, again.text


def test_a_copy_needs_no_body(client, finished):
    made = client.post(f"{OPTIMIZATIONS}/{finished['optimization_id']}/duplicate")

    assert made.status_code == 201
    assert made.json()["optimization"]["name"] == "the first (copy)"


def test_cancelling_ends_one_that_nobody_runs_and_twice_does_no_harm(client):
    identity = client.post(OPTIMIZATIONS, json={"start": False}).json()["optimization_id"]

    first = client.post(f"{OPTIMIZATIONS}/{identity}/cancel")
    second = client.post(f"{OPTIMIZATIONS}/{identity}/cancel")
    resumed = client.post(f"{OPTIMIZATIONS}/{identity}/resume")

    assert (first.status_code, first.json()["status"]) == (202, "cancelled")
    assert (second.status_code, second.json()["status"]) == (202, "cancelled")
    assert resumed.status_code == 409
    assert resumed.json()["code"] == "cancelled"


def test_cancelling_stops_a_run_in_the_middle(client, project, monkeypatch):
    monkeypatch.setenv("AGENT_SECONDS", "3600")
    identity = client.post(OPTIMIZATIONS, json={"seed": 77}).json()["optimization_id"]
    with client.stream("GET", f"{OPTIMIZATIONS}/{identity}/events") as stream:
        next(events_of(stream.iter_lines()))

    asked = client.post(f"{OPTIMIZATIONS}/{identity}/cancel")
    view = wait_until_final(client, identity)

    assert asked.status_code == 202
    assert asked.json()["cancel_requested"] is True
    assert (view["status"], view["stop_reason"]) == ("cancelled", "cancelled")
    assert view["counters"]["running"] == 0


def test_what_cannot_be_run_is_refused_before_anything_is_stored(client):
    before = len(pages(client, OPTIMIZATIONS))
    refused = {
        "unknown_agent": {"agent": "another"},
        "unknown_suite": {"suite": "another"},
        "unknown_optimizer": {"optimizer": {"name": "no such"}},
        "unknown_setting": {"optimizer": {"settings": {"nonsense": 1}}},
        "invalid_budget": {"budget": {"max_evaluations": 1}},
        "invalid_request": {"budget": {"max_trials": -1}},
    }

    for code, body in refused.items():
        answer = client.post(OPTIMIZATIONS, json=body)
        assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
        assert answer.json()["fix"]
    assert len(pages(client, OPTIMIZATIONS)) == before


def test_models_paths_and_code_never_come_from_a_request(client):
    for model in ("local//etc/passwd", "local/other.gguf", "replay/x", "openai/dear"):
        answer = client.post(
            OPTIMIZATIONS, json={"optimizer": {"name": "gepa", "settings": {"model": model}}}
        )
        assert answer.json()["code"] == "model_not_allowed", answer.text
    for key in ("run", "url", "dataset", "scorers", "spec"):
        answer = client.post(OPTIMIZATIONS, json={key: "os:system"})
        assert answer.json()["code"] == "invalid_request"


def test_a_named_model_of_the_configuration_is_allowed(client):
    answer = client.post(
        OPTIMIZATIONS,
        json={
            "optimizer": {"name": "gepa", "settings": {"model": "openai/gpt-test"}},
            "start": False,
        },
    )

    assert answer.status_code == 201, answer.text


@pytest.mark.parametrize(
    "path",
    ["", "/trials", "/trials/x", "/trials/x/items", "/graph", "/rejections", "/front", "/report"],
)
def test_what_is_not_there_is_404(client, path):
    answer = client.get(f"{UNKNOWN}{path}")

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_events_of_nothing_are_404(client):
    assert client.get(f"{UNKNOWN}/events").status_code == 404
    assert client.get(f"{API}/events", params={"optimization_id": "no-such"}).status_code == 404


def test_the_events_tell_the_same_as_the_snapshots(client, finished):
    path = f"{OPTIMIZATIONS}/{finished['optimization_id']}"

    with client.stream("GET", f"{path}/events", params={"until_finished": True}) as stream:
        told = list(events_of(stream.iter_lines()))

    assert [int(one[0]) for one in told] == list(range(1, finished["last_event_id"] + 1))
    assert told[-1][1] == "run_finished"
    assert told[-1][2]["payload"]["status"] == finished["status"]
    bests = [one[2]["payload"] for one in told if one[1] == "best_candidate_changed"]
    assert bests[-1] == {
        "candidate_id": finished["best_candidate_id"],
        "score": finished["best_score"],
    }
    ended = {
        one[2]["payload"]["number"]: one[2]["payload"]["score"]
        for one in told
        if one[1] == "trial_added_or_updated" and one[2]["payload"]["status"] == "completed"
    }
    trials = client.get(f"{path}/trials").json()["items"]
    assert {one["number"]: one["score"] for one in trials}.items() <= ended.items()
    assert all(len(json.dumps(one[2])) < 600 for one in told)
    statuses = [one[2]["payload"]["status"] for one in told if one[1] == "run_status_changed"]
    assert statuses == ["initialized", "running", finished["status"]]
    progress = [one[2]["payload"] for one in told if one[1] == "progress_changed"]
    counted = progress[-1].keys() & finished["counters"].keys()
    assert {name: progress[-1][name] for name in counted} == {
        name: finished["counters"][name] for name in counted
    }
    assert counted >= {"proposed", "running", "completed", "failed", "cancelled", "rejected"}
    # Each ended trial is told with the counters as they then are.
    assert {one["completed"] for one in progress} == set(range(len(trials)))
    logged = client.get(f"{path}/event-log", params={"limit": 500}).json()["items"]
    assert logged == [one[2] for one in told]


@pytest.mark.parametrize("by_header", [True, False])
def test_a_stream_goes_on_after_the_last_event_that_was_seen(client, finished, by_header):
    path = f"{OPTIMIZATIONS}/{finished['optimization_id']}/events"
    last = finished["last_event_id"] - 2
    options = (
        {"headers": {"Last-Event-ID": str(last)}}
        if by_header
        else {"params": {"last_event_id": last}}
    )
    options["params"] = {**options.get("params", {}), "until_finished": True}

    with client.stream("GET", path, **options) as stream:
        told = list(events_of(stream.iter_lines()))

    assert [int(one[0]) for one in told] == [last + 1, last + 2]


def test_a_position_of_another_database_is_answered_with_a_hint(client, finished):
    path = f"{OPTIMIZATIONS}/{finished['optimization_id']}/events"

    with client.stream("GET", path, headers={"Last-Event-ID": "99999"}) as stream:
        identity, kind, data = next(events_of(stream.iter_lines()))

    assert (kind, data["code"]) == ("reload", "unknown_position")
    assert identity == str(finished["last_event_id"])


@pytest.mark.parametrize("wrong", ["x", "-1", "1.2", "9" * 40, "٣"])
def test_an_id_that_is_none_is_refused(client, finished, wrong):
    path = f"{OPTIMIZATIONS}/{finished['optimization_id']}/events"

    answer = client.get(path, params={"last_event_id": wrong})

    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_event_id")


def test_one_stream_follows_many_runs_live_and_goes_on_for_each(client):
    made = [
        client.post(OPTIMIZATIONS, json={"seed": n, "start": False}).json()["optimization_id"]
        for n in (11, 12)
    ]
    parameters = [("optimization_id", one) for one in made] + [("until_finished", "true")]

    with client.stream("GET", f"{API}/events", params=parameters) as stream:
        lines = stream.iter_lines()
        for one in made:
            client.post(f"{OPTIMIZATIONS}/{one}/resume")
        told = list(events_of(lines))

    for one in made:
        own = [data["sequence"] for _, _, data in told if data["optimization_id"] == one]
        assert own == list(range(1, len(own) + 1))
        assert client.get(f"{OPTIMIZATIONS}/{one}").json()["last_event_id"] == len(own)
    middle = told[len(told) // 2]
    with client.stream(
        "GET", f"{API}/events", params=parameters, headers={"Last-Event-ID": middle[0]}
    ) as stream:
        rest = list(events_of(stream.iter_lines()))
    # In each run's own order; how runs lie between each other is chance.
    for one in made:
        expected, seen = (
            [data for _, _, data in part if data["optimization_id"] == one]
            for part in (told[len(told) // 2 + 1 :], rest)
        )
        assert seen == expected


def test_events_of_another_process_arrive_too(client, server, project):
    identity = client.post(OPTIMIZATIONS, json={"start": False}).json()["optimization_id"]
    database = project / ".burnish" / "burnish.db"

    with client.stream("GET", f"{OPTIMIZATIONS}/{identity}/events") as stream:
        lines = stream.iter_lines()
        next(lines)
        with sqlite3.connect(database) as other:
            other.execute(
                "INSERT INTO optimization_events (optimization_id, sequence, key, type, created_at,"
                " payload) VALUES (?, 1, 'k', 'progress_changed', '2026-01-01T00:00:00Z', '{}')",
                (identity,),
            )
        told = next(events_of(lines))

    assert told[0] == "1"


def test_the_project_says_what_can_be_run(client):
    project = client.get(f"{API}/project").json()

    assert (project["agent"], project["suite"]) == ("tickets", "rows")
    assert "gepa" in project["optimizers"]
    assert project["models"] == ["openai/gpt-test"]
    assert project["executes"] is True


def test_health_and_metrics(client, finished):
    assert client.get("/health/live").json() == {"status": "ok"}
    assert wait_until_ready(client) == {"status": "ok", "checks": {"database": "ok"}}
    metrics = client.get("/metrics").text
    assert 'burnish_optimizations{status="completed"}' in metrics
    items = next(line for line in metrics.splitlines() if line.startswith("burnish_items_total"))
    assert float(items.split()[-1]) >= finished["items"]["finished"] * 0.5
    assert (
        'burnish_requests_total{method="GET",route="/v1/private/optimizations/{optimization_id}"'
        in metrics
    )
    assert "burnish_run_queue_depth" in metrics
    assert finished["optimization_id"] not in metrics


def test_two_servers_on_one_file_share_runs_and_events(tmp_path):
    folder = make_served_project(tmp_path / "shared", items=12)
    with (
        ServerThread(settings_of(folder)) as first,
        ServerThread(settings_of(folder)) as second,
        first.client() as one,
        second.client() as other,
    ):
        made = [
            using.post(OPTIMIZATIONS, json={"seed": n}).json()["optimization_id"]
            for n, using in enumerate((one, other, one, other))
        ]
        views = [wait_until_final(one, identity) for identity in made]
        path = f"{OPTIMIZATIONS}/{made[0]}/events"
        with other.stream("GET", path, params={"until_finished": True}) as stream:
            told = list(events_of(stream.iter_lines()))

    assert [view["status"] for view in views] == ["completed"] * 4
    assert [int(event[0]) for event in told] == list(range(1, views[0]["last_event_id"] + 1))
    assert sum(event[1] == "run_finished" for event in told) == 1
