"""Whatever ends an evaluation, what was finished is kept and not paid for again."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import time
from collections import Counter

import pytest

ITEMS = 60
CONFIG = """
[agent]
run = "agent:answer"
concurrency = 4
[agent.sections]
system = "x"
[suite]
dataset = "rows.jsonl"
scorers = [{ kind = "exact_match", field = "label" }]
"""
# The log stands after the wait: a call that is cut off has not been answered, and is not counted.
# While there is a file `halt` it stops after a third: whoever ends it then hits it in the middle.
AGENT = f"""
import asyncio, os

answered = 0

async def answer(configuration, item):
    global answered
    await asyncio.sleep(0.001)
    if answered == {ITEMS // 3} and os.path.exists("halt"):
        await asyncio.sleep(3600)
    answered += 1
    with open("calls.log", "a") as log:
        log.write(item.id + "\\n")
    return "good"
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "burnish.toml").write_text(CONFIG)
    (tmp_path / "agent.py").write_text(AGENT)
    rows = "".join(f'{{"id": "r{n}", "text": "t{n}", "label": "good"}}\n' for n in range(ITEMS))
    (tmp_path / "rows.jsonl").write_text(rows)
    return tmp_path


def calls(project):
    log = project / "calls.log"
    return Counter(log.read_text().split()) if log.exists() else Counter()


def saved(project):
    path = project / ".burnish" / "burnish.db"
    with contextlib.closing(sqlite3.connect(path, timeout=600)) as database:
        return database.execute("SELECT count(*) FROM experiment_items").fetchone()[0]


def stop_midway(commands, project, number, *, when):
    """Start an evaluation and send it a signal when a third of its calls are answered or saved."""
    (project / "halt").touch()
    running = commands.start(["eval"], cwd=project)
    deadline = time.monotonic() + 600
    while calls(project).total() < ITEMS // 3 or not when():
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(running.pid, number)
    out, err = running.communicate()
    (project / "halt").unlink()
    assert "Traceback" not in out + err
    return running.returncode, err


def finish(commands, project, *arguments):
    done = commands.run([*arguments, "--json"], cwd=project)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_everything_and_resuming_repeats_nothing(commands, project, number):
    code, message = stop_midway(commands, project, number, when=lambda: True)

    assert code == 130
    assert calls(project).total() == ITEMS // 3
    assert f"{ITEMS // 3} of {ITEMS} runs saved" in message
    command = message.split("go on with: burnish ")[1].split()

    document = finish(commands, project, *command)

    assert document["status"] == "completed"
    assert (document["items"], document["score"]) == (ITEMS, 1.0)
    assert calls(project) == Counter({f"r{n}": 1 for n in range(ITEMS)})


def test_kill_9_costs_only_the_calls_in_flight(commands, project):
    # Answers are saved as they come: while others are still waited for, these are there.
    code, _ = stop_midway(
        commands, project, signal.SIGKILL, when=lambda: saved(project) == ITEMS // 3
    )

    assert code == -signal.SIGKILL
    [experiment] = finish(commands, project, "list")["experiments"]
    assert (experiment["status"], experiment["items"]) == ("running", ITEMS // 3)

    document = finish(commands, project, "eval")

    assert (document["items"], document["cached"]) == (ITEMS, ITEMS // 3)
    assert calls(project) == Counter({f"r{n}": 1 for n in range(ITEMS)})
