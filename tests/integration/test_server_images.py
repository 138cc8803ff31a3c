"""Image runs over HTTP: from the request to the ranked pictures, on a real server and SQLite."""

import time

import pytest
from served_images import PROMPT, start, upload, wait_until_ended, wanted
from served_images import png as plain_png
from serving_world import DEADLINE, ServerThread, events_of, make_served_project, settings_of

SECTIONS = ("conservative", "balanced", "aggressive")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return make_served_project(tmp_path_factory.mktemp("images"), items=8)


@pytest.fixture(scope="module")
def server(project):
    with ServerThread(settings_of(project)) as running:
        yield running


@pytest.fixture(scope="module")
def client(server):
    with server.client() as opened:
        yield opened


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    """A client of a server that runs nothing."""
    folder = make_served_project(tmp_path_factory.mktemp("idle"), items=8)
    with ServerThread(settings_of(folder, execute=False)) as running, running.client() as opened:
        yield opened


@pytest.fixture(scope="module")
def ended(client):
    return wait_until_ended(client, start(client, project_id="gallery")["run_id"])


def test_a_run_is_queued_at_once_and_then_ranked_with_suggestions(client):
    queued = start(client, constraints={"must_include": ["pine tree"], "must_avoid": ["text"]})
    run = wait_until_ended(client, queued["run_id"])

    assert (queued["status"], queued["progress_percent"], queued["variants"]) == ("queued", 0.0, [])
    assert (run["status"], run["degraded"], run["error"]) == ("completed", False, None)
    assert [one["rank"] for one in run["leaderboard"]] == [1, 2]
    assert run["top_k"] == [one["variant_id"] for one in run["leaderboard"]]
    assert all(run["suggestions"][name] for name in SECTIONS)
    assert run["progress"] == {
        "total_variants": 2,
        "generated_variants": 2,
        "evaluated_variants": 2,
        "failed_variants": 0,
    }
    assert (run["base_prompt"], run["constraints"]["must_include"]) == (PROMPT, ["pine tree"])
    assert run["completed_at"] >= run["created_at"]
    for variant in run["variants"]:
        assert "pine tree" in variant["variant_prompt"]
        assert variant["parent_commit_id"] == run["anchor_commit_id"]
        assert variant["composite_score"] == variant["rubric"]["composite_score"]


def test_variants_are_compared_in_pairs_where_it_is_asked_for(client, ended):
    run = wait_until_ended(client, start(client, pairwise=True)["run_id"])

    first, second = (one["pairwise"] for one in run["leaderboard"])
    assert (run["pairwise"], run["status"]) == (True, "completed")
    assert first["win_rate"] >= second["win_rate"] and len(first["interval"]) == 2
    assert {one["other"] for one in first["preferences"]} > {"anchor"}
    assert ended["pairwise"] is False and ended["variants"][0]["pairwise"] is None


def test_variants_are_children_of_the_anchor_in_the_lineage(client, ended):
    lineage = client.get("/projects/gallery/lineage").json()
    commits = client.get("/projects/gallery/commits").json()["items"]
    own, listed = (
        {one["commit_id"] for one in found if one["run_id"] == ended["run_id"]}
        for found in (lineage["nodes"], commits)
    )

    assert own == listed
    assert len(own) == 3
    assert {
        (edge["source"], edge["target"]) for edge in lineage["edges"] if edge["target"] in own
    } == {(ended["anchor_commit_id"], one["commit_id"]) for one in ended["variants"]}
    anchor = client.get(f"/commits/{ended['anchor_commit_id']}").json()
    assert (anchor["parent_commit_id"], anchor["can_be_parent"]) == (None, True)
    assert anchor["run_id"] == ended["run_id"]


