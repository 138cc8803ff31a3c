"""HTTP agents that a request names: only where the server allows them, and only those addresses."""

import json
from urllib.parse import urlsplit

import pytest
from registry_world import AGENTS, EVALUATIONS, ended, finished, refused
from serving_world import (
    OPTIMIZATIONS,
    ServerThread,
    make_served_project,
    settings_of,
    wait_until_final,
)
from tests.servers.misbehaving import respond, running_server, status

from burnish.config.served_project import ServeOptions
from burnish.server.http.settings import ServerSettings

TEXTS = {"sections": {"system": "Billing or technical?"}, "parameters": {"tone": "kind"}}


async def label(request, writer):
    """A service that knows every answer."""
    await respond(writer, 200, json.dumps({"output": request.body["item"]["label"]}).encode())


@pytest.fixture(scope="module")
def service():
    with running_server(otherwise=label) as running:
        yield running


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_served_project(tmp_path_factory.mktemp("http") / "served", items=10)


@pytest.fixture(scope="module")
def server(folder, service):
    listed = ("*", urlsplit(service.base_url).netloc)
    with ServerThread(settings_of(folder, allowed_urls=listed)) as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    with server.client() as opened:
        yield opened


def body(name, url, **more):
    return {"name": name, "url": url, "configuration": TEXTS, **more}


def test_an_allowed_service_is_registered_and_evaluated(client, service):
    new = body("known", f"{service.base_url}/run?key=hidden", version="1", concurrency=2)

    made = client.post(AGENTS, json=new)
    again = client.post(AGENTS, json=new)
    view = finished(client, {"agent": "known"})

    assert made.status_code == again.status_code == 201, made.text
    assert made.json() == again.json() == client.get(f"{AGENTS}/known").json()
    assert (made.json()["kind"], made.json()["source"]) == ("http", "registry")
    assert made.json()["url"] == f"{service.base_url}/run"
    assert view["status"] == "completed", view
    assert (view["result"]["items"], view["result"]["errors"]) == (10, 0)
    sent = service.seen[-1]
    assert sent.path == "/v1/run?key=hidden"
    assert sent.headers["host"] == urlsplit(service.base_url).netloc
    assert sent.body["configuration"]["parameters"] == {"tone": "kind"}
    other = {**new, "url": f"{service.base_url}/other"}
    taken = refused(client.post(AGENTS, json=other), 409, "name_taken")
    assert "add a version" in taken["fix"]


def test_an_allowed_service_is_optimized_and_the_run_can_be_copied(client, service):
    client.post(AGENTS, json=body("searched", f"{service.base_url}/run"))
    wanted = {"agent": "searched", "budget": {"max_trials": 1}}

    made = client.post(OPTIMIZATIONS, json=wanted)
    view = wait_until_final(client, made.json()["optimization_id"])
    copy = client.post(f"{OPTIMIZATIONS}/{made.json()['optimization_id']}/duplicate", json={})

    assert view["status"] == "completed", view
    assert copy.status_code == 201, copy.text


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1:1/run", "url_refused"),
        ("http://2130706433/", "url_refused"),
        ("http://0x7f.1/", "url_refused"),
        ("http://[::ffff:127.0.0.1]/", "url_refused"),
        ("http://10.0.0.1/", "url_refused"),
        ("http://169.254.169.254/latest/meta-data/", "url_refused"),
        ("http://metadata.google.internal/", "url_refused"),
        ("http://user:secret@93.184.216.34/", "url_refused"),
        ("ftp://93.184.216.34/", "url_refused"),
        ("http://[x/", "url_refused"),
        ("http://a..b/", "url_refused"),
    ],
)
def test_a_service_inside_is_refused_where_only_public_ones_are_allowed(client, url, code):
    answer = refused(client.post(AGENTS, json=body("inside", url)), 422, code)

    assert "secret" not in answer["message"]
    assert client.get(f"{AGENTS}/inside").status_code == 404


@pytest.mark.parametrize(
    "change",
    [
        {"model": "openai/gpt-test"},
        {"url": None},
        {"labels": ["a", "b"]},
        {"output_schema": {"type": "object"}},
        {"concurrency": 1000},
        {"timeout_seconds": 0},
        {"url": None, "model": "openai/gpt-test", "version": "1"},
    ],
)
def test_an_agent_is_either_a_prompt_or_a_service(client, change):
    new = {**body("both", "http://93.184.216.34/"), **change}

    refused(client.post(AGENTS, json=new), 422, "invalid_request")


def test_a_redirect_is_not_followed(folder):
    with running_server(otherwise=label) as inside:
        away = status(307, location=f"{inside.base_url}/secret")
        with running_server(otherwise=away) as moved:
            listed = (urlsplit(moved.base_url).netloc,)
            settings = settings_of(folder, allowed_urls=listed, database=str(folder / "moved.db"))
            with ServerThread(settings) as other, other.client() as there:
                there.post(AGENTS, json=body("moved", f"{moved.base_url}/run"))
                view = finished(there, {"agent": "moved"})

    assert view["result"]["errors"] == 10, view
    assert moved.requests >= 1
    assert inside.requests == 0


def test_a_server_without_the_allowance_neither_registers_nor_runs_it(folder, service):
    database, url = str(folder / "strict.db"), f"{service.base_url}/run"
    listed = (urlsplit(url).netloc,)
    wanted = {"agent": "elsewhere", "budget": {"max_trials": 1}}
    generous = settings_of(folder, database=database, allowed_urls=listed, execute=False)
    with ServerThread(generous) as server, server.client() as client:
        client.post(AGENTS, json=body("elsewhere", url))
        run = client.post(OPTIMIZATIONS, json=wanted).json()["optimization_id"]
        evaluation = client.post(EVALUATIONS, json={"agent": "elsewhere"}).json()["experiment_id"]
    asked = service.requests

    with ServerThread(settings_of(folder, database=database)) as server, server.client() as client:
        new = refused(client.post(AGENTS, json=body("new", url)), 422, "url_not_allowed")
        refused(client.post(EVALUATIONS, json={"agent": "elsewhere"}), 422, "url_not_allowed")
        refused(client.post(OPTIMIZATIONS, json=wanted), 422, "url_not_allowed")
        view = wait_until_final(client, run)
        evaluated = ended(client, evaluation)

    assert "--allow-url" in new["fix"]
    assert "BURNISH_ALLOWED_URLS" in new["fix"]
    assert view["status"] == evaluated["status"] == "failed"
    assert evaluated["error"]["code"] == "url_not_allowed"
    assert "allows no request to name" in json.dumps(view), view
    assert service.requests == asked


def test_options_and_variable_say_together_what_is_allowed(folder):
    options = ServeOptions(
        config=folder / "burnish.toml", database="unused", allowed_urls=("a.example",)
    )

    settings = ServerSettings.of(options, {"BURNISH_ALLOWED_URLS": "b.example:81,*"})

    assert settings.allowed_urls == ("a.example", "b.example:81", "*")
    assert settings.urls.require_listed("http://b.example:81/").port == 81
