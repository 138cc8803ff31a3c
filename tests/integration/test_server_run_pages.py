"""What the pages of one run show: points, candidates, comparisons, items, reviews and the log."""

import gzip
import json

import pytest
from serving_world import (
    API,
    OPTIMIZATIONS,
    ServerThread,
    make_served_project,
    settings_of,
    wait_until_final,
)
from starlette.requests import Request

import burnish
from burnish.cli.invocation import run_command
from burnish.server.http.responses import ready_json, zipped
from burnish.server.optimizations.trial_schemas import PointColumns


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    project = make_served_project(tmp_path_factory.mktemp("pages"), items=40)
    with ServerThread(settings_of(project)) as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    with server.client() as opened:
        yield opened


@pytest.fixture(scope="module")
def run(client):
    body = {"budget": {"max_trials": 6, "max_evaluations": 500}, "seed": 7, "name": "Pages"}
    made = client.post(OPTIMIZATIONS, json=body).json()
    return wait_until_final(client, made["optimization_id"])


@pytest.fixture(scope="module")
def path(run):
    return f"{OPTIMIZATIONS}/{run['optimization_id']}"


def test_a_line_of_the_list_has_what_it_gained_cost_and_took(client, run):
    line = next(
        one
        for one in client.get(OPTIMIZATIONS).json()["items"]
        if one["optimization_id"] == run["optimization_id"]
    )

    improvement = run["result"]["improvement"]
    assert line["change"]["delta"] == improvement["delta"]
    assert line["change"]["ci_low"] <= line["change"]["delta"] <= line["change"]["ci_high"]
    assert line["change"]["held_out"] is True
    assert line["change"]["items"] == run["result"]["test"]["items"]
    assert line["started_at"] < line["ended_at"]
    assert line["duration_seconds"] > 0
    assert line["owned"] is False
    assert line["spark"][0]["score"] == run["baseline_score"]
    assert line["spark"][-1] == {
        "evaluations": run["result"]["evaluations"],
        "score": run["best_score"],
    }
    assert {name: run[name] for name in line} == line


def test_lists_are_searched_and_say_what_they_can_be_filtered_by(client, run):
    def found(text):
        page = client.get(OPTIMIZATIONS, params={"q": text}).json()
        return [one["optimization_id"] for one in page["items"]]

    identity = run["optimization_id"]
    for text in ("pAgEs", "ticket", "EDITS", "rows", identity[:18].upper()):
        assert identity in found(text), text
    assert found(identity[5:]) == []
    assert found("100%") == []
    everyone = len(client.get(OPTIMIZATIONS).json()["items"])
    facets = client.get(f"{OPTIMIZATIONS}/facets").json()
    assert facets["agents"] == [{"value": "tickets", "count": everyone}]
    assert {"value": "completed", "count": 1} in facets["statuses"]
    assert facets["optimizers"] == [{"value": "edits", "count": everyone}]
    assert facets["suites"] == [{"value": "rows", "count": everyone}]


def test_a_run_says_what_is_left_of_its_budget_and_what_speaks_for_the_winner(run):
    budget, evidence = run["budget"], run["evidence"]

    assert budget["limits"]["trials"] == 6
    assert budget["used"]["trials"] == run["trials"]
    assert budget["left"]["trials"] == 6 - run["trials"]
    assert budget["used"]["evaluations"] == run["result"]["evaluations"]
    assert budget["left"]["evaluations"] == 500 - run["result"]["evaluations"]
    assert budget["limits"]["cost_usd"] is None
    assert budget["left"]["cost_usd"] is None
    assert evidence["held_out"] is True
    assert evidence["items"] == run["result"]["test"]["items"]
    assert evidence["refuted"] is False
    assert run["explanation"] is None
    assert run["compression"] is False
    assert run["settings"]["name"] == "edits"
    best = run["best"]
    assert best["ci_low"] < best["score"] < best["ci_high"]
    assert best["prompt_tokens"] > 0
    assert best["items"] == 16


def test_points_are_all_trials_by_column(client, run, path):
    answer = client.get(f"{path}/points").json()
    columns = answer["columns"]
    trials = client.get(f"{path}/trials").json()["items"]

    assert set(columns) == set(PointColumns.model_fields)
    assert {len(column) for column in columns.values()} == {answer["count"]}
    assert columns["number"] == [one["number"] for one in trials]
    assert columns["score"] == [one["score"] for one in trials]
    assert columns["kind"] == ["baseline"] + ["trial"] * (len(trials) - 1)
    assert columns["parents"][0] == []
    assert all(parents for parents in columns["parents"][1:])
    assert max(columns["evaluations"]) == sum(columns["items"])
    assert all(a < b for a, b in zip(columns["created_at"], columns["finished_at"], strict=True))
    for low, score, high in zip(
        columns["ci_low"], columns["score"], columns["ci_high"], strict=True
    ):
        assert low <= score <= high
    assert answer["best_candidate_id"] == run["best_candidate_id"]
    assert answer["last_event_id"] == run["last_event_id"]