def test_a_run_builds_on_the_commit_that_it_names(client, ended):
    parent = ended["leaderboard"][0]["commit_id"]
    run = start(client, project_id="gallery", parent_commit_id=parent)
    run = wait_until_ended(client, run["run_id"])

    assert run["anchor_commit_id"] == run["parent_commit_id"] == parent
    assert {one["parent_commit_id"] for one in run["variants"]} == {parent}


def test_a_stream_tells_every_stage_to_the_end(client):
    run_id = start(client, project_id="streamed")["run_id"]
    with client.stream("GET", f"/eval-runs/{run_id}/events") as answer:
        kind = answer.headers["content-type"]
        told = list(events_of(answer.iter_lines()))

    assert kind.startswith("text/event-stream")
    assert {event for _, event, _ in told} == {"run"}
    revisions = [int(identity) for identity, _, _ in told]
    assert revisions == sorted(set(revisions))
    assert [run["revision"] for _, _, run in told] == revisions
    assert told[-1][2] == client.get(f"/eval-runs/{run_id}").json()
    percents = [run["progress_percent"] for _, _, run in told]
    assert percents == sorted(percents)
    assert percents[-1] == 100.0


def test_a_stream_goes_on_after_the_revision_that_was_seen(client, ended):
    path, last = f"/eval-runs/{ended['run_id']}/events", ended["revision"]
    told = {}
    for seen in (last, last - 1, last + 50):
        with client.stream("GET", path, headers={"Last-Event-ID": str(seen)}) as answer:
            told[seen] = [int(identity) for identity, _, _ in events_of(answer.iter_lines())]
    by_query = client.get(f"{path}?last_event_id={last - 1}")

    assert told == {last: [], last - 1: [last], last + 50: [last]}
    assert f"id: {last}\n" in by_query.text
    assert client.get(path, headers={"Last-Event-ID": "x"}).json()["code"] == "invalid_event_id"


def test_a_change_by_another_process_reaches_the_stream(idle, client):
    run_id = start(idle, project_id="elsewhere")["run_id"]
    with idle.stream("GET", f"/eval-runs/{run_id}/events") as answer:
        lines = answer.iter_lines()
        told = events_of(lines)
        first = next(told)
        assert idle.post(f"/eval-runs/{run_id}/cancel").status_code == 202
        rest = list(told)

    assert first[2]["status"] == "queued"
    assert [run["status"] for _, _, run in rest] == ["cancelled"]


