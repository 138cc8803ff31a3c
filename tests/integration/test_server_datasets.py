"""Datasets, suites, evaluations and regression cases over HTTP, on a real server."""

import json

import pytest
from registry_world import (
    AGENTS,
    CASES,
    DATASETS,
    EVALUATIONS,
    EXACT,
    ROWS,
    SUITES,
    finished,
    lines,
    pages,
    refused,
    registry_client,
    upload,
)
from serving_world import OPTIMIZATIONS, wait_until_final


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with registry_client(tmp_path_factory.mktemp("registry") / "served") as opened:
        yield opened


def test_rows_are_stored_once_and_come_in_pages(client):
    first, second = upload(client, "twice").json(), upload(client, "twice").json()

    assert (first["created"], second["created"]) == (True, False)
    assert first["dataset_id"] == second["dataset_id"]
    assert first["items"] == 12
    items = pages(client, f"{DATASETS}/{first['dataset_id']}/items")
    assert [one["data"] for one in items] == ROWS
    assert [one["dataset_id"] for one in pages(client, DATASETS, name="twice")] == [
        first["dataset_id"]
    ]
    assert client.get(f"{DATASETS}/{first['dataset_id']}").json()["items"] == 12


def test_csv_and_json_are_taken_by_their_type(client):
    table = 'text,label,split\r\nhello,billing,test\r\n"a, b",technical,train\r\n'
    by_type = client.post(
        DATASETS, params={"name": "t1"}, content=table, headers={"Content-Type": "text/csv"}
    ).json()
    listed = client.post(DATASETS, params={"name": "t2"}, json=ROWS[:3]).json()

    items = client.get(f"{DATASETS}/{by_type['dataset_id']}/items").json()["items"]
    assert [(one["data"]["text"], one["split"]) for one in items] == [
        ("hello", "test"),
        ("a, b", "train"),
    ]
    assert listed["items"] == 3


def test_each_bad_row_is_named_and_nothing_is_stored(client):
    content = lines(ROWS[:2]) + "{broken\n[1]\n" + '{"id": "a", "x": 1}\n{"id": "a", "x": 2}\n'

    answer = refused(
        client.post(DATASETS, params={"name": "broken"}, content=content), 422, "broken_row"
    )

    assert [one["where"].split(",")[0] for one in answer["problems"]] == [
        "line 3",
        "line 4",
        "line 6",
    ]
    assert "/" not in answer["message"], "no path of the server"
    assert pages(client, DATASETS, name="broken") == []
    refused(client.post(DATASETS, params={"name": "none"}, content=""), 422, "empty_dataset")
    refused(client.post(DATASETS, params={"name": "../x"}, content="{}"), 422, "invalid_request")


def test_an_upload_that_is_too_large_is_cut_off(client):
    def endless():
        for n in range(10_000):
            yield (json.dumps({"n": n, "text": "x" * 1000}) + "\n").encode()

    answer = client.post(DATASETS, params={"name": "huge"}, content=endless())

    refused(answer, 413, "too_large")
    assert pages(client, DATASETS, name="huge") == []


# Suites


def test_a_suite_is_made_changed_and_used(client):
    dataset = upload(client, "for-suite").json()["dataset_id"]
    body = {"name": "mine", "dataset_id": dataset, "scorers": EXACT}

    first = client.post(SUITES, json=body)
    same = client.post(SUITES, json=body)
    second = client.post(SUITES, json={**body, "repeats": 2, "author": "ada"})

    assert first.status_code == 201, first.text
    assert first.json() == same.json()
    assert (second.json()["version"], second.json()["suite_id"]) == (2, first.json()["suite_id"])
    assert client.get(f"{SUITES}/{first.json()['suite_id']}").json() == second.json()
    listed = [one for one in pages(client, SUITES) if one["name"] in ("rows", "mine")]
    assert [(one["name"], one["source"]) for one in listed] == [
        ("rows", "configuration"),
        ("mine", "registry"),
    ]
    assert client.get(f"{SUITES}/rows").json() == listed[0]
    stale = {**body, "repeats": 3, "expected_version": 1}
    refused(client.post(SUITES, json=stale), 409, "version_moved")
    view = finished(client, {"suite": "mine"})
    assert view["result"]["items"] == 24


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"scorers": [{"kind": "python", "function": "os:system"}]}, "code_not_allowed"),
        ({"scorers": [{"kind": "exact_match", "field": "nowhere"}]}, "unknown_field"),
        ({"scorers": [{"kind": "no_such"}]}, "unknown_scorer"),
        (
            {"scorers": [{"kind": "judge", "criteria": "x", "model": "openai/d"}]},
            "model_not_allowed",
        ),
        ({"scorers": ["my_agent:score"]}, "invalid_request"),
        ({"split": {"train": 0.4, "test": 0.1}}, "invalid_split"),
        ({"dataset_id": "nope"}, "not_found"),
        ({"name": "rows"}, "name_taken"),
    ],
)
def test_a_suite_that_could_never_run_is_not_made(client, change, code):
    dataset = upload(client, "for-suite").json()["dataset_id"]
    body = {"name": "odd", "dataset_id": dataset, "scorers": EXACT, **change}

    answer = client.post(SUITES, json=body)

    assert answer.json()["code"] == code, answer.text
    assert client.get(f"{SUITES}/odd").status_code == 404