def test_only_what_changed_since_an_event_is_sent(client, run, path):
    log = client.get(f"{path}/event-log", params={"limit": 500}).json()["items"]
    told = [one for one in log if one["type"] == "trial_added_or_updated"]
    last = told[-1]

    whole = client.get(f"{path}/points", params={"since": 0}).json()
    some = client.get(f"{path}/points", params={"since": last["sequence"] - 1}).json()
    none = client.get(f"{path}/points", params={"since": run["last_event_id"]}).json()

    assert whole["count"] == run["trials"] + 1
    assert some["columns"]["experiment_id"] == [last["payload"]["experiment_id"]]
    assert some["columns"]["evaluations"][0] in whole["columns"]["evaluations"]
    assert none["count"] == 0


def test_large_answers_are_packed(client, path):
    def packed(accepted):
        scope = {"type": "http", "headers": [(b"accept-encoding", accepted)]}
        return zipped(Request(scope), ready_json({"text": "burnish " * 20_000}))

    assert gzip.decompress(packed(b"br, gzip").body) == packed(b"gzip;q=0").body
    assert "content-encoding" not in packed(b"identity").headers
    assert client.get(f"{path}/points").headers["vary"] == "Accept-Encoding"


def test_the_log_has_the_events_of_the_stream_in_pages(client, run, path):
    found, cursor = [], None
    while True:
        page = client.get(
            f"{path}/event-log", params={"limit": 7, "cursor": cursor} if cursor else {"limit": 7}
        ).json()
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    newest = client.get(f"{path}/event-log", params={"newest": True, "limit": 3}).json()
    older = client.get(
        f"{path}/event-log",
        params={"newest": True, "limit": 3, "cursor": newest["next_cursor"]},
    ).json()
    best = client.get(f"{path}/event-log", params={"type": "best_candidate_changed"}).json()
    later = client.get(f"{path}/event-log", params={"after": run["last_event_id"] - 2}).json()

    ids = [one["sequence"] for one in found]
    assert ids == list(range(1, run["last_event_id"] + 1))
    assert [one["sequence"] for one in newest["items"] + older["items"]] == ids[:-7:-1]
    assert best["items"]
    assert all(one["payload"]["score"] for one in best["items"])
    assert [one["sequence"] for one in later["items"]] == ids[-2:]
    assert client.get(f"{path}/event-log", params={"cursor": "WyJpZCIsIngiXQ"}).status_code == 422


def test_a_candidate_knows_its_kin_and_its_experiments(client, run, path):
    best = client.get(f"{path}/candidates/{run['best_candidate_id']}").json()
    baseline = client.get(f"{path}/candidates/{run['baseline']['candidate_id']}").json()

    assert best["best"] is True
    assert best["origin"] in ("edit", "merge")
    assert best["parents"]
    assert best["rationale"]
    assert best["prompt_tokens"] == sum(best["section_tokens"].values())
    assert {one["role"] for one in best["experiments"]} == {"trial", "held_out"}
    held_out = next(one for one in best["experiments"] if one["role"] == "held_out")
    assert held_out["score"] == run["result"]["test"]["best_score"]
    assert held_out["ci_low"] <= held_out["score"] <= held_out["ci_high"]
    assert (baseline["origin"], baseline["baseline"]) == ("baseline", True)
    assert baseline["children"]
    assert client.get(f"{path}/candidates/nobody").status_code == 404


def test_a_score_has_one_interval_wherever_it_is_shown(server, client, run, path, capfd):
    columns = client.get(f"{path}/points").json()["columns"]
    points = dict(
        zip(columns["number"], zip(columns["ci_low"], columns["ci_high"], strict=True), strict=True)
    )
    best = client.get(f"{path}/candidates/{run['best_candidate_id']}").json()
    db = str(server.settings.config.parent / ".burnish" / "burnish.db")
    capfd.readouterr()

    for shown in best["experiments"]:
        identity, interval = shown["experiment_id"], [shown["ci_low"], shown["ci_high"]]
        evaluation = client.get(f"{API}/evaluations/{identity}").json()["result"]
        assert run_command(["show", identity, "--json", "--db", db]) == 0
        loaded = burnish.load(identity, db=db).score_interval
        told = json.loads(capfd.readouterr().out)
        assert interval[0] < shown["score"] < interval[1]
        assert evaluation["score_interval"] == told["score_interval"] == interval
        assert [loaded.low, loaded.high] == interval
        if shown["role"] == "trial":
            assert [run["best"]["ci_low"], run["best"]["ci_high"]] == interval
            assert list(points[run["best"]["number"]]) == interval


