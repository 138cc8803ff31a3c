"""Configured optimizers over HTTP: versions, runs, candidates, promotion and its races."""

import sqlite3
import threading
import time
from uuid import UUID

import pytest
from serving_world import (
    API,
    DEADLINE,
    OPTIMIZATIONS,
    ServerThread,
    make_served_project,
    settings_of,
    wait_until_final,
)

from burnish.optimization.search_plan import candidate_id
from burnish.server.http.auth import Keys

AGENT = f"{API}/agents/tickets"
OPTIMIZERS = "/planar/v1/agents/tickets/optimizers/"
GEPA = {
    "name": "g",
    "mutation_strategies": ["system_template"],
    "budget": {"max_trials": 3},
    "seed": 3,
}
EDITS = {"name": "e", "optimizer": "edits", "budget": {"max_trials": 3}, "seed": 3}
ADA = {"promoted_by": "ada"}


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = make_served_project(tmp_path_factory.mktemp("optimizers"), items=30)
    with ServerThread(settings_of(folder)) as server, server.client() as opened:
        opened.project = folder
        yield opened


def run(client, name):
    started = client.post(f"{OPTIMIZERS}{name}/run")
    assert started.status_code == 202, started.text
    wait_until_final(client, started.json()["id"])
    return client.get(f"{OPTIMIZERS}{name}/runs/{started.json()['id']}").json()


def test_a_config_is_kept_in_versions_with_the_seeds_fields(client):
    first = client.post(OPTIMIZERS, json={**GEPA, "name": "kept"})
    same = client.post(OPTIMIZERS.rstrip("/"), json={**GEPA, "name": "kept"})
    second = client.post(OPTIMIZERS, json={**GEPA, "name": "kept", "max_iterations": 5})

    assert (first.status_code, second.status_code) == (201, 201), first.text
    assert first.json() == same.json()
    assert [one.json()["version"] for one in (first, second)] == [1, 2]
    config = second.json()["config"]
    expected = {
        "max_iterations": 5,
        "population_size": 4,
        "exploration_temperature": 0.7,
        "accept_threshold": None,
        "stop_no_improve": 3,
        "mutation_strategies": ["system_template"],
        "base_config_version": None,
        "agent_name": "tickets",
    }
    assert expected.items() <= config.items()
    assert config["suite_id"] == client.get(f"{API}/suites/rows").json()["suite_id"]
    versions = client.get(f"{OPTIMIZERS}kept/versions").json()["items"]
    assert [(one["version"], one["active"]) for one in versions] == [(2, True), (1, False)]
    listed = client.get(OPTIMIZERS).json()["items"]
    assert "kept" in [one["name"] for one in listed]
    stale = client.post(OPTIMIZERS, json={**GEPA, "name": "kept", "expected_version": 1})
    assert (stale.status_code, stale.json()["code"]) == (409, "version_moved")


def test_a_config_takes_the_settings_of_the_framework_and_of_the_algorithm(client):
    more = {
        "objective": {"pareto": ["latency"], "tolerance": 0.1},
        "racing": "conservative",
        "candidates_per_step": 2,
        "max_prompt_tokens": 300,
        "space": {"locked": ["user"]},
        "refine": {"limit": 0},
        "look": 6,
        "evaluations_per_reflection": 20,
    }

    saved = client.post(OPTIMIZERS, json={**GEPA, "name": "full", **more})

    assert saved.status_code == 201, saved.text
    assert more.items() <= {**saved.json()["config"], "refine": {"limit": 0}}.items()
    record = run(client, "full")
    stored = client.post(f"{OPTIMIZATIONS}/{record['id']}/duplicate", json={}).json()["request"]
    settings = stored["optimizer"]["settings"]
    assert {name: settings[name] for name in more if name != "refine"} == {
        name: value for name, value in more.items() if name != "refine"
    }
    assert (stored["refine"]["limit"], stored["refine"]["trials"]) == (0, True)
    assert stored["seed"] == record["seed"] == 3
    made = client.get("/openapi.json").json()["components"]["schemas"]["NewGEPAOptimizer"]
    assert {"guidance", "section_guidance", *more} <= made["properties"].keys()


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"mutation_strategies": []}, 422, "invalid_request"),
        ({"mutation_strategies": ["tools"]}, 422, "invalid_setting"),
        ({"population_size": 0}, 422, "invalid_request"),
        ({"evaluations_per_reflection": 0}, 422, "invalid_request"),
        ({"racing": "quick"}, 422, "invalid_request"),
        ({"objective": {"tokens": "many"}}, 422, "invalid_optimizer"),
        (
            {"model": "openai/gpt-test", "budget": {"max_cost_usd": 1.0}},
            422,
            "unknown_price",
        ),
        ({"model": "openai/dear"}, 422, "model_not_allowed"),
        ({"suite_id": "0199d1c8-70aa-7b1e-9d0f-5b3a1c2d4e5f"}, 404, "not_found"),
        ({"base_config_version": 99}, 404, "not_found"),
        ({"schedule": "every night"}, 422, "invalid_schedule"),
        ({"schedule": "0 2 * * *", "schedule_timezone": "No/Where"}, 422, "invalid_schedule"),
        ({"agent_name": "other"}, 422, "other_agent"),
        ({"budget": {"max_evaluations": 1}}, 422, "invalid_budget"),
        ({"optimizer": "no_such", "mutation_strategies": None}, 422, "invalid_request"),
        ({"name": "a/b"}, 422, "invalid_request"),
    ],
)
def test_a_config_that_could_never_run_is_refused(client, change, status, code):
    answer = client.post(OPTIMIZERS, json={**GEPA, "name": "odd", **change})

    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert client.get(f"{OPTIMIZERS}odd").status_code == 404


