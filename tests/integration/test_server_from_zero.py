"""A server in an empty folder: from a new agent to a promoted winner, over HTTP alone."""

import os
import time

import pytest
from registry_world import AGENTS, EXACT, SUITES, finished, refused, upload
from serving_world import API, DEADLINE, OPTIMIZATIONS, ServerThread, settings_of
from tests.servers.learning_model import learning_model

MODEL = "openai/learner"
PROMPT = {"sections": {"system": "Which team?", "user": "{{text}}"}}
AGENT = {"name": "router", "model": MODEL, "labels": ["billing", "technical"]}
ROWS = [
    {"text": f"the {word} of customer {n}", "label": label}
    for n in range(15)
    for word, label in (("invoice", "billing"), ("error", "technical"))
]
SPLIT = {"train": 0.4, "validation": 0.3, "test": 0.3}


@pytest.fixture(scope="module")
def model():
    with learning_model() as server:
        before = {one: os.environ.get(one) for one in ("OPENAI_BASE_URL", "OPENAI_API_KEY")}
        os.environ["OPENAI_BASE_URL"] = server.base_url
        os.environ.pop("OPENAI_API_KEY", None)
        yield server
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@pytest.fixture(scope="module")
def client(model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("zero")
    with ServerThread(settings_of(folder)) as server, server.client() as opened:
        yield opened
    assert [one.name for one in folder.iterdir()] == [".burnish"]


def test_the_project_says_that_it_has_nothing_of_its_own(client):
    project = client.get(f"{API}/project").json()

    assert (project["agent"], project["suite"], project["models"]) == (None, None, [])
    for path, body, code in (
        (OPTIMIZATIONS, {}, "no_agent"),
        (f"{API}/evaluations", {"agent": "nobody"}, "unknown_agent"),
    ):
        refused(client.post(path, json=body), 422, code)
    assert client.get(f"{SUITES}/none").status_code == 404


def test_models_tell_whether_they_can_be_used_and_what_they_cost(client, monkeypatch, tmp_path):
    monkeypatch.setenv("BURNISH_CACHE", str(tmp_path))

    listed = client.get(f"{API}/models").json()
    named = {one["name"]: one for one in listed["items"]}
    checked = client.get(f"{API}/models/check", params={"name": MODEL}).json()
    path = client.get(f"{API}/models/check", params={"name": "local//etc/passwd"}).json()

    assert listed["providers"] == ["openai"]
    local = named["local/smollm2-135m"]
    assert (local["ready"], local["input_price"]) == (False, 0.0)
    assert "burnish models pull smollm2-135m" in local["fix"]
    assert (checked["allowed"], checked["ready"], checked["input_price"]) == (True, True, None)
    assert (path["allowed"], path["ready"]) == (False, False)


def test_a_known_price_is_told_and_a_missing_key_with_its_fix(client, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL")
    asked = {"name": "openai/gpt-4o-mini"}

    without = client.get(f"{API}/models/check", params=asked).json()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    with_key = client.get(f"{API}/models/check", params=asked).json()

    assert (without["allowed"], without["ready"]) == (False, False)
    assert (with_key["allowed"], with_key["ready"]) == (True, True)
    assert 0 < with_key["input_price"] < with_key["output_price"]
    assert "sk-of-a-test" not in str(with_key)


def test_one_input_is_tried_before_anything_is_saved(client, model):
    draft = {key: AGENT[key] for key in ("model", "labels")}
    body = {**draft, "configuration": PROMPT, "input": {"text": "the invoice is wrong"}}

    before = client.get(AGENTS).json()
    tried = client.post(f"{AGENTS}/try", json=body)
    again = client.post(f"{AGENTS}/try", json=body)

    assert tried.status_code == 200, tried.text
    first = tried.json()
    assert (first["text"], first["calls"], first["input_tokens"]) == ("technical", 1, 40)
    assert (first["cost_usd"], first["cached"]) == (None, False)
    assert (again.json()["text"], again.json()["cached"]) == ("technical", True)
    assert client.get(AGENTS).json() == before


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"input": {}}, "placeholder_unknown"),
        ({"model": "openai/"}, "model_not_allowed"),
        ({"model": "replay//etc/passwd"}, "model_not_allowed"),
        ({"agent": "nobody"}, "invalid_request"),
        ({"run": "os:system"}, "invalid_request"),
        ({"configuration": {"sections": {"user": "no placeholder"}}}, "no_placeholder"),
    ],
)
def test_what_cannot_be_tried_is_refused(client, change, code):
    body = {"model": MODEL, "configuration": PROMPT, "input": {"text": "x"}, **change}

    refused(client.post(f"{AGENTS}/try", json=body), 422, code)


