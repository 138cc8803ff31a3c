"""Refinement from the command line, on a scripted endpoint that plays all three models."""

from __future__ import annotations

import asyncio
import csv
import json
import os
import re
import signal
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing

import pytest
from tests.servers.misbehaving import ok, running_server
from tests.support.refine_world import OPTIMIZER, answer, make_refine_project, refine_endpoint

KEY = {"OPENAI_API_KEY": "canary-key", "COLUMNS": "200"}


@pytest.fixture(scope="module")
def endpoint():
    with refine_endpoint() as server:
        yield server


@pytest.fixture
def burnish(commands):
    def run(*arguments, cwd, code=0):
        done = commands.run([*map(str, arguments)], cwd=cwd, env={**os.environ, **KEY})
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def evaluated(endpoint, commands, tmp_path_factory):
    """A project of 20 items that was evaluated once, and its document."""
    folder = make_refine_project(tmp_path_factory.mktemp("refined"), endpoint.base_url)
    done = commands.run(["eval", "--json"], cwd=folder, env={**os.environ, **KEY})
    assert done.returncode == 0, done.stderr
    return folder, json.loads(done.stdout)


def test_sixty_percent_fixed_and_ten_worsened_are_counted_exactly(evaluated):
    _, document = evaluated
    found = document["refinement"]

    assert found["active"]
    assert (found["outputs"], found["refined"], found["rounds"]) == (20, 20, 28)
    assert (found["fixed"], found["improved"], found["unchanged"], found["worsened"]) == (
        12,
        0,
        6,
        2,
    )
    assert found["ended"] == {"limit": 8, "threshold": 12}
    assert [one["score"] for one in found["by_round"]] == pytest.approx([0.41, 0.69, 0.68])
    assert [one["outputs"] for one in found["by_round"]] == [20, 20, 8]
    assert found["usage"]["calls"] == 56
    # 40 tokens in at $1 and 10 out at $2 a million, for each of 56 calls, over 12 fixed outputs.
    assert found["cost_per_fixed_usd"] == pytest.approx(56 * 60e-6 / 12)
    assert document["score"] == pytest.approx(0.68)
    calls = {name: one["calls"] for name, one in document["usage"]["by_purpose"].items()}
    assert calls == {"agent": 20, "judge": 48, "refine": 28}


def test_people_read_the_same_counts(burnish, evaluated):
    folder, document = evaluated
    shown = burnish("show", document["experiment_id"], cwd=folder)

    assert "20 of 20 outputs refined · 12 fixed · 6 unchanged · 2 worsened" in shown
    assert "round 1     0.690" in shown
    assert "latest 0.680 · best 0.710 · the answer is the latest" in shown
    assert "ended: limit 8, threshold 12" in shown
    assert "for each fixed output" in shown


def test_the_whole_sequence_of_an_item_is_shown_and_exported(burnish, evaluated):
    folder, document = evaluated
    identity = document["experiment_id"]
    listed = burnish("show", identity, "--items", cwd=folder)
    burnish("export", identity, "-o", "report.html", cwd=folder)
    burnish("export", identity, "--format", "csv", "-o", "runs.csv", cwd=folder)
    exported = json.loads(burnish("export", identity, "--format", "json", cwd=folder))

    assert "round 0  0.50  draft 6 v0  The tone is too curt." in listed
    assert "worsened, ended by limit: it was refined 2 times, which is the limit" in listed
    item = next(one for one in exported["results"] if one["item_id"] == "i006")
    assert [one["output"]["text"] for one in item["rounds"]] == [
        "draft 6 v0",
        "draft 6 v1",
        "draft 6 v2",
    ]
    assert [one["score"] for one in item["rounds"]] == [0.5, 0.3, 0.2]
    assert [one["model"] for one in item["rounds"]] == ["openai/under-test"] + [OPTIMIZER] * 2
    assert [one["ended"] for one in item["rounds"]] == [None, None, "limit"]
    assert item["refinement"]["outcome"] == "worsened"
    page = (folder / "report.html").read_text()
    assert "<h2>Refinement</h2>" in page
    assert "12 fixed" in page
    assert "draft 6 v1" in page
    with (folder / "runs.csv").open(newline="") as file:
        outcomes = Counter(row["outcome"] for row in csv.DictReader(file))
    assert outcomes == {"fixed": 12, "unchanged": 6, "worsened": 2}


def test_the_same_evaluation_again_costs_nothing_and_has_its_own_rounds(
    burnish, evaluated, endpoint
):
    folder, first = evaluated
    before = endpoint.requests

    again = json.loads(burnish("eval", "--json", cwd=folder))

    assert endpoint.requests == before
    assert again["usage"]["calls"] == 0
    same = ("outputs", "refined", "fixed", "unchanged", "worsened", "by_round", "ended")
    assert {name: again["refinement"][name] for name in same} == {
        name: first["refinement"][name] for name in same
    }


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--set", "suite.mode=schema"], "the suite's mode is schema"),
        (["--refine-limit", "0"], "the limit is 0"),
    ],
)
def test_inactive_refinement_is_no_error_and_says_why(burnish, evaluated, arguments, why):
    folder, _ = evaluated
    shown = burnish("eval", *arguments, cwd=folder)
    document = json.loads(burnish("eval", "--json", *arguments, cwd=folder))

    assert f"refinement  inactive: {why}" in shown
    assert document["refinement"]["active"] is False
    assert document["refinement"]["why_inactive"].startswith(why)
    assert document["refinement"]["rounds"] == 0
    assert document["score"] == pytest.approx(0.41)
    with closing(sqlite3.connect(folder / ".burnish" / "burnish.db")) as database:
        rows = database.execute(
            "SELECT count(*) FROM item_rounds WHERE experiment_id = ?", [document["experiment_id"]]
        )
        assert rows.fetchone() == (0,)