def test_a_mistake_is_named_by_its_place_in_the_body(client):
    answer = client.post(OPTIMIZERS, json={**GEPA, "name": "odd", "max_iterations": -1})

    assert [one["where"] for one in answer.json()["problems"]] == ["body.max_iterations"]


def test_a_candidate_that_was_never_scored_is_promoted_only_when_that_is_meant(client):
    client.post(OPTIMIZERS, json={**EDITS, "name": "unscored"})
    record = run(client, "unscored")
    candidate = candidate_id(record["id"], 1)
    database = sqlite3.connect(client.project / ".burnish" / "burnish.db")
    with database:
        database.execute(
            "update trials set status = 'failed', objective_score = null where candidate_id = ?",
            [candidate],
        )
    database.close()
    path = f"{OPTIMIZERS}unscored/promote/{candidate}"

    refused = client.post(path, json=ADA)

    assert (refused.status_code, refused.json()["code"]) == (409, "not_scored")
    assert "expected_version" in refused.json()["fix"]


def test_a_limit_of_dollars_without_a_price_is_refused_before_anything_is_made(client):
    run = {
        "optimizer": {"name": "gepa", "settings": {"model": "openai/gpt-test"}},
        "budget": {"max_cost_usd": 1.0},
    }
    before = client.get(OPTIMIZATIONS).json()

    answers = [client.post(path, json=run) for path in (OPTIMIZATIONS, f"{OPTIMIZATIONS}/estimate")]

    for answer in answers:
        assert (answer.status_code, answer.json()["code"]) == (422, "unknown_price"), answer.text
        assert '[models."openai/gpt-test"]' in answer.json()["fix"]
    assert client.get(OPTIMIZATIONS).json() == before


def test_other_optimizers_are_checked_too(client):
    for change, code in (
        ({"optimizer": "no_such"}, "unknown_optimizer"),
        ({"settings": {"nonsense": 1}}, "unknown_setting"),
        ({"settings": {"model": "local//etc/passwd"}}, "model_not_allowed"),
    ):
        answer = client.post(OPTIMIZERS, json={**EDITS, **change})
        assert (answer.status_code, answer.json()["code"]) == (422, code), answer.text
    nobody = client.post(OPTIMIZERS.replace("tickets", "nobody"), json=EDITS)
    assert (nobody.status_code, nobody.json()["code"]) == (404, "not_found")


