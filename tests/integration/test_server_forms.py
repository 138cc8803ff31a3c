"""What forms are made from: kinds with their settings, estimates, items of suites, compressions."""

import json

import jsonschema
import pytest
from registry_world import AGENTS, DATASETS, EXACT, SUITES, pages, refused, upload
from serving_world import (
    API,
    OPTIMIZATIONS,
    ServerThread,
    make_served_project,
    settings_of,
    wait_until_final,
)

from burnish.optimizers.catalog import build_optimizer

OPTIMIZERS = "/planar/v1/agents/tickets/optimizers/"
WORDY = (
    "Please note that you are a very helpful assistant. Thank you very much for your help.\n"
    "Tickets about a refund are billing.\n"
    "In order to do well, please read carefully. In order to do well, read carefully.\n"
    "Tickets about a crash are technical."
)
AGENT = """
def answer(configuration, item):
    text = configuration["sections"]["system"].lower()
    known = ("refund" in text) if item["label"] == "billing" else ("crash" in text)
    return item["label"] if known else "other"
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    project = make_served_project(tmp_path_factory.mktemp("forms"), items=40)
    config = (project / "burnish.toml").read_text()
    priced = (
        'base_url = "http://127.0.0.1:9/v1"\napi_key_env = ""\n'
        "input_price = 1.0\noutput_price = 2.0\n"
    )
    prompt = config.replace('"Classify the ticket as billing or technical."', json.dumps(WORDY))
    (project / "burnish.toml").write_text(prompt + priced)
    (project / "agent.py").write_text(AGENT)
    with ServerThread(settings_of(project)) as running, running.client() as opened:
        yield opened


def test_every_optimizer_has_a_schema_that_its_defaults_fit(client):
    answer = client.get(f"{API}/optimizers").json()
    kinds = {one["name"]: one for one in answer["items"]}

    assert {"auto", "compress", "edits", "gepa", "grid"} <= set(kinds)
    assert [one["name"] for one in answer["items"]] == client.get(f"{API}/project").json()[
        "optimizers"
    ]
    for kind in kinds.values():
        schema = kind["settings"]
        jsonschema.Draft202012Validator.check_schema(schema)
        assert kind["summary"]
        for name, one in schema["properties"].items():
            if "default" in one:
                jsonschema.validate(
                    {**dict.fromkeys(schema["required"], "x"), name: one["default"]}, schema
                )
    jsonschema.Draft202012Validator.check_schema(answer["framework"])
    assert kinds["gepa"]["model"] == "optional"
    assert kinds["meta_prompt"]["model"] == "required"
    assert kinds["edits"]["model"] == "none"
    patience = kinds["edits"]["settings"]["properties"]["patience"]
    assert (patience["type"], patience["default"]) == ("integer", 8)
    assert patience["description"].startswith("Stop after so many")
    assert kinds["gepa"]["settings"]["properties"]["model"]["x-model"] is True
    # What fits the schema is what the optimizer takes.
    defaults = {
        name: one["default"]
        for name, one in kinds["edits"]["settings"]["properties"].items()
        if "default" in one
    }
    assert build_optimizer("edits", defaults).name == "edits"


def test_every_scorer_has_a_schema_and_code_is_marked(client):
    kinds = {one["kind"]: one for one in client.get(f"{API}/scorers").json()["items"]}

    for kind in kinds.values():
        jsonschema.Draft202012Validator.check_schema(kind["settings"])
        assert "weight" in kind["settings"]["properties"]
    assert kinds["exact_match"]["over_http"] is True
    assert kinds["python"]["over_http"] is False
    assert kinds["judge"]["model"] == "required"


def test_a_run_is_estimated_before_it_is_made(client):
    before = client.get(OPTIMIZATIONS).json()

    estimate = client.post(f"{OPTIMIZATIONS}/estimate", json={"budget": {"max_trials": 4}}).json()

    assert estimate["agent"] == "tickets"
    assert estimate["suite"] == "rows"
    assert estimate["splits"] == {"train": 8, "validation": 16, "test": 16}
    assert estimate["evaluations"]["max"] == 16 * 5 + 32
    assert estimate["total"]["least"]["why_unknown"]
    assert estimate["total"]["most"]["cost_usd"] is None
    assert client.get(OPTIMIZATIONS).json() == before, "nothing was made"


def test_the_cost_of_a_prompt_is_estimated(client):
    body = {
        "name": "priced",
        "model": "openai/gpt-test",
        "labels": ["billing", "technical"],
        "configuration": {"sections": {"system": "Billing or technical?", "user": "{{text}}"}},
    }
    assert client.post(AGENTS, json=body).status_code == 201
    run = {"agent": "priced", "budget": {"max_trials": 4}, "optimizer": {"name": "edits"}}

    estimate = client.post(f"{OPTIMIZATIONS}/estimate", json=run).json()

    each, total = estimate["each_evaluation"]["least"], estimate["total"]
    assert each["calls"] == 1
    assert each["cost_usd"] == pytest.approx(
        (each["input_tokens"] + 2 * each["output_tokens"]) / 1e6
    )
    assert total["most"]["calls"] == estimate["evaluations"]["max"] == 112
    assert total["least"]["cost_usd"] == pytest.approx(112 * each["cost_usd"])
    assert total["most"]["cost_usd"] > total["least"]["cost_usd"]
    assert estimate["questions"] is None


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"optimizer": {"name": "edits", "settings": {"patiense": 3}}}, "unknown_setting"),
        ({"optimizer": {"name": "edits", "settings": {"patience": "3"}}}, "invalid_setting"),
        ({"optimizer": {"name": "nobody"}}, "unknown_optimizer"),
        ({"budget": {"max_evaluations": 3}}, "invalid_budget"),
        ({"suite": "nobody"}, "unknown_suite"),
        ({"budget": {"max_trials": -1}}, "invalid_request"),
    ],
)
def test_what_could_not_be_run_cannot_be_estimated(client, body, code):
    refused(client.post(f"{OPTIMIZATIONS}/estimate", json=body), 422, code)


def test_a_configured_optimizer_is_estimated_before_it_is_saved(client):
    config = {
        "name": "nightly",
        "mutation_strategies": ["system_template"],
        "model": "openai/gpt-test",
        "budget": {"max_trials": 3},
    }

    estimate = client.post(f"{OPTIMIZERS}estimate", json=config).json()
    other = client.post(f"{OPTIMIZERS}estimate", json={**config, "schedule": "never"})

    assert estimate["optimizer"] == "gepa"
    assert estimate["evaluations"]["max"] is None
    assert estimate["evaluations"]["about"] == 16 * (3 * 3 + 1) + 32
    assert estimate["questions"]["model"] == "openai/gpt-test"
    assert estimate["questions"]["most"]["calls"] > estimate["questions"]["least"]["calls"] > 0
    assert estimate["questions"]["most"]["cost_usd"] > 0
    assert estimate["seed"] is None
    assert other.status_code == 422
    assert client.get(OPTIMIZERS).json()["items"] == []


def test_items_of_the_servers_own_suite_have_their_splits(client):
    whole = client.get(f"{SUITES}/rows/items", params={"limit": 500}).json()
    test = pages(client, f"{SUITES}/rows/items", split="test")
    found = client.get(f"{SUITES}/rows/items", params={"q": "TICKET 17"}).json()

    assert whole["total"] == 40
    assert whole["splits"] == {"train": 8, "validation": 16, "test": 16}
    assert [one["position"] for one in whole["items"]] == list(range(40))
    assert len(test) == 16
    assert test == [one for one in whole["items"] if one["split"] == "test"]
    assert [one["item_id"] for one in found["items"]] == ["r17"]
    assert client.get(f"{SUITES}/nobody/items").status_code == 404
    wrong = client.get(f"{SUITES}/rows/items", params={"cursor": "WyJwb3NpdGlvbiIsIngiXQ"})
    refused(wrong, 422, "invalid_cursor")


def test_stored_rows_are_searched_in_a_dataset_and_in_its_suite(client):
    rows = [{"text": f"Row {n}", "label": "ab"[n % 2]} for n in range(12)]
    dataset = upload(client, "searched", rows).json()
    suite = {"name": "unsplit", "dataset_id": dataset["dataset_id"], "scorers": EXACT}
    assert client.post(SUITES, json=suite).status_code == 201

    found = client.get(f"{DATASETS}/{dataset['dataset_id']}/items", params={"q": "row 1"}).json()
    of_suite = client.get(f"{SUITES}/unsplit/items", params={"q": "row 1", "split": "none"}).json()
    named = client.get(DATASETS, params={"q": "EARCH"}).json()

    texts = ["Row 1", "Row 10", "Row 11"]
    assert [one["data"]["text"] for one in found["items"]] == texts
    assert [one["data"]["text"] for one in of_suite["items"]] == texts
    assert of_suite["splits"] == {"none": 12}
    assert [one["name"] for one in named["items"]] == ["searched"]


def test_the_report_of_a_compression_is_read(client):
    body = {
        "optimizer": {"name": "compress", "settings": {"min_section_tokens": 5}},
        "budget": {"max_evaluations": 2000},
    }
    made = client.post(OPTIMIZATIONS, json={**body, "start": False}).json()["optimization_id"]
    path = f"{OPTIMIZATIONS}/{made}"
    refused(client.get(f"{path}/compression"), 409, "no_result")
    client.post(f"{path}/resume")
    run = wait_until_final(client, made)

    report = client.get(f"{path}/compression", params={"calls_per_month": 1000}).json()

    assert run["compression"] is True
    tokens = report["tokens"]
    assert tokens["saved"] == tokens["before"] - tokens["after"] > 0
    assert sum(one["before"] for one in tokens["sections"]) == tokens["before"]
    kept = report["modifications"][0]
    assert kept["original_body"] == WORDY
    assert len(kept["proposed_body"]) < len(WORDY)
    assert kept["edits"]
    broken = [one for one in report["rejected"] if one["regression_count"]]
    assert broken
    assert all(len(one["item_ids"]) == one["regression_count"] for one in broken)
    assert report["regressions"] == 0
    assert report["held_out"]["items"] == 16
    assert report["savings"]["tokens_per_month"] == 1000 * tokens["saved"]
    item = {"item_id": broken[0]["item_ids"][0], "candidate_id": run["baseline"]["candidate_id"]}
    assert client.get(f"{path}/item", params=item).status_code == 200


def test_other_runs_have_no_report_of_a_compression(client):
    made = client.post(OPTIMIZATIONS, json={"start": False}).json()["optimization_id"]

    refused(client.get(f"{OPTIMIZATIONS}/{made}/compression"), 422, "not_a_compression")
    refused(client.get(f"{OPTIMIZATIONS}/nothing/compression"), 404, "not_found")