def test_flags_alone_are_enough_and_the_best_round_may_be_the_answer(burnish, endpoint, tmp_path):
    make_refine_project(tmp_path, endpoint.base_url, items=10)
    config = tmp_path / "burnish.toml"
    text = config.read_text()
    start, end = text.index("[suite.refine]"), text.index("[models.openai]")
    config.write_text(text[:start] + text[end:])

    plain = json.loads(burnish("eval", "--json", cwd=tmp_path))
    flags = ["--refine-model", OPTIMIZER, "--refine-limit", 1, "--refine-threshold", 0.8]
    best = json.loads(burnish("eval", "--json", *flags, "--refine-answer", "best", cwd=tmp_path))

    assert plain["refinement"] is None
    found = best["refinement"]
    assert (found["limit"], found["threshold"], found["answer"]) == (1, 0.8, "best")
    assert (found["fixed"], found["unchanged"], found["worsened"]) == (6, 4, 0)
    assert found["best_score"] > found["latest_score"]
    assert best["score"] == pytest.approx(found["best_score"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--refine-answer", "first"], "latest, best"),
        (["--set", "suite.refine.treshold=0.5"], "did you mean 'threshold'?"),
        (["--set", 'suite.refine.fields=["nothing"]'], "no such column"),
    ],
)
def test_wrong_settings_are_refused_before_anything_is_asked(
    commands, evaluated, endpoint, arguments, words
):
    before = endpoint.requests

    done = commands.run(["eval", *arguments], cwd=evaluated[0], env={**os.environ, **KEY})

    assert done.returncode == 2
    assert words in done.stderr
    assert endpoint.requests == before


def test_rounds_survive_a_kill_and_go_on_after_the_last_one_saved(commands, tmp_path):
    held = threading.Event()

    async def answer_up_to_the_ninth(request, writer):
        """Of the items from the ninth on, the first refined draft is not judged while `held`."""
        said = request.body["messages"][-1]["content"]
        draft = re.search(r"draft (\d+) v1", said)
        if request.body["model"] == "judge" and draft and int(draft[1]) >= 8 and held.is_set():
            await asyncio.sleep(3600)
        await ok(answer)(request, writer)

    held.set()
    with running_server(otherwise=answer_up_to_the_ninth) as endpoint:
        # Without a cache of calls, so that only saved rounds can save calls.
        make_refine_project(tmp_path, endpoint.base_url, items=20, concurrency=4)
        config = tmp_path / "burnish.toml"
        text = config.read_text()
        config.write_text(text.replace("[models.openai]", "[models.openai]\ncache = false"))
        environment = {**os.environ, **KEY}
        running = commands.start(["eval"], cwd=tmp_path, env=environment)
        deadline = time.monotonic() + 600
        # Four at once: eight are through, and each of the next four has one round saved.
        while open_rounds(tmp_path) != {"i008", "i009", "i010", "i011"}:
            assert running.poll() is None, running.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGKILL)
        running.communicate()
        before, unfinished = saved(tmp_path), open_rounds(tmp_path)
        held.clear()

        arguments = ["eval", "--resume", "latest", "--json"]
        done = commands.run(arguments, cwd=tmp_path, env=environment)
        roles = Counter(request.body["model"] for request in endpoint.seen)

    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    after = saved(tmp_path)
    assert len(unfinished) == 4
    assert {key: after[key] for key in before} == before, "saved rounds are not made again"
    assert (document["refinement"]["fixed"], document["refinement"]["worsened"]) == (12, 2)
    assert document["usage"]["by_purpose"]["refine"]["calls"] == 28
    # Four items at once: more than what was in flight was not paid for twice.
    assert 28 <= roles["optimizer"] <= 28 + 4
    assert roles["under-test"] == 20, "the first round of each item was saved"


def saved(folder):
    return {
        row[:3]: row[3:] for row in _rows(folder, "item_id, repeat, number, output, created_at")
    }


def open_rounds(folder):
    return {
        row[0]
        for row in _rows(folder, "item_id")
        if row[0] not in {one[0] for one in _rows(folder, "item_id", table="experiment_items")}
    }


def _rows(folder, columns, table="item_rounds"):
    path = folder / ".burnish" / "burnish.db"
    if not path.exists():
        return []
    try:
        with closing(sqlite3.connect(path, timeout=5)) as database:
            return database.execute(f"SELECT {columns} FROM {table} ORDER BY 1").fetchall()
    except sqlite3.OperationalError:
        return []