def test_a_run_has_the_seeds_records_and_candidates_link_to_their_evaluation(client):
    for name in ("g", "another"):
        client.post(OPTIMIZERS, json={**GEPA, "name": name})

    record = run(client, "g")
    path = f"{OPTIMIZERS}g/runs/{record['id']}"
    candidates = client.get(f"{path}/candidates").json()["items"]

    assert record["status"] == "succeeded"
    assert (record["agent_name"], record["suite_name"]) == ("tickets", "rows")
    assert record["iterations"] == 3
    page = client.get(f"{API}/optimizations/{record['id']}").json()
    assert page["kept_optimizer"]["optimizer_name"] == "g"
    assert page["kept_optimizer"]["base_config_version"] == record["base_config_version"]
    assert record["completed_at"] > record["started_at"]
    assert record["scores"] == {"exact_match": record["best_score"]}
    by_state = {one["id"]: one["status"] for one in candidates}
    assert [one["number"] for one in candidates] == [0, 1, 2, 3]
    assert all(str(UUID(one["id"])) == one["id"] for one in candidates)
    if record["winning_candidate_id"] is not None:
        assert by_state[record["winning_candidate_id"]] == "accepted"
    for one in candidates:
        evaluation = client.get(f"{API}/evaluations/{one['eval_run_id']}").json()
        assert evaluation["configuration"]["sections"]["system"] == one["system_prompt"]
        assert evaluation["result"]["score"] == one["scores"]["exact_match"]
        assert one["user_prompt"] == "{{text}}"
    runs = client.get(f"{OPTIMIZERS}g/runs").json()["items"]
    assert runs[0] == record
    other = client.get(f"{OPTIMIZERS}another/runs/{record['id']}")
    assert other.status_code == 404, "it is a run of another optimizer"


def test_without_a_seed_each_run_draws_its_own(client):
    drawing = {key: value for key, value in EDITS.items() if key != "seed"}
    client.post(OPTIMIZERS, json={**drawing, "name": "drawing"})

    runs = [run(client, "drawing") for _ in range(2)]

    seeds = [client.get(f"{OPTIMIZATIONS}/{one['id']}").json()["seed"] for one in runs]
    assert seeds == [one["seed"] for one in runs]
    assert seeds[0] != seeds[1], "neither is that of burnish.toml"


def test_max_iterations_is_the_limit_of_trials_where_the_config_names_no_other(client):
    config = {**GEPA, "name": "long", "budget": {}, "max_iterations": 6, "stop_no_improve": 50}
    estimate = client.post(f"{OPTIMIZERS}estimate", json=config).json()
    client.post(OPTIMIZERS, json=config)

    record = run(client, "long")

    assert estimate["evaluations"]["max_trials"] == 6
    assert record["iterations"] == 6
    assert record["stop_reason"] != "budget"


def test_a_person_promotes_and_the_next_run_begins_there(client):
    client.post(OPTIMIZERS, json=EDITS)
    record = run(client, "e")
    candidate = candidate_id(record["id"], 1)
    path = f"{OPTIMIZERS}e/promote/{candidate}"

    nobody = client.post(path, json={})
    promoted = client.post(path, json={**ADA, "note": "looks good"})
    again = client.post(path, json=ADA)
    unknown = client.post(f"{OPTIMIZERS}e/promote/none-1", json=ADA)

    assert nobody.status_code == 422, "a person has to say who it is"
    assert promoted.status_code == 200, promoted.text
    assert (again.status_code, again.json()["code"]) == (409, "already_active")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
    version = promoted.json()["version"]
    assert (version["author"], version["note"], version["active"]) == ("ada", "looks good", True)
    assert version["origin"]["optimization_id"] == record["id"]
    assert version["origin"]["candidate_id"] == candidate
    agent = client.get(AGENT).json()
    assert agent["active_version"] == version["version"] == record["base_config_version"] + 1
    assert agent["configuration"] == version["configuration"]
    following = run(client, "e")
    assert following["base_config_version"] == version["version"]
    baseline = client.get(f"{OPTIMIZERS}e/runs/{following['id']}/candidates").json()["items"][0]
    assert baseline["candidate_hash"] == version["configuration_hash"]
    late = client.post(f"{OPTIMIZERS}e/promote/{candidate_id(record['id'], 2)}", json=ADA)
    assert (late.status_code, late.json()["code"]) == (409, "version_moved")
    seen = {**ADA, "expected_version": version["version"]}
    meant = client.post(f"{OPTIMIZERS}e/promote/{candidate_id(record['id'], 2)}", json=seen)
    assert meant.status_code == 200, meant.text
    # What it replaces is what it is compared with, and that nobody compared the two is said.
    replaced = version["configuration"]["sections"]
    changed = meant.json()["difference"]["sections"]
    assert changed
    assert all(one["before"] == replaced[one["path"]] for one in changed)
    assert any("never compared with version" in one for one in meant.json()["warnings"])


@pytest.fixture(params=["sqlite", "postgres"])
def servers(request, tmp_path):
    folder = make_served_project(tmp_path / "races", items=10)
    changes = {}
    if request.param == "postgres":
        changes = {"database": request.getfixturevalue("postgres_url")}
    settings = settings_of(folder, **changes)
    with ServerThread(settings) as one, ServerThread(settings) as two:
        yield one, two


