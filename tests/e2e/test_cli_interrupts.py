"""Whatever ends an evaluation, what was finished is kept and not paid for again."""

from __future__ import annotations

import json
import os
import signal
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
AGENT = """
import asyncio

async def answer(configuration, item):
    await asyncio.sleep(0.05)
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


def stop_midway(commands, project, number):
    """Start an evaluation and send it a signal once a third of its calls are answered."""
    running = commands.start(["eval"], cwd=project)
    deadline = time.monotonic() + 30
    while calls(project).total() < ITEMS // 3:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.kill(running.pid, number)
    out, err = running.communicate(timeout=30)
    assert "Traceback" not in out + err
    return running.returncode, err


def finish(commands, project, *arguments):
    done = commands.run([*arguments, "--json"], cwd=project)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_everything_and_resuming_repeats_nothing(commands, project, number):
    code, message = stop_midway(commands, project, number)

    assert code == 130
    answered = calls(project).total()
    assert ITEMS // 3 <= answered < ITEMS
    assert f"{answered} of {ITEMS} runs saved" in message
    command = message.split("go on with: burnish ")[1].split()

    document = finish(commands, project, *command)

    assert document["status"] == "completed"
    assert (document["items"], document["score"]) == (ITEMS, 1.0)
    assert calls(project) == Counter({f"r{n}": 1 for n in range(ITEMS)})


def test_kill_9_costs_only_the_calls_in_flight(commands, project):
    code, _ = stop_midway(commands, project, signal.SIGKILL)

    assert code == -signal.SIGKILL
    answered = calls(project).total()
    [experiment] = finish(commands, project, "list")["experiments"]
    saved = experiment["items"]
    assert experiment["status"] == "running"
    assert saved >= answered - 8, "answers are saved as they come"

    document = finish(commands, project, "eval")

    assert (document["items"], document["cached"]) == (ITEMS, saved)
    assert calls(project).total() == answered + ITEMS - saved