def test_runs_are_listed_in_pages_the_newest_first(idle):
    made = [start(idle, project_id="pages")["run_id"] for _ in range(5)]
    start(idle, project_id="other-pages")
    found, cursor = [], None
    while True:
        query = {"project_id": "pages", "limit": 2, **({"cursor": cursor} if cursor else {})}
        page = idle.get("/eval-runs", params=query).json()
        found += [one["run_id"] for one in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break

    assert found == made[::-1]
    queued = idle.get("/eval-runs", params={"status": "queued", "project_id": "pages"}).json()
    assert len(queued["items"]) == 5
    none = idle.get("/eval-runs", params={"status": "failed", "project_id": "pages"}).json()
    assert none == {"items": [], "next_cursor": None}
    assert idle.get("/eval-runs?cursor=@@").status_code == 422
    assert idle.get("/eval-runs?status=odd").json()["code"] == "INVALID_REQUEST"


def test_a_queued_run_is_cancelled_at_once_and_an_ended_one_stays(idle, client, ended):
    run_id = start(idle, project_id="stopped")["run_id"]
    cancelled = idle.post(f"/eval-runs/{run_id}/cancel")
    again = idle.post(f"/eval-runs/{run_id}/cancel")
    done = client.post(f"/eval-runs/{ended['run_id']}/cancel")

    assert (cancelled.status_code, cancelled.json()["status"]) == (202, "cancelled")
    assert again.json()["status"] == "cancelled"
    assert done.json()["status"] == "completed"


@pytest.mark.parametrize(
    "changes",
    [
        {"base_prompt": "fox"},
        {"base_prompt": None},
        {"base_prompt": "     x   "},
        {"project_id": ""},
        {"project_id": "../../etc"},
        {"objective_preset": "beauty"},
        {"n_variants": 1},
        {"n_variants": 4},
        {"n_variants": "3"},
        {"quality": "best"},
        {"image_model": ""},
        {"image_model": "midjourney"},
        {"judge_model": "nobody"},
        {"text_model": "local/../../secret.gguf"},
        {"image_model": "openai/other-model"},
        {"constraints": {"must_include": [""]}},
        {"surprise": 1},
        {"parent_commit_id": ""},
    ],
)
def test_what_cannot_be_a_run_is_refused_with_the_contracts_code(idle, changes):
    answer = idle.post("/eval-runs", json=wanted(**{"project_id": "refused", **changes}))

    assert (answer.status_code, answer.json()["code"]) == (422, "INVALID_REQUEST"), answer.text
    assert answer.json()["fix"]
    assert idle.get("/eval-runs?project_id=refused").json()["items"] == []


def test_a_model_without_its_key_is_refused_and_never_replaced(idle, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    answer = idle.post("/eval-runs", json=wanted(image_model="gpt-image-1-mini"))

    assert answer.status_code == 422
    assert "OPENAI_API_KEY" in answer.json()["message"]
    assert "sketch" in answer.json()["fix"]


def test_a_parent_has_to_be_a_picture_of_the_same_project(idle):
    own = upload(idle, plain_png(), project="parents").json()["commit_id"]

    right = start(idle, project_id="parents", parent_commit_id=own)
    other = idle.post("/eval-runs", json=wanted(project_id="else", parent_commit_id=own))
    unknown = idle.post("/eval-runs", json=wanted(project_id="parents", parent_commit_id="no"))

    assert right["parent_commit_id"] == own
    assert (other.status_code, other.json()["code"]) == (422, "INVALID_REQUEST")
    assert unknown.json()["code"] in ("INVALID_REQUEST", "not_found")


def test_what_is_not_there_is_not_found(idle):
    for path in (
        "/eval-runs/none",
        "/eval-runs/none/events",
        "/commits/none",
        "/comparisons/none",
        f"/images/{'0' * 64}",
        f"/images/{'0' * 64}/thumbnail",
    ):
        answer = idle.get(path)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found"), path
    assert idle.post("/eval-runs/none/cancel").status_code == 404
    assert idle.delete("/commits/none").status_code == 404


def test_two_commits_are_compared_pixel_by_pixel_and_by_rubric(client, ended):
    left, right = ended["anchor_commit_id"], ended["leaderboard"][0]["commit_id"]
    body = {"left_commit_id": left, "right_commit_id": right}
    made = client.post("/comparisons", json=body)
    found = made.json()

    assert made.status_code == 201, made.text
    assert client.get(f"/comparisons/{found['comparison_id']}").json() == found
    assert (found["left_commit_id"], found["right_commit_id"]) == (left, right)
    assert 0 < found["changed_share"] <= 1
    assert 0 < found["mean_difference"] <= 1
    assert found["left_rubric"]["composite_score"] != found["right_rubric"]["composite_score"]
    answer = client.get(found["difference_map"]["url"])
    assert answer.headers["content-type"] == found["difference_map"]["media_type"]
    alone = client.post("/comparisons", json={"left_commit_id": left})
    assert alone.json()["code"] == "INVALID_REQUEST"


def test_the_models_say_what_they_are_and_what_they_lack(client, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    found = client.get("/image-models").json()

    assert found["defaults"] == {
        "image_model": "sketch",
        "judge_model": "pixel-judge",
        "text_model": None,
    }
    by_name = {one["name"]: one for one in found["image_models"]}
    assert by_name["sketch"]["usable"]
    assert "offline" in by_name["sketch"]["label"]
    assert not by_name["openai/gpt-image-1-mini"]["usable"]
    assert "OPENAI_API_KEY" in by_name["openai/gpt-image-1-mini"]["why_not"]


def test_projects_are_listed_by_name_with_their_latest_picture(client, ended):
    found = client.get("/projects?limit=500").json()["items"]
    names = [one["project_id"] for one in found]
    gallery = next(one for one in found if one["project_id"] == "gallery")

    assert names == sorted(names)
    assert gallery["commits"] >= 3
    assert client.get(gallery["latest_thumbnail_url"]).status_code == 200


def test_the_metrics_count_image_runs_and_their_watchers(client, ended):
    deadline = time.monotonic() + DEADLINE
    # A run has ended a moment before its executor is free.
    while "burnish_image_runs_active 0.0" not in (text := client.get("/metrics").text):
        assert time.monotonic() < deadline, text

    assert "burnish_event_streams" in text


def test_a_run_outlives_the_server_that_took_it(tmp_path):
    folder = make_served_project(tmp_path / "outlived", items=8)
    with (
        ServerThread(settings_of(folder, execute=False)) as server,
        server.client() as client,
    ):
        run_id = start(client)["run_id"]
    with ServerThread(settings_of(folder)) as server, server.client() as client:
        run = wait_until_ended(client, run_id)

    assert (run["status"], len(run["leaderboard"])) == ("completed", 2)


@pytest.mark.parametrize("config", [None, "[images]\nmax_calls = 2\n"])
def test_image_authors_need_no_agent(tmp_path, config):
    """IMG-9: `burnish serve` wanted an agent and a suite."""
    if config is not None:
        (tmp_path / "burnish.toml").write_text(config)
    with ServerThread(settings_of(tmp_path)) as running, running.client() as opened:
        asked = start(opened, base_prompt="portrait of an old fisherman")
        run = wait_until_ended(opened, asked["run_id"])
        lists = [opened.get(f"/v1/private/{name}") for name in ("agents", "suites")]
        project = opened.get("/v1/private/project")
        unknown = opened.get("/v1/private/agents/nobody")

    assert run["status"] == "completed"
    for one in run["variants"]:
        assert one["not_drawn"] == ["old", "portrait"]
        assert one["rubric"]["not_measured"] == ["prompt_adherence"]
    assert [(one.status_code, one.json()["items"]) for one in lists] == [(200, []), (200, [])]
    assert (project.status_code, project.json()["agent"]) == (200, None)
    assert unknown.status_code == 404


def test_a_request_that_is_sent_again_under_its_id_is_one_run(idle):
    """IMG-15: a retry after a lost answer began a second run."""
    own = "0199d1c8-7b21-7d10-8a4c-5e6f7a8b9c0d"

    first, again = start(idle, run_id=own), start(idle, run_id=own)
    other = idle.post("/eval-runs", json=wanted(run_id=own, base_prompt="something else"))

    assert (first["run_id"], again["created_at"]) == (own, first["created_at"])
    assert (other.status_code, other.json()["code"]) == (409, "run_id_taken")
    assert idle.post("/eval-runs", json=wanted(run_id="../x")).status_code == 422


def test_the_wish_that_pictures_are_judged_by_can_be_kept(idle):
    """IMG-22."""
    kept = start(idle, base_prompt="a red fox, close-up", judge_prompt=PROMPT)
    same = start(idle, judge_prompt=PROMPT)

    assert (kept["base_prompt"], kept["judge_prompt"]) == ("a red fox, close-up", PROMPT)
    assert same["judge_prompt"] is None
    short = idle.post("/eval-runs", json=wanted(judge_prompt="fox"))
    assert (short.status_code, short.json()["code"]) == (422, "INVALID_REQUEST")


def test_a_project_that_is_not_there_is_not_found(idle):
    """IMG-38."""
    for part in ("commits", "lineage"):
        assert idle.get(f"/projects/nobody-has-it/{part}").status_code == 404
