"""Agents and their versions over HTTP, on a real server."""

import pytest
from registry_world import AGENTS, PROMPT, pages, refused, registry_client

import burnish


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with registry_client(tmp_path_factory.mktemp("registry") / "served") as opened:
        yield opened


def test_the_configured_agent_is_there_and_a_prompt_agent_can_be_made(client):
    body = {"name": "router", "model": "openai/gpt-test", "configuration": PROMPT, "author": "ada"}

    made = client.post(AGENTS, json=body)
    again = client.post(AGENTS, json=body)

    assert made.status_code == again.status_code == 201, made.text
    assert made.json() == again.json()
    assert made.json()["active_version"] == 1
    listed = [one for one in pages(client, AGENTS) if one["name"] in ("tickets", "router")]
    assert [(one["name"], one["kind"], one["source"]) for one in listed] == [
        ("tickets", "python", "configuration"),
        ("router", "prompt", "registry"),
    ]
    assert client.get(f"{AGENTS}/router").json() == made.json()
    other = {**body, "configuration": {"sections": {"user": "{{text}}!"}}}
    refused(client.post(AGENTS, json=other), 409, "name_taken")
    redefined = {**body, "labels": ["billing", "technical"]}
    taken = refused(client.post(AGENTS, json=redefined), 409, "name_taken")
    assert "add a version" in taken["fix"]
    assert client.get(f"{AGENTS}/router").json() == made.json()
    refused(client.post(AGENTS, json={**body, "name": "tickets"}), 409, "name_taken")


@pytest.mark.parametrize("key", ["run", "base_url", "api_key", "headers"])
def test_code_keys_and_addresses_of_models_never_come_from_a_request(client, key):
    body = {"name": "evil", "model": "openai/gpt-test", "configuration": PROMPT, key: "http://x"}

    answer = refused(client.post(AGENTS, json=body), 422, "invalid_request")

    assert "burnish.toml" in answer["message"]
    assert client.get(f"{AGENTS}/evil").status_code == 404


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"model": "local//etc/passwd"}, "model_not_allowed"),
        ({"model": "openai/dear"}, "model_not_allowed"),
        ({"name": "../x"}, "invalid_request"),
        ({"name": "x\n"}, "invalid_request"),
        ({"configuration": {"sections": {"user": "no placeholder"}}}, "no_placeholder"),
        ({"configuration": {"sections": {"a b": "{{text}}"}}}, "invalid_configuration"),
        ({"configuration": {"sections": {"user": {"file": "/etc/passwd"}}}}, "invalid_request"),
    ],
)
def test_an_agent_that_could_never_run_is_not_made(client, change, code):
    body = {"name": "odd", "model": "openai/gpt-test", "configuration": PROMPT, **change}

    refused(client.post(AGENTS, json=body), 422, code)

    assert client.get(f"{AGENTS}/odd").status_code == 404


def test_a_new_version_of_a_prompt_may_name_another_model(client):
    body = {"name": "mover", "model": "openai/gpt-test", "labels": ["billing", "technical"]}
    client.post(AGENTS, json={**body, "configuration": PROMPT, "author": "ada"})
    path, new = f"{AGENTS}/mover", {"configuration": PROMPT, "author": "ada"}

    moved = client.post(f"{path}/versions", json={**new, "model": "scripted/first-label"})

    assert moved.status_code == 201, moved.text
    assert moved.json()["model"] == moved.json()["configuration"]["parameters"]["model"]
    assert client.get(path).json()["model"] == "scripted/first-label"
    assert [one["model"] for one in pages(client, f"{path}/versions")] == [
        "scripted/first-label",
        None,
    ]
    # Its answers come from the model of its version.
    tried = client.post(
        f"{AGENTS}/try",
        json={
            "agent": "mover",
            "configuration": moved.json()["configuration"],
            "input": {"text": "Where is my invoice?"},
        },
    )
    assert tried.json()["text"] == "billing", tried.text
    named = {**PROMPT, "parameters": {"model": "openai/secret"}}
    for refusal in ({**new, "model": "openai/secret"}, {**new, "configuration": named}):
        refused(client.post(f"{path}/versions", json=refusal), 422, "model_not_allowed")
    twice = {**new, "configuration": named, "model": "openai/gpt-test"}
    refused(client.post(f"{path}/versions", json=twice), 422, "invalid_request")
    function = {
        "configuration": {"sections": {"system": "x"}},
        "author": "ada",
        "model": "openai/x",
    }
    refused(client.post(f"{AGENTS}/tickets/versions", json=function), 422, "invalid_agent")
    assert client.get(path).json()["active_version"] == 2


