"""Refinement over HTTP: asked for, counted, and shown round by round."""

import time

import pytest
from serving_world import API, DEADLINE, OPTIMIZATIONS, ServerThread, settings_of, wait_until_final
from tests.support.refine_world import JUDGE, OPTIMIZER, make_refine_project, refine_endpoint

EVALUATIONS = f"{API}/evaluations"


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refined-api")
    with pytest.MonkeyPatch.context() as patch, refine_endpoint() as endpoint:
        patch.setenv("OPENAI_API_KEY", "canary-key")
        split = "split = { train = 0.4, validation = 0.4, test = 0.2 }"
        make_refine_project(folder, endpoint.base_url, split=split)
        with ServerThread(settings_of(folder)) as server, server.client() as client:
            client.endpoint = endpoint
            yield client


@pytest.fixture(scope="module", autouse=True)
def evaluation(client):
    """Before all others: it pays for its calls, and they need not."""
    return evaluated(client, {})


def evaluated(client, body):
    """An evaluation that has ended."""
    answer = client.post(EVALUATIONS, json=body)
    assert answer.status_code == 201, answer.text
    identity = answer.json()["experiment_id"]
    deadline = time.monotonic() + DEADLINE
    while True:
        view = client.get(f"{EVALUATIONS}/{identity}").json()
        if view["status"] in ("completed", "failed", "cancelled"):
            return view
        assert time.monotonic() < deadline, view
        time.sleep(0.02)


def items(client, view, **query):
    answer = client.get(f"{EVALUATIONS}/{view['experiment_id']}/items", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["items"]


def test_sixty_percent_fixed_and_ten_worsened_are_counted_exactly(evaluation):
    found = evaluation["result"]["refinement"]

    assert (found["fixed"], found["improved"], found["unchanged"], found["worsened"]) == (
        12,
        0,
        6,
        2,
    )
    assert (found["outputs"], found["refined"], found["rounds"]) == (20, 20, 28)
    assert found["ended"] == {"limit": 8, "threshold": 12}
    assert [one["outputs"] for one in found["by_round"]] == [20, 20, 8]
    assert found["cost_per_fixed_usd"] == pytest.approx(56 * 60e-6 / 12)


def test_the_settings_are_known_before_the_first_item(client):
    view = client.post(EVALUATIONS, json={"refine": {"limit": 1}}).json()

    assert view["refine"] == {
        "active": True,
        "why_inactive": None,
        "model": OPTIMIZER,
        "limit": 1,
        "threshold": 0.8,
        "answer": "latest",
        "judges": [JUDGE],
    }
    line = client.get(EVALUATIONS).json()["items"][0]
    assert line["refine"]["limit"] == 1


def test_an_item_shows_its_whole_sequence(client, evaluation):
    (item,) = items(client, evaluation, outcome="worsened", limit=1)
    first, second, third = item["rounds"]

    assert item["item_id"] == "i006"
    assert item["refinement"] == {
        "rounds": 2,
        "first_score": 0.5,
        "latest_score": 0.2,
        "best_score": 0.5,
        "best_round": 0,
        "answer": "latest",
        "answer_round": 2,
        "ended": "limit",
        "ended_why": "it was refined 2 times, which is the limit",
        "outcome": "worsened",
    }
    assert (first["round"], first["output"]["text"], first["score"]) == (0, "draft 6 v0", 0.5)
    assert first["reason"] == "The tone is too curt."
    assert first["model"] == "openai/under-test"
    assert (second["model"], second["ended"], second["usage"]["calls"]) == (OPTIMIZER, None, 2)
    assert (third["output"]["text"], third["ended"]) == ("draft 6 v2", "limit")
    assert (item["output"]["text"], item["score"]) == ("draft 6 v2", 0.2)
    assert third["created_at"]


@pytest.mark.parametrize(
    ("query", "number"),
    [
        ({"outcome": "fixed"}, 12),
        ({"outcome": "worsened"}, 2),
        ({"outcome": "unchanged"}, 6),
        ({"outcome": "refined"}, 20),
        ({"outcome": "not_refined"}, 0),
        ({"ended": "limit"}, 8),
        ({"ended": "threshold"}, 12),
        ({"ended": "limit", "outcome": "worsened"}, 2),
        ({"failing": True, "outcome": "fixed"}, 0),
    ],
)
def test_items_are_filtered_by_what_became_of_them(client, evaluation, query, number):
    assert len(items(client, evaluation, **query)) == number


def test_a_filter_that_is_none_is_refused(client, evaluation):
    path = f"{EVALUATIONS}/{evaluation['experiment_id']}/items"

    assert client.get(path, params={"outcome": "better"}).status_code == 422


def test_switched_off_there_are_no_rounds(client):
    view = evaluated(client, {"refine": {"limit": 0}})

    assert view["refine"]["active"] is False
    assert view["result"]["refinement"]["rounds"] == 0
    assert all(one["rounds"] == [] and one["refinement"] is None for one in items(client, view))


def test_the_best_round_may_be_the_answer(client):
    view = evaluated(client, {"refine": {"answer": "best", "threshold": None, "limit": 1}})
    found = view["result"]["refinement"]

    assert (found["answer"], found["threshold"]) == ("best", None)
    assert (found["fixed"], found["improved"], found["worsened"]) == (0, 12, 0)
    assert view["result"]["score"] == pytest.approx(found["best_score"])


@pytest.mark.parametrize(
    ("refine", "code"),
    [
        ({"model": "openai/other"}, "model_not_allowed"),
        ({"limit": -1}, None),
        ({"limit": 21}, None),
        ({"answer": "first"}, None),
        ({"unknown": 1}, None),
    ],
)
def test_what_cannot_be_used_is_refused(client, refine, code):
    answer = client.post(EVALUATIONS, json={"refine": refine})

    assert answer.status_code == 422
    if code is not None:
        assert answer.json()["code"] == code


def test_a_suite_keeps_its_refinement(client):
    suite = client.get(f"{API}/suites").json()["items"][0]

    assert suite["refine"] == {
        "model": OPTIMIZER,
        "limit": 2,
        "threshold": 0.8,
        "answer": "latest",
        "trials": False,
        "fields": None,
        "parameters": None,
    }


@pytest.mark.parametrize(("refine", "rounds"), [(None, 0), ({"limit": 1}, 1)])
def test_trials_evaluate_with_refinement_where_that_is_asked_for(client, refine, rounds):
    body = {"optimizer": {"name": "edits"}, "budget": {"max_trials": 1}, "seed": 1}
    if refine is not None:
        body["refine"] = refine
    started = client.post(OPTIMIZATIONS, json=body)
    assert started.status_code == 201, started.text

    view = wait_until_final(client, started.json()["optimization_id"])
    trials = client.get(f"{OPTIMIZATIONS}/{view['optimization_id']}/trials").json()["items"]
    found = client.get(f"{EVALUATIONS}/{trials[0]['experiment_id']}").json()
    shown = items(client, found)

    assert view["status"] == "completed"
    assert ("refine" in view["usage"]["by_purpose"]) is bool(rounds)
    assert {len(one["rounds"]) for one in shown} == {rounds + 1 if rounds else 0}
    if rounds:
        assert found["result"]["refinement"]["refined"] == len(shown)
        outcomes = {one["refinement"]["outcome"] for one in shown}
        assert "fixed" in outcomes
