"""Requests of Opik's clients: their keys, their sizes, their mistakes, and what newer ones may add."""

import gzip
import json

import pytest
from opik_world import PRIVATE, OpikSender, new_id
from serving_world import ServerThread, make_served_project, settings_of

from burnish.server.http.auth import Keys
from burnish.server.opik import requests as bodies

WRITE, READ = "writer-0123456789abcdef", "reader-0123456789abcdef"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_served_project(tmp_path_factory.mktemp("opik_requests"), items=4)


@pytest.fixture(scope="module")
def opik(project):
    with ServerThread(settings_of(project, execute=False)) as server, server.client() as client:
        yield OpikSender(client)


@pytest.fixture(scope="module")
def guarded(project):
    keys = Keys.of(f"ops:write:{WRITE} eyes:read:{READ}")
    settings = settings_of(project, execute=False, keys=keys)
    with ServerThread(settings) as server, server.client() as client:
        yield client


def test_a_client_finds_the_server_its_workspace_and_its_project(opik):
    assert opik.send("GET", "/api/is-alive/ping").json()["healthy"] is True
    assert opik.send("GET", "/api/is-alive/ver").json()["version"]
    assert opik.send("GET", "auth/workspace").json()["workspaceName"] == "default"
    first, again = (opik.send("POST", "projects/retrieve", {"name": "P"}).json() for _ in "12")
    assert first == again == opik.send("GET", f"projects/{first['id']}").json()
    assert first["name"] == "P"


@pytest.mark.parametrize("header", [WRITE, f"Bearer {WRITE}", f"bearer {WRITE}"])
def test_a_key_comes_as_opik_sends_it_or_as_others_do(guarded, header):
    assert OpikSender(guarded, key=header).send("GET", "/api/is-alive/ping")


@pytest.mark.parametrize(
    "header", ["", f"{WRITE}x", "Bearer", f"Basic {WRITE}", f"{WRITE} {WRITE}"]
)
def test_a_wrong_key_is_no_key(guarded, header):
    answer = OpikSender(guarded, key=header).send("GET", "/api/is-alive/ping", status=401)

    assert "no key" in answer.json()["message"]


def test_a_bare_key_opens_nothing_else_and_a_reading_one_changes_nothing(guarded):
    elsewhere = guarded.get("/v1/private/optimizations", headers={"Authorization": WRITE})
    reader = OpikSender(guarded, key=READ)

    assert elsewhere.status_code == 401
    assert reader.send("GET", "auth/workspace")
    refused = reader.send("POST", "datasets", {"name": "n"}, status=403)
    assert refused.json()["code"] == "read_only_key"


def test_no_route_of_theirs_answers_without_a_key_or_to_another_site(guarded, opik):
    for method, path in PATHS:
        assert guarded.request(method, path).status_code == 401, path
        if method != "GET":
            foreign = opik.client.request(method, path, headers={"Origin": "http://evil.example"})
            assert foreign.status_code == 403, path


PATHS = [
    ("GET", "/api/is-alive/ping"),
    ("GET", "/api/is-alive/ver"),
    ("GET", f"{PRIVATE}/auth"),
    ("GET", f"{PRIVATE}/auth/workspace"),
    ("POST", f"{PRIVATE}/projects/retrieve"),
    ("GET", f"{PRIVATE}/projects/x"),
    ("POST", f"{PRIVATE}/datasets"),
    ("POST", f"{PRIVATE}/datasets/retrieve"),
    ("PUT", f"{PRIVATE}/datasets/items"),
    ("POST", f"{PRIVATE}/datasets/items/stream"),
    ("GET", f"{PRIVATE}/datasets/x"),
    ("GET", f"{PRIVATE}/datasets/x/versions"),
    ("GET", f"{PRIVATE}/datasets/x/items"),
    ("POST", f"{PRIVATE}/optimizations"),
    ("PUT", f"{PRIVATE}/optimizations/x"),
    ("GET", f"{PRIVATE}/optimizations/x"),
    ("POST", f"{PRIVATE}/experiments"),
    ("GET", f"{PRIVATE}/experiments/x"),
    ("POST", f"{PRIVATE}/experiments/items"),
    ("POST", f"{PRIVATE}/experiments/finish"),
    ("POST", f"{PRIVATE}/traces/batch"),
    ("POST", f"{PRIVATE}/spans/batch"),
    ("PUT", f"{PRIVATE}/traces/feedback-scores"),
]