@pytest.mark.parametrize("on", ["search", "held_out"])
def test_two_candidates_are_compared_item_by_item(client, run, path, on):
    pair = {"before": run["baseline"]["candidate_id"], "after": run["best_candidate_id"], "on": on}

    whole = client.get(f"{path}/compare", params=pair).json()
    items, cursor = [], None
    while True:
        more = {} if cursor is None else {"cursor": cursor}
        page = client.get(f"{path}/compare/items", params={**pair, "limit": 5, **more}).json()
        items += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert whole["items"] == len(items) == page["total"] == 16
    assert len({one["item_id"] for one in items}) == 16
    order = [one["change"] for one in items]
    assert order == sorted(order, key=["regressed", "improved", "unchanged"].index)
    assert order.count("improved") == whole["improved"]
    assert order.count("regressed") == whole["regressed"]
    assert sum(one["delta"] for one in items) / 16 == pytest.approx(whole["delta"])
    assert whole["after_score"] - whole["before_score"] == pytest.approx(whole["delta"])
    assert whole["ci_low"] <= whole["delta"] <= whole["ci_high"]
    assert whole["held_out_available"] is True
    assert whole["difference"]["sections"]
    improved = client.get(
        f"{path}/compare/items", params={**pair, "change": ["improved", "regressed"]}
    ).json()
    assert improved["total"] == whole["improved"] + whole["regressed"]
    first = items[0]
    words = first["preview"]
    assert "ticket" in words
    found = client.get(f"{path}/compare/items", params={**pair, "q": first["item_id"]}).json()
    assert first in found["items"]
    assert client.get(f"{path}/compare/items", params={**pair, "q": "zebra"}).json()["total"] == 0
    if on == "held_out":
        assert whole["delta"] == run["result"]["improvement"]["delta"]
        assert whole["p_value"] == run["result"]["improvement"]["p_value"]


def test_an_item_is_shown_side_by_side(client, run, path):
    pair = {"before": run["baseline"]["candidate_id"], "after": run["best_candidate_id"]}
    item = client.get(f"{path}/compare/items", params={**pair, "limit": 1}).json()["items"][0]

    ask = {"item_id": item["item_id"], "candidate_id": list(pair.values())}
    detail = client.get(f"{path}/item", params=ask).json()

    assert detail["input"]["text"].startswith("ticket")
    assert list(detail["expected"]) == ["label"]
    assert [one["candidate_id"] for one in detail["sides"]] == list(pair.values())
    assert [one["score"] for one in detail["sides"]] == [
        item["before"]["score"],
        item["after"]["score"],
    ]
    answered = detail["sides"][1]["runs"][0]
    assert answered["output"]["text"] == item["after"]["output"]
    assert answered["scores"][0]["name"] == "exact_match"
    assert client.get(f"{path}/item", params={**ask, "item_id": "none"}).status_code == 404
    assert client.get(f"{path}/item", params={"item_id": "r1"}).status_code == 422


def test_a_promotion_is_reviewed_before_and_shows_afterwards(client, run, path):
    review = client.get(f"{path}/promotion").json()
    other = client.get(
        f"{path}/promotion", params={"candidate_id": run["baseline"]["candidate_id"]}
    ).json()

    assert review["candidate"]["candidate_id"] == run["best_candidate_id"]
    assert review["expected_version"] == 0
    assert review["begins_from_active"] is True
    assert review["already_active"] is False
    assert review["difference"]["sections"]
    assert review["evidence"]["delta"] == run["evidence"]["delta"]
    assert other["evidence"] is None
    assert any("baseline itself" in one for one in other["doubts"])

    sent = {"promoted_by": "ada", "candidate_id": run["best_candidate_id"]}
    version = client.post(f"{path}/promote", json=sent).json()["version"]["version"]
    after = client.get(f"{path}/promotion").json()
    shown = client.get(f"{path}/candidates/{run['best_candidate_id']}").json()

    assert after["already_active"] is True
    assert after["active_version"] == after["expected_version"] == version
    assert shown["promoted_versions"] == [version]


def test_a_run_that_is_empty_or_was_stopped_says_why(client):
    made = client.post(OPTIMIZATIONS, json={"start": False}).json()
    path = f"{OPTIMIZATIONS}/{made['optimization_id']}"

    assert "not begun" in made["explanation"]
    assert (made["started_at"], made["duration_seconds"], made["spark"]) == (None, None, [])
    assert client.get(f"{path}/points").json()["count"] == 0
    assert client.get(f"{path}/event-log").json()["items"] == []
    assert client.get(f"{path}/promotion").status_code == 404
    stopped = client.post(f"{path}/cancel").json()
    assert stopped["explanation"]


@pytest.mark.parametrize("part", ["points", "event-log", "candidates/x", "promotion"])
def test_what_is_not_there_is_404(client, part):
    assert client.get(f"{OPTIMIZATIONS}/nothing/{part}").status_code == 404
