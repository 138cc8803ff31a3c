"""`burnish optimize --mirror opik`: the same run on a second server, whatever happens on the way."""

import asyncio
import contextlib
import json
import socket
import sqlite3
import sys
from functools import partial
from pathlib import Path

import pytest
import serving_world
from opik_world import OpikSender
from serving_world import OPTIMIZATIONS, ServerThread, make_served_project, settings_of

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))

from optimize_project import Here

from burnish.app.wiring import Workspace
from burnish.domain import UnavailableError
from burnish.domain.opik import MirrorTarget
from burnish.integrations.opik.mirror import client as mirror_client
from burnish.integrations.opik.mirror import mirror as mirroring
from burnish.integrations.opik.mirror.client import MirrorClient
from burnish.integrations.opik.mirror.mirror import deliver
from burnish.server.http.auth import Keys
from burnish.support.retry import RetryPolicy

KEY = "canary-0123456789abcdef-canary"


@pytest.fixture
def here(capfd, monkeypatch):
    monkeypatch.delenv("OPIK_URL_OVERRIDE", raising=False)
    return Here(capfd, monkeypatch)


@pytest.fixture
def project(tmp_path):
    return make_served_project(tmp_path / "project", items=20)


@pytest.fixture(scope="module")
def second(tmp_path_factory):
    folder = make_served_project(tmp_path_factory.mktemp("second"), items=4)
    with ServerThread(settings_of(folder, execute=False)) as server:
        yield server


def mirror_to(project, address, **more):
    table = {"url": f"{address}/api", **more}
    lines = [f'{name} = "{value}"' for name, value in table.items()]
    config = project / "burnish.toml"
    config.write_text(config.read_text() + "\n".join(["", "[mirror]", *lines, ""]))


def shown(client, run):
    """What a server shows of a run, without what a mirror cannot know."""
    path = f"{OPTIMIZATIONS}/{run}"
    view = client.get(path).json()
    names = ("status", "objective", "agent", "suite", "optimizer", "baseline_score", "best_score")
    trials = client.get(f"{path}/trials?mini_batches=true&limit=500").json()["items"]
    told = ("candidate_id", "number", "step_index", "parent_candidate_ids", "type", "status")
    scores = ("score", "items", "passed", "failed", "rationale")
    found = {name: view[name] for name in (*names, "trials", "best_candidate_id")}
    found["trials_of_it"] = [{name: one[name] for name in (*told, *scores)} for one in trials]
    for one in {one["candidate_id"] for one in trials}:
        detail = client.get(f"{path}/trials/{one}").json()
        found[one] = (detail.get("configuration_hash"), detail.get("mask_id"))
        items = client.get(f"{path}/trials/{one}/items?limit=500").json().get("items", [])
        found[f"{one} items"] = sorted(
            (
                item["input"]["text"],
                item["repeat"],
                item["score"],
                item["output"]["text"],
                [(score["name"], score["value"], score["reason"]) for score in item["scores"]],
            )
            for item in items
        )
    return found


def shown_here(project, run):
    with ServerThread(settings_of(project, execute=False)) as server, server.client() as client:
        return shown(client, run)


def test_the_same_run_is_there(here, project, second):
    mirror_to(project, second.address)

    out, err = here.run(project, "optimize", "--json", "--mirror", "opik")
    run = json.loads(out)["optimization_id"]

    with second.client() as client:
        there = shown(client, run)
        page = client.get(f"{OPTIMIZATIONS}/{run}/candidates/{there['best_candidate_id']}").json()
    assert there == shown_here(project, run)
    assert there["status"] == "completed"
    assert len(there["trials_of_it"]) == 5
    assert "nothing is left" in err
    # What it was confirmed on is there too, with the role that it had.
    assert "held_out" in [one["role"] for one in page["experiments"]]


def test_without_a_server_the_run_ends_as_ever_and_what_is_left_is_sent_later(
    here, project, second, monkeypatch
):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    mirror_to(project, f"http://127.0.0.1:{port}")
    monkeypatch.setattr(mirroring, "DRAIN_SECONDS", 0.2)

    out, err = here.run(project, "optimize", "--json", "--mirror", "opik")
    run = json.loads(out)["optimization_id"]
    once = partial(MirrorClient, policy=RetryPolicy(max_attempts=1))
    monkeypatch.setattr(mirroring, "MirrorClient", once)
    left = here.document(project, "mirror", "flush", code=4)
    real = serving_world.bind
    monkeypatch.setattr(serving_world, "bind", lambda host, _: real(host, port))
    folder = make_served_project(project.parent / "later", items=4)
    with ServerThread(settings_of(folder, execute=False)) as server, server.client() as client:
        sent = here.document(project, "mirror", "flush")
        again = here.document(project, "mirror", "flush")
        there = shown(client, run)

    assert "burnish mirror flush" in err
    assert (left["open"], left["experiments"]) == (1, 0)
    assert "was not told" in left["problems"][0]
    assert (sent["open"], sent["problems"], again["experiments"]) == (0, [], 0)
    monkeypatch.setattr(serving_world, "bind", real)
    assert there == shown_here(project, run)