def test_a_dataset_that_is_not_there_is_a_404_with_a_message(opik):
    for method, path, body in (
        ("POST", "datasets/retrieve", {"dataset_name": "none such"}),
        ("GET", f"datasets/{new_id()}", None),
        ("GET", f"datasets/{new_id()}/items", None),
        ("PUT", "datasets/items", {"dataset_id": new_id(), "items": []}),
        ("GET", f"experiments/{new_id()}", None),
        ("GET", "projects/None", None),
        ("GET", f"optimizations/{new_id()}", None),
        ("PUT", f"optimizations/{new_id()}", {"status": "completed"}),
        ("POST", "experiments/finish", {"ids": [new_id()]}),
    ):
        assert "there is no" in opik.send(method, path, body, status=404).json()["message"]


def test_rows_come_in_pages_and_as_lines(opik):
    ids = opik.dataset("paged", rows=5)
    found = opik.send("POST", "datasets/retrieve", {"dataset_name": "paged"}).json()
    wanted = {"dataset_name": "paged", "steam_limit": 2, "dataset_version": None}

    page = opik.send("GET", f"datasets/{found['id']}/items?page=2&size=2").json()
    lines, last = [], None
    while True:
        told = opik.send("POST", "datasets/items/stream", wanted | {"last_retrieved_id": last}).text
        if not told:
            break
        lines += [json.loads(line) for line in told.splitlines()]
        last = lines[-1]["id"]

    assert (found["dataset_items_count"], page["total"]) == (5, 5)
    assert [one["id"] for one in page["content"]] == ids[2:4]
    assert [one["id"] for one in lines] == ids
    assert lines[0]["data"] == {"ticket": "ticket 0", "label": "billing"}
    assert (
        opik.send("GET", f"datasets/{found['id']}/versions?page=1&size=1").json()["content"] == []
    )


def test_a_row_that_is_sent_again_is_changed_in_its_place(opik):
    first, second = opik.dataset("changed", rows=2)
    rows = [{"id": first, "data": {"ticket": "new"}}, {"id": new_id(), "data": {}}]
    opik.send("PUT", "datasets/items", {"dataset_name": "changed", "items": rows})

    told = opik.send("POST", "datasets/items/stream", {"dataset_name": "changed"}).text
    found = [json.loads(line) for line in told.splitlines()]
    assert [one["id"] for one in found[:2]] == [first, second]
    assert [one["data"] for one in found][::2] == [{"ticket": "new"}, {}]


def test_workspaces_have_names_of_their_own(opik):
    other = OpikSender(opik.client, workspace="other")
    opik.dataset("shared", rows=1)
    other.send("POST", "datasets/retrieve", {"dataset_name": "shared"}, status=404)
    other.dataset("shared", rows=2)

    found = [
        one.send("POST", "datasets/retrieve", {"dataset_name": "shared"}) for one in (opik, other)
    ]
    assert [one.json()["dataset_items_count"] for one in found] == [1, 2]


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"", 422),
        (b"[]", 422),
        (b"{", 422),
        (b'{"traces": 7}', 422),
        (b'{"traces": [{"name": "no id"}]}', 422),
        (b'{"traces": [{"id": "' + b"x" * 101 + b'"}]}', 422),
        (b'{"traces":' + b"[" * 5000 + b"]" * 5000 + b"}", 422),
        (b"\xff\xfe", 422),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(opik, content, status):
    for packed in (content, gzip.compress(content)):
        kind = {"Content-Encoding": "gzip"} if packed is not content else {}
        answer = opik.client.post(f"{PRIVATE}/traces/batch", content=packed, headers=kind)
        assert answer.status_code == status, answer.text
        assert answer.json()["message"]