def test_of_two_promotions_at_once_one_wins(servers):
    one, two = servers
    with one.client() as first, two.client() as second:
        made = first.post(OPTIMIZATIONS, json={"budget": {"max_trials": 3}}).json()
        identity = wait_until_final(first, made["optimization_id"])["optimization_id"]
        # FastAPI prepares a route at its first request, and two threads must not do so at once.
        for client in (first, second):
            assert client.post(f"{OPTIMIZATIONS}/{identity}/promote", json={}).status_code == 422
        answers, start = [], threading.Barrier(6)

        def promote(client, number):
            body = {**ADA, "candidate_id": candidate_id(identity, number)}
            start.wait(DEADLINE)
            answers.append(client.post(f"{OPTIMIZATIONS}/{identity}/promote", json=body))

        threads = [
            threading.Thread(target=promote, args=(client, number))
            for client in (first, second)
            for number in (1, 2, 3)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(DEADLINE)
        versions = first.get(f"{AGENT}/versions").json()["items"]

    assert sorted(one.status_code for one in answers) == [200] + [409] * 5
    winner = next(one.json() for one in answers if one.status_code == 200)
    assert [one["version"] for one in versions] == [2, 1]
    assert versions[0]["configuration_hash"] == winner["version"]["configuration_hash"]
    assert versions[1]["origin"]["source"] == "baseline", "what was before is kept too"


def test_a_proven_winner_is_promoted_without_a_person_where_that_was_asked_for(tmp_path):
    folder = make_served_project(tmp_path / "auto", items=240)
    with ServerThread(settings_of(folder)) as server, server.client() as client:
        client.post(OPTIMIZERS, json={**EDITS, "auto_promote": True})
        record = run(client, "e")
        deadline = time.monotonic() + DEADLINE
        while record["promotion"] is None:
            assert time.monotonic() < deadline
            server.call(server.services.keeper.settle())
            record = client.get(f"{OPTIMIZERS}e/runs/{record['id']}").json()
        versions = client.get(f"{AGENT}/versions").json()["items"]

    assert record["promotion"]["promoted"] is True, record["promotion"]
    assert versions[0]["version"] == record["promotion"]["version"] == 2
    assert versions[0]["author"] == "auto_promote"
    assert versions[0]["origin"]["candidate_id"] == record["winning_candidate_id"]
    evidence = versions[0]["origin"]["improvement"]
    assert evidence["held_out"]
    assert evidence["p_value"] < 0.05
    assert evidence["ci_low"] > 0


def test_nothing_is_promoted_by_itself_unless_asked_for_or_without_held_out_items(client):
    before = client.get(AGENT).json()["configuration"]
    client.post(OPTIMIZERS, json={**EDITS, "name": "plain"})
    record = run(client, "plain")
    rows = '{"text": "a", "label": "billing"}\n{"text": "b", "label": "billing"}\n'
    dataset = client.post(f"{API}/datasets", params={"name": "two"}, content=rows).json()
    suite = client.post(
        f"{API}/suites",
        json={
            "name": "two",
            "dataset_id": dataset["dataset_id"],
            "scorers": [{"kind": "exact_match", "field": "label"}],
        },
    ).json()
    body = {**EDITS, "name": "bold", "auto_promote": True, "suite_id": suite["suite_id"]}

    refused = client.post(OPTIMIZERS, json=body)

    assert record["promotion"] is None
    assert client.get(AGENT).json()["configuration"] == before
    assert (refused.status_code, refused.json()["code"]) == (422, "nothing_held_out")


def test_the_name_of_the_key_stands_in_the_origin(tmp_path):
    folder = make_served_project(tmp_path / "keys", items=10)
    keys = Keys.of("ci:write:0123456789abcdef dash:read:fedcba9876543210")
    writer = {"Authorization": "Bearer 0123456789abcdef"}
    reader = {"Authorization": "Bearer fedcba9876543210"}
    with (
        ServerThread(settings_of(folder, keys=keys)) as server,
        server.client(headers=writer) as client,
    ):
        made = client.post(OPTIMIZATIONS, json={"budget": {"max_trials": 1}}).json()
        wait_until_final(client, made["optimization_id"])
        path = f"{OPTIMIZATIONS}/{made['optimization_id']}/promote"
        body = {**ADA, "candidate_id": candidate_id(made["optimization_id"], 1)}
        assert client.post(path, json=body, headers=reader).status_code == 403
        promoted = client.post(path, json=body).json()

    assert promoted["version"]["origin"]["key"] == "ci"
    assert "0123456789abcdef" not in str(promoted)
