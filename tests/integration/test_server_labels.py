"""Label sets over HTTP, on a real server: made, labelled blind by two people, compared, kept."""

import pytest
from registry_world import DATASETS, SUITES, finished, lines, refused, registry_client, upload
from serving_world import API

SETS = f"{API}/label-sets"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with registry_client(tmp_path_factory.mktemp("registry") / "served") as opened:
        yield opened


def test_two_people_label_a_run_and_their_labels_become_a_dataset(client):
    run = finished(client, {})["experiment_id"]
    body = {"name": "mine", "kind": "pass", "experiment_id": run, "limit": 6}

    made = client.post(SETS, json=body)
    assert made.status_code == 201, made.text
    mine = f"{SETS}/mine"
    for person, failing in (("ada", "024"), ("bob", "02")):
        page = client.get(f"{mine}/tasks", params={"person": person, "limit": 100}).json()
        assert (page["values"], page["total"], page["next_open"]) == (["pass", "fail"], 6, 0)
        assert run not in str(page)
        ids = sorted(one["item_id"] for one in page["tasks"])
        for n, item in enumerate(ids):
            value = "fail" if str(n) in failing else "pass"
            given = {"item_id": item, "person": person, "value": value, "comment": f"c{n}"}
            answers = [client.put(f"{mine}/labels", json=given).json() for _ in range(2)]
            assert answers == [{"changed": True}, {"changed": False}]

    agreement = client.get(f"{mine}/agreement").json()
    (pair,) = agreement["pairs"]
    assert (pair["people"], pair["rows"]) == (["ada", "bob"], 6)
    assert pair["agreement"]["value"] == pytest.approx(5 / 6)
    assert pair["kappa"]["value"] == pytest.approx(2 / 3)
    assert [one["item_id"] for one in agreement["items"]] == [ids[4]]
    assert run not in str(agreement)
    view = client.get(mine).json()
    assert view["source"]["experiments"] == [run]
    assert [(one["person"], one["labelled"]) for one in view["people"]] == [("ada", 6), ("bob", 6)]
    assert [one["name"] for one in client.get(SETS).json()["items"]] == ["mine"]

    version = client.post(f"{mine}/versions", json={"note": "first"}).json()
    assert (version["version"], version["rows"], version["undecided"]) == (1, 5, 1)
    assert client.get(f"{mine}/versions").json() == [version]
    rows = client.get(f"{DATASETS}/{version['dataset_id']}/items").json()["items"]
    assert {one["data"]["label"] for one in rows} == {"pass", "fail"}
    assert rows[0]["origin"]["label_set"] == "mine"
    suite = {"name": "s", "dataset_id": version["dataset_id"], "scorers": [{"kind": "agreement"}]}
    assert client.post(SUITES, json=suite).status_code == 201


def test_labels_come_and_go_as_csv_and_bad_ones_are_named(client):
    rows = [{"id": f"r{n}", "text": f"t{n}"} for n in range(3)]
    dataset = upload(client, "to-label", rows).json()["dataset_id"]
    body = {"name": "csv", "kind": "score", "dataset_id": dataset, "low": 1, "high": 3}
    mine = f"{SETS}/csv"
    assert client.post(SETS, json=body).json()["items"] == 3
    text = "item_id,person,label,comment\nr0,ada,3,\nr1,ada,1,no\n"

    sent = client.post(f"{mine}/labels", content=text)
    bad = client.post(f"{mine}/labels", content=text + "r2,ada,9,\nr7,ada,1,\n")
    as_lines = client.post(
        f"{mine}/labels",
        params={"format": "jsonl", "person": "bob"},
        content=lines([{"id": "r2", "label": 2}]),
    )

    assert sent.json() == {"labels": 2, "new": 2}
    found = refused(bad, 422, "bad_label")
    assert [one["where"] for one in found["problems"]] == ["line 4", "line 5"]
    assert "/" not in found["message"]
    assert as_lines.json() == {"labels": 1, "new": 1}
    written = client.get(f"{mine}/labels")
    assert written.headers["content-type"].startswith("text/csv")
    assert [line.rpartition(",")[0] for line in written.text.splitlines()[1:]] == [
        "r0,ada,3,",
        "r1,ada,1,no",
        "r2,bob,2,",
    ]
    assert client.delete(mine).json()["name"] == "csv"
    refused(client.get(mine), 404, "not_found")


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"experiment_id": "/etc/x.json", "dataset_id": None}, "invalid_labels"),
        ({"kind": "class"}, "invalid_labels"),
        ({"experiment_id": "1"}, "invalid_labels"),
        ({"dataset_id": None}, "invalid_labels"),
        ({"dataset_id": "none"}, "not_found"),
        ({"name": "../x"}, "invalid_request"),
    ],
)
def test_a_set_of_nothing_is_not_made(client, change, code):
    dataset = upload(client, "to-label").json()["dataset_id"]
    body = {"name": "odd", "kind": "pass", "dataset_id": dataset, **change}

    answer = client.post(SETS, json=body)

    assert answer.json()["code"] == code, answer.text