def test_what_is_not_packed_as_it_says_or_unpacks_to_too_much_is_refused(opik):
    def post(content):
        kind = {"Content-Encoding": "gzip"}
        return opik.client.post(f"{PRIVATE}/traces/batch", content=content, headers=kind)

    whole = gzip.compress(b'{"traces": []}')
    assert post(whole).status_code == 204
    assert post(b"plain").status_code == 400
    assert post(whole[:-9]).status_code == 400
    bomb = gzip.compress(b" " * (bodies.MAX_UNPACKED_BYTES + 1))
    assert len(bomb) < 100_000
    assert post(bomb).status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b'{"traces": [{"id": "x", "output": ' + b"[" * 5_000 + b"]" * 5_000 + b"}]}",
        b"[" * 100_000,
        b'{"traces": [{"id": "x", "output": NaN}]}',
        b'{"traces": [{"id": "x", "name": "\xff\xfe"}]}',
        b'{"traces": ' + b"9" * 5_000 + b"}",
    ],
    ids=["deep", "deeper", "nan", "utf-8", "digits"],
)
def test_what_is_packed_may_be_strange_and_is_refused(opik, body):
    for path, kind in (
        ("traces/batch", "POST"),
        ("spans/batch", "POST"),
        ("datasets/items", "PUT"),
    ):
        for packed in (False, True):
            content, headers = (gzip.compress(body), "gzip") if packed else (body, "identity")
            answer = opik.client.request(
                kind,
                f"{PRIVATE}/{path}",
                content=content,
                headers={"Content-Encoding": headers, "Content-Type": "application/json"},
            )
            assert 400 <= answer.status_code < 500, (path, packed, answer.text[:200])


def test_a_batch_may_be_larger_than_other_requests(opik):
    trace = {"id": new_id(), "name": "large", "output": "x" * 3_000_000}
    opik.send("POST", "traces/batch", {"traces": [trace]}, pack=False)

    whole = b" " * 20_000_001
    answer = opik.client.post(f"{PRIVATE}/traces/batch", content=whole)
    assert answer.status_code == 413


def test_batches_have_an_end(opik):
    many = [{"id": new_id(), "name": "n", "value": 1.0} for _ in range(5001)]
    opik.send("PUT", "traces/feedback-scores", {"scores": many}, status=422)


def test_fields_that_nobody_knows_yet_do_no_harm(opik):
    [row] = opik.dataset("newer", rows=1)
    run = opik.optimization("newer", studio_config={"a": [1]}, brand_new={"b": None})
    opik.trial(run, "newer", {row: 1}, candidate_id={"not": "text"}, parent_ids="c", step_index="x")
    trace = {"id": new_id(), "input": "text", "output": ["a", 1], "metadata": 7, "brand_new": {}}
    opik.send("POST", "traces/batch", {"traces": [trace], "brand_new": 1})
    opik.send("PATCH", f"traces/{trace['id']}", {"end_time": "not a time", "error_info": "odd"})
    span = {"trace_id": trace["id"], "usage": {"prompt_tokens": "many"}, "type": "llm"}
    opik.send("PATCH", f"spans/{new_id()}", span)
    opik.send("POST", "spans", {"id": new_id(), **span, "parent_span_id": "gone"})
    odd = opik.experiment(run, "newer", {"s": "x"}, configuration=["what", 1], kind="trial")
    item = {"experiment_id": odd, "dataset_item_id": row, "trace_id": trace["id"]}
    opik.send("POST", "experiments/items", {"experiment_items": [item]})
    opik.send("PATCH", f"experiments/{odd}", {"metadata": {"note": "n"}, "status": "completed"})

    trials = opik.trials(run)
    assert [one["status"] for one in trials] == ["completed", "completed"]
    assert opik.items(run, trials[1]["candidate_id"])[0]["output"]["text"] == '["a", 1]'
    assert opik.send("GET", f"experiments/{odd}").json()["metadata"]["note"] == "n"
