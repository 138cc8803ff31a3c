"""A small project whose agent is a Python function: other wordings than the first are better."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter

from burnish.cli.invocation import run_command

BURNISH = [sys.executable, "-P", "-c", "from burnish.cli import main; main()"]
ITEMS = 60
CONCURRENCY = 4
CONFIG = f"""
[agent]
name = "tickets"
run = "agent:answer"
concurrency = {CONCURRENCY}
[agent.sections]
system = {{ file = "prompts/system.md" }}
user = "{{{{text}}}}"
[suite]
dataset = "rows.jsonl"
scorers = [{{ kind = "exact_match", field = "label" }}]
split = {{ train = 0.2, validation = 0.4, test = 0.4 }}
[optimizer]
name = "edits"
candidates_per_step = 3
seed = 3
[budget]
max_trials = 6
"""
# The log stands after the wait: a call that is cut off has not been answered, and is not counted.
# After AGENT_STOPS_AT answers it waits for a file `go on`: what happens then hits a run in the middle.
AGENT = """
import asyncio, hashlib, os

answered = 0

async def answer(configuration, item):
    global answered
    text = "\\x1f".join(configuration["sections"].values())
    await asyncio.sleep(0)
    while answered == int(os.environ.get("AGENT_STOPS_AT", "-1")) and not os.path.exists("go on"):
        await asyncio.sleep(0.02)
    answered += 1
    name = hashlib.sha256(text.encode()).hexdigest()
    luck = int(hashlib.sha256((text + item["text"]).encode()).hexdigest()[:8], 16) / 16**8
    with open("calls.log", "a") as log:
        log.write(f"{name[:12]}:{item.id}\\n")
    as_given = text == "Classify the ticket as billing or technical.\\x1f{{text}}"
    worth = 0.3 if as_given else 0.5 + 0.4 * int(name[:4], 16) / 16**4
    return item["label"] if luck < worth else "other"
"""
PROMPT = "Classify the ticket as billing or technical.\n"


def make_project(folder):
    (folder / "prompts").mkdir(parents=True)
    (folder / "prompts" / "system.md").write_text(PROMPT)
    (folder / "burnish.toml").write_text(CONFIG)
    (folder / "agent.py").write_text(AGENT)
    labels = ("technical", "billing")
    rows = [{"id": f"r{n}", "text": f"ticket {n}", "label": labels[n % 2]} for n in range(ITEMS)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


class Here:
    """Runs commands in this process, which spares each of them the start of another."""

    def __init__(self, capfd, monkeypatch):
        self._capfd = capfd
        self._monkeypatch = monkeypatch
        for name in os.environ:
            if name.startswith("BURNISH_"):
                monkeypatch.delenv(name)

    def run(self, project, *arguments, code=0, **variables):
        """The command's stdout and stderr; it must end with this code and never show a trace."""
        self._capfd.readouterr()
        with self._monkeypatch.context() as changed:
            changed.chdir(project)
            for name, value in variables.items():
                changed.setenv(name, value)
            ended = run_command(list(arguments))
        out, err = self._capfd.readouterr()
        assert ended == code, out + err
        assert "Traceback" not in out + err
        return out, err

    def out(self, project, *arguments, **options):
        """What a command prints."""
        return self.run(project, *arguments, **options)[0]

    def err(self, project, *arguments, **options):
        """What a command says on stderr."""
        return self.run(project, *arguments, **options)[1]

    def document(self, project, *arguments, **options):
        """The JSON document that a command prints."""
        return json.loads(self.out(project, *arguments, "--json", **options))


def optimized(project, *arguments):
    """The document of an optimization in a process of its own, loaded and hashing anew."""
    done = subprocess.run(
        [*BURNISH, "optimize", "--json", *arguments],
        cwd=project,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _environment():
    return {name: value for name, value in os.environ.items() if not name.startswith("BURNISH_")}


def start(commands, project, *arguments, stops_at):
    """A command in the background, with an agent that halts after so many answers."""
    environment = {**_environment(), "AGENT_STOPS_AT": str(stops_at)}
    return commands.start(arguments, cwd=project, env=environment)


def calls(project):
    """How often each wording was asked about each item."""
    log = project / "calls.log"
    return Counter(log.read_text().split()) if log.exists() else Counter()


def saved(project):
    """How many answers are kept."""
    path = project / ".burnish" / "burnish.db"
    with contextlib.closing(sqlite3.connect(path, timeout=600)) as database:
        rows = database.execute("SELECT count(*) FROM experiment_items WHERE NOT cached")
        return rows.fetchone()[0]


def wait_for_calls(project, number, running):
    """Until the agent has answered so often, and the answers are kept."""
    deadline = time.monotonic() + 600
    while calls(project).total() < number or saved(project) < number:
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def essence(result):
    """What must not depend on how often a run was interrupted."""
    names = (
        "improved",
        "test",
        "improvement",
        "trials",
        "evaluations",
        "rejections",
        "stop_reason",
    )
    return {
        "best": {name: result["best"][name] for name in ("score", "configuration")},
        "baseline": result["baseline"]["score"],
        "progress": [(one["evaluations"], one["best_score"]) for one in result["progress"]],
        **{name: result[name] for name in names},
    }