def test_versions_have_authors_a_diff_and_a_way_back(client):
    body = {"name": "history", "model": "openai/gpt-test", "configuration": PROMPT}
    client.post(AGENTS, json=body)
    path = f"{AGENTS}/history"
    changed = {
        "sections": {"system": "Which one?", "user": "{{text}}", "extra.tone": "Be kind."},
        "parameters": {"temperature": 0.5},
    }

    added = client.post(f"{path}/versions", json={"configuration": changed, "author": "bob"})
    back = client.post(f"{path}/revert", json={"version": 1, "author": "eve", "note": "worse"})

    assert (added.status_code, back.status_code) == (201, 201)
    diff = client.get(f"{path}/diff", params={"before": 1, "after": 2}).json()
    assert [one["path"] for one in diff["sections"]] == ["system", "extra.tone"]
    assert diff["parameters"] == [{"name": "temperature", "before": None, "after": 0.5}]
    versions = pages(client, f"{path}/versions")
    assert [(one["version"], one["author"], one["active"]) for one in versions] == [
        (3, "eve", True),
        (2, "bob", False),
        (1, "", False),
    ]
    assert versions[0]["origin"] == {"source": "revert", "reverted_to": 1}
    third = client.get(f"{path}/versions/3").json()
    assert third["configuration"] == client.get(f"{path}/versions/1").json()["configuration"]
    stale = {"version": 2, "author": "eve", "expected_version": 2}
    refused(client.post(f"{path}/revert", json=stale), 409, "version_moved")
    refused(client.post(f"{path}/revert", json={**stale, "version": 9}), 404, "not_found")
    refused(client.get(f"{path}/versions/4"), 404, "not_found")
    refused(client.get(f"{AGENTS}/nobody/versions"), 404, "not_found")


def test_production_code_reads_what_is_active(client):
    address = str(client.base_url)
    body = {"name": "live", "model": "openai/gpt-test", "configuration": PROMPT, "author": "ada"}
    assert client.post(AGENTS, json=body).status_code == 201

    first = burnish.active("live", url=address, ttl=0)
    changed = {"configuration": {"sections": {"user": "{{text}}?"}}, "author": "ada"}
    assert client.post(f"{AGENTS}/live/versions", json=changed).status_code == 201
    second = burnish.active("live", url=address, ttl=0)

    assert (first.version, dict(first.sections)) == (1, PROMPT["sections"])
    assert (second.version, second.sections) == (2, {"user": "{{text}}?"})
    with pytest.raises(burnish.UsageError, match="status 404"):
        burnish.active("nobody", url=address)


def test_what_burnish_toml_has_is_not_deleted_by_a_request(client):
    answer = refused(client.delete(f"{AGENTS}/tickets"), 409, "written_in_file")

    assert "burnish.toml" in answer["message"]


def test_models_are_those_of_burnish_toml_and_the_embedded_ones(client, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")

    listed = client.get("/v1/private/models").json()
    other = client.get("/v1/private/models/check", params={"name": "openai/dear"}).json()

    assert listed["items"][0]["name"] == "openai/gpt-test"
    assert "local/smollm2-135m" in [one["name"] for one in listed["items"]]
    assert (listed["providers"], other["allowed"]) == ([], False)
    assert "burnish.toml" in other["fix"]