def test_an_optimization_runs_on_a_stored_suite(client):
    dataset = upload(client, "for-run").json()["dataset_id"]
    client.post(SUITES, json={"name": "stored", "dataset_id": dataset, "scorers": EXACT})

    made = client.post(OPTIMIZATIONS, json={"suite": "stored", "budget": {"max_trials": 2}})
    assert made.status_code == 201, made.text
    view = wait_until_final(client, made.json()["optimization_id"])

    assert (view["status"], view["suite"]) == ("completed", "stored")
    again = client.post(f"{OPTIMIZATIONS}/{view['optimization_id']}/duplicate").json()
    assert again["request"]["suite"] == "stored"


# Evaluations and regression cases


def test_overrides_are_used_and_never_saved(client):
    before = client.get(f"{AGENTS}/tickets").json()
    overrides = {"sections": {"system": "Another wording."}}

    view = finished(client, {"overrides": overrides, "split": "validation", "name": "a look"})

    assert view["configuration"]["sections"]["system"] == "Another wording."
    assert view["configuration"]["sections"]["user"] == "{{text}}"
    assert (view["overrides"], view["name"]) == (overrides, "a look")
    assert view["result"]["items"] == 8
    assert client.get(f"{AGENTS}/tickets").json() == before
    listed = pages(client, EVALUATIONS)
    assert view["experiment_id"] in [one["experiment_id"] for one in listed]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"agent": "nobody"}, 422, "unknown_agent"),
        ({"suite": "nothing"}, 422, "unknown_suite"),
        ({"agent_version": 77}, 404, "not_found"),
        ({"overrides": {"sections": {"a b": "x"}}}, 422, "invalid_configuration"),
        ({"split": "other"}, 422, "invalid_request"),
    ],
)
def test_an_evaluation_that_cannot_be_run_is_refused(client, body, status, code):
    refused(client.post(EVALUATIONS, json=body), status, code)


def test_failing_items_become_regression_cases_with_their_origin(client):
    view = finished(client, {"overrides": {"sections": {"system": "Poor wording."}}})
    failing = pages(client, f"{EVALUATIONS}/{view['experiment_id']}/items", failing=True)
    body = {"name": "cases", "experiment_id": view["experiment_id"]}

    stored = client.post(CASES, json=body).json()
    other = finished(client, {"overrides": {"sections": {"system": "Other wording."}}})
    more = {"name": "cases", "experiment_id": other["experiment_id"], "into": stored["dataset_id"]}
    grown = client.post(CASES, json=more).json()

    assert stored["items"] == stored["added"] == len(failing) > 0
    items = pages(client, f"{DATASETS}/{grown['dataset_id']}/items")
    assert len(items) == stored["items"] + grown["added"]
    assert {one["item_id"] for one in items[: stored["items"]]} == {
        one["item_id"] for one in failing
    }
    origins = [one["origin"]["experiment_id"] for one in items]
    assert (
        origins
        == [view["experiment_id"]] * stored["items"] + [other["experiment_id"]] * grown["added"]
    )
    assert all(one["origin"]["output"] and one["origin"]["reason"] for one in items)
    assert all(one["origin"]["failed"] == ["exact_match"] for one in items)
    again = client.post(CASES, json={**more, "into": None, "append": True}).json()
    assert (again["dataset_id"], again["added"]) == (grown["dataset_id"], 0)
    one = {"name": "one", "experiment_id": view["experiment_id"]}
    assert (
        client.post(CASES, json={**one, "item_ids": [failing[0]["item_id"]]}).json()["items"] == 1
    )
    refused(client.post(CASES, json={**one, "item_ids": ["other"]}), 422, "nothing_failing")
    suite = {"name": "cases", "dataset_id": grown["dataset_id"], "scorers": EXACT}
    assert client.post(SUITES, json=suite).status_code == 201
    refused(client.post(CASES, json={**body, "which": "regressed"}), 422, "no_baseline")


def test_regressed_items_are_those_that_the_baseline_passed(client):
    made = client.post(OPTIMIZATIONS, json={"budget": {"max_trials": 2}}).json()
    run = wait_until_final(client, made["optimization_id"])
    trials = client.get(f"{OPTIMIZATIONS}/{run['optimization_id']}/trials").json()["items"]
    results = [
        {
            one["item_id"]: one["passed"]
            for one in pages(client, f"{EVALUATIONS}/{trial['experiment_id']}/items")
        }
        for trial in trials
    ]
    expected = {key for key, passed in results[1].items() if not passed and results[0].get(key)}

    answer = client.post(
        CASES,
        json={
            "name": "regressed",
            "experiment_id": trials[1]["experiment_id"],
            "which": "regressed",
        },
    )

    if not expected:
        refused(answer, 422, "nothing_failing")
    else:
        items = client.get(f"{DATASETS}/{answer.json()['dataset_id']}/items").json()["items"]
        assert {one["item_id"] for one in items} == expected
        assert {one["origin"]["optimization_id"] for one in items} == {run["optimization_id"]}