def test_a_server_that_never_answers_takes_no_time_of_the_run(here, project, monkeypatch):
    monkeypatch.setattr(mirroring, "DRAIN_SECONDS", 0.2)
    # Whoever waited for a single request would not come back.
    monkeypatch.setattr(mirror_client, "_SECONDS", 3600.0)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mirror_to(project, f"http://127.0.0.1:{silent.getsockname()[1]}")
        result = here.document(project, "optimize", "--mirror", "opik")

    assert (result["status"], result["trials"]) == ("completed", 4)


def test_every_answer_may_be_lost_once(here, project, second):
    run = here.document(project, "optimize", "--max-trials", "2")["optimization_id"]
    target = MirrorTarget(url=f"{second.address}/api", workspace="lossy")

    seen = set()

    class Lossy(MirrorClient):
        async def send(self, method, path, body):
            await super().send(method, path, body)
            key = (method, path, str(body))
            if key not in seen:
                seen.add(key)
                raise UnavailableError(what="cut", why="the answer was lost", fix="", code="cut")

    async def until_it_is_there():
        attempts = 0
        async with Workspace.open(str(project / ".burnish" / "burnish.db")) as workspace:
            await workspace.mirrors.enrol(run, target)
            while mirrors := await workspace.mirrors.open_mirrors():
                attempts += 1
                with contextlib.suppress(UnavailableError):
                    async with Lossy(target) as client:
                        await deliver(workspace, mirrors[0], client)
        return attempts

    assert asyncio.run(until_it_is_there()) == len(seen) + 1 > 20
    with second.client() as client:
        assert shown(client, run) == shown_here(project, run)


def test_the_key_opens_the_server_and_is_kept_nowhere(here, project):
    folder = make_served_project(project.parent / "guarded", items=4)
    settings = settings_of(folder, execute=False, keys=Keys.of(KEY))
    with ServerThread(settings) as server:
        mirror_to(project, server.address, api_key_env="MIRROR_KEY", workspace="team")
        refused = here.err(project, "optimize", "--max-trials", "1", "--mirror", "opik")
        out, err = here.run(project, "mirror", "flush", MIRROR_KEY=KEY)

    assert "401" in refused
    assert "nothing is left" in out
    with sqlite3.connect(project / ".burnish" / "burnish.db") as database:
        kept = "\n".join(database.iterdump())
    assert "MIRROR_KEY" in kept
    assert KEY not in kept + refused + out + err


@pytest.mark.parametrize(
    ("table", "why"),
    [
        ("", "no url"),
        ('url = "ftp://x"', "no address"),
        ('url = "http://me:secret@x/api"', "password"),
    ],
)
def test_a_mirror_that_cannot_be_is_refused_before_anything_runs(here, project, table, why):
    config = project / "burnish.toml"
    config.write_text(f"{config.read_text()}\n[mirror]\n{table}\n")

    told = here.err(project, "optimize", "--mirror", "opik", code=2)

    assert why in told
    assert not (project / "calls.log").exists()


def test_how_a_trial_ended_is_kept(second):
    with second.client() as client:
        opik = OpikSender(client)
        rows = opik.dataset("endings", rows=2)
        run = opik.optimization("endings")
        half = {rows[0]: 1, rows[1]: 0}
        opik.trial(run, "endings", half)
        opik.trial(
            run, "endings", {rows[0]: 1}, {"system": "p"}, kind="mini-batch", trial_status="pruned"
        )
        failing = {"trial_status": "failed", "trial_error": "every item failed"}
        opik.trial(run, "endings", dict.fromkeys(rows), {"system": "f"}, **failing)

        trials = opik.trials(run)
        view = opik.view(run)

    assert [(one["type"], one["status"], one["score"], one["error"]) for one in trials] == [
        ("trial", "completed", 0.5, None),
        ("trial", "pruned", 1.0, None),
        ("trial", "failed", None, "every item failed"),
    ]
    assert view["best_score"] == 0.5