def test_a_try_needs_a_known_agent_and_a_free_place(client, model):
    body = {"agent": "nobody", "configuration": PROMPT, "input": {"text": "x"}}

    refused(client.post(f"{AGENTS}/try", json=body), 404, "not_found")


def test_the_whole_way_to_a_promoted_winner(client):
    agent = client.post(AGENTS, json={**AGENT, "configuration": PROMPT, "author": "ada"})
    assert agent.status_code == 201, agent.text
    stored = upload(client, "tickets", ROWS).json()
    suite = client.post(
        SUITES,
        json={
            "name": "tickets",
            "dataset_id": stored["dataset_id"],
            "scorers": EXACT,
            "split": SPLIT,
        },
    )
    assert suite.status_code == 201, suite.text
    evaluated = finished(client, {"agent": "router", "suite": "tickets"})
    wanted = {"agent": "router", "suite": "tickets", "optimizer": {"name": "few_shot"}}
    run_id = client.post(
        OPTIMIZATIONS, json={**wanted, "budget": {"max_trials": 4}, "seed": 1}
    ).json()["optimization_id"]
    run = _ended(client, run_id)
    promoted = client.post(f"{OPTIMIZATIONS}/{run_id}/promote", json={"promoted_by": "ada"})

    assert evaluated["result"]["score"] == 0.5
    assert (run["status"], run["best"]["score"]) == ("completed", 1.0)
    assert promoted.status_code == 200, promoted.text
    active = client.get(f"{AGENTS}/router").json()
    assert active["active_version"] == 2
    tried = client.post(
        f"{AGENTS}/try",
        json={
            "agent": "router",
            "configuration": active["configuration"],
            "input": {"text": "the invoice is wrong"},
        },
    )
    assert tried.json()["text"] == "billing"
    # Rows that results belong to stay, also without a suite.
    assert client.delete(f"{SUITES}/tickets").status_code == 200
    kept = refused(client.delete(f"{API}/datasets/{stored['dataset_id']}"), 409, "in_use")
    assert "results of" in kept["message"]


def _ended(client, run_id):
    deadline = time.monotonic() + DEADLINE
    while True:
        run = client.get(f"{OPTIMIZATIONS}/{run_id}").json()
        if run["status"] in ("completed", "failed", "cancelled"):
            return run
        assert time.monotonic() < deadline, run
        time.sleep(0.01)


def test_what_something_uses_is_not_deleted_and_the_rest_is(client):
    made = {**AGENT, "name": "gone", "configuration": PROMPT}
    client.post(AGENTS, json=made)
    rows = upload(client, "gone", [{"text": f"row {n}", "label": "billing"} for n in range(12)])
    dataset = f"{API}/datasets/{rows.json()['dataset_id']}"
    suite = {"name": "gone", "dataset_id": rows.json()["dataset_id"], "scorers": EXACT}
    made_suite = client.post(SUITES, json={**suite, "split": SPLIT}).json()
    optimizers = "/planar/v1/agents/gone/optimizers/"
    saved = client.post(
        optimizers,
        json={
            "name": "nightly",
            "suite_id": made_suite["suite_id"],
            "optimizer": "few_shot",
            "settings": {},
        },
    )
    assert saved.status_code == 201, saved.text

    held = [
        refused(client.delete(path), 409, "in_use")
        for path in (f"{AGENTS}/gone", f"{SUITES}/gone", dataset)
    ]
    done = [
        client.delete(path).status_code
        for path in (f"{optimizers}nightly", f"{SUITES}/gone", f"{AGENTS}/gone", dataset)
    ]

    assert ["nightly" in held[0]["message"], "nightly" in held[1]["message"]] == [True, True]
    assert "the suite 'gone'" in held[2]["message"]
    assert done == [200] * 4
    for path in (f"{AGENTS}/gone", f"{SUITES}/gone", dataset):
        assert (client.get(path).status_code, client.delete(path).status_code) == (404, 404)
    assert "gone" not in [one["name"] for one in client.get(AGENTS).json()["items"]]
    again = client.post(AGENTS, json=made)
    assert (again.status_code, again.json()["active_version"]) == (201, 2)
    assert client.delete(f"{AGENTS}/gone").status_code == 200
