"""A served project whose agent is a Python function, and servers for it: in a thread or a process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from burnish.server.http.app import create_app
from burnish.server.http.serving import _Server, address_of, bind
from burnish.server.http.settings import ServerSettings
from burnish.support.tls import tls_context

# For what should happen soon: far more than a busy machine needs.
DEADLINE = 600.0
BURNISH = [sys.executable, "-P", "-c", "from burnish.cli import main; main()"]
API = "/v1/private"
OPTIMIZATIONS = f"{API}/optimizations"
CONFIG = """
[agent]
name = "tickets"
run = "agent:answer"
concurrency = 4
[agent.sections]
system = "Classify the ticket as billing or technical."
user = "{{text}}"
[suite]
dataset = "rows.jsonl"
scorers = [{ kind = "exact_match", field = "label" }]
split = { train = 0.2, validation = 0.4, test = 0.4 }
[optimizer]
name = "edits"
candidates_per_step = 3
seed = 3
[budget]
max_trials = 4
[models."openai/gpt-test"]
"""
# A call that is cut off has not been answered, and is not in the log. After AGENT_STOPS_AT answers
# it gives no more: whatever a test does then hits a run in the middle, on any machine.
AGENT = """
import asyncio, hashlib, os

answered = 0

async def answer(configuration, item):
    global answered
    text = "\\x1f".join(configuration["sections"].values())
    await asyncio.sleep(float(os.environ.get("AGENT_SECONDS", "0")))
    if answered == int(os.environ.get("AGENT_STOPS_AT", "-1")):
        await asyncio.sleep(3600)
    answered += 1
    name = hashlib.sha256(text.encode()).hexdigest()
    luck = int(hashlib.sha256((text + item["text"]).encode()).hexdigest()[:8], 16) / 16**8
    with open(os.path.join(os.path.dirname(__file__), "calls.log"), "a") as log:
        log.write(f"{name[:12]}:{item.id}\\n")
    as_given = text.startswith("Classify the ticket as billing or technical.\\x1f")
    worth = 0.3 if as_given else 0.5 + 0.4 * int(name[:4], 16) / 16**4
    return item["label"] if luck < worth else "other"
"""


def make_served_project(folder: Path, *, items: int = 30) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "burnish.toml").write_text(CONFIG)
    (folder / "agent.py").write_text(AGENT)
    labels = ("technical", "billing")
    rows = [{"id": f"r{n}", "text": f"ticket {n}", "label": labels[n % 2]} for n in range(items)]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


class ServerThread:
    """A server of this process, on a free port and an event loop of its own."""

    def __init__(self, settings: ServerSettings) -> None:
        self.settings = settings
        self.app = create_app(settings)
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> ServerThread:
        self._thread.start()
        assert self._ready.wait(DEADLINE)
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive()

    def client(self, **options) -> httpx2.Client:
        return _client(self.address, **options)

    def call(self, work):
        """What a coroutine of the server's own loop comes to."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(DEADLINE)

    @property
    def services(self):
        return self.app.state.services

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self.loop = asyncio.get_running_loop()
        with contextlib.closing(bind("127.0.0.1", 0)) as bound:
            self.address = address_of(bound)
            self._server = _Server(self.app, self.settings.shutdown_seconds)
            async with self.app.router.lifespan_context(self.app):
                running = asyncio.create_task(self._server.serve(sockets=[bound]))
                await asyncio.wait_for(self._server.answering.wait(), DEADLINE)
                self._ready.set()
                await running


def _client(address: str, **options) -> httpx2.Client:
    return httpx2.Client(base_url=address, timeout=DEADLINE, verify=tls_context(), **options)


def settings_of(folder: Path, **changes) -> ServerSettings:
    database = changes.pop("database", str(folder / ".burnish" / "burnish.db"))
    # Whether the UI was built must not matter, except to tests of it.
    changes.setdefault("ui", folder / "no-ui")
    return ServerSettings(config=folder / "burnish.toml", database=database, port=0, **changes)


@dataclass
class ServerProcess:
    """`burnish serve` as a user starts it."""

    folder: Path
    arguments: tuple[str, ...] = ()
    variables: dict[str, str] = field(default_factory=dict)

    def __enter__(self) -> ServerProcess:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("BURNISH_")}
        self._errors = (self.folder / f"serve-{time.monotonic_ns()}.log").open("w+")
        self.process = subprocess.Popen(
            [*BURNISH, "serve", "--port", "0", "--log-format", "json", *self.arguments],
            cwd=self.folder,
            env={**kept, **self.variables},
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert " at http" in line, self.log()
        self.address = line.strip().rpartition(" ")[2]
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(DEADLINE)
        self.process.stdout.close()
        self._errors.close()

    def log(self) -> str:
        self._errors.flush()
        return Path(self._errors.name).read_text()

    def client(self, **options) -> httpx2.Client:
        return _client(self.address, **options)


def events_of(lines):
    """(id, event, data) of each event on a stream's lines, comments left out."""
    found = {}
    for line in lines:
        name, _, value = line.partition(": ")
        if not line:
            if "data" in found:
                yield found.get("id"), found["event"], json.loads(found["data"])
            found = {}
        elif name:
            found[name] = value


def wait_until_final(client, optimization_id, *, seconds=DEADLINE):
    """The optimization once it has ended."""
    deadline = time.monotonic() + seconds
    while True:
        view = client.get(f"{OPTIMIZATIONS}/{optimization_id}").json()
        if view["status"] in ("completed", "failed", "cancelled"):
            # Its position was read before all the rest, and may lie before the end.
            return client.get(f"{OPTIMIZATIONS}/{optimization_id}").json()
        assert time.monotonic() < deadline, view
        time.sleep(0.02)


def wait_until_ready(client):
    """What `/health/ready` says once everything answers; on a busy machine that may take a while."""
    deadline = time.monotonic() + DEADLINE
    while (answer := client.get("/health/ready")).status_code != 200:
        assert time.monotonic() < deadline, answer.text
    return answer.json()


def calls(folder: Path) -> list[str]:
    log = folder / "calls.log"
    return log.read_text().split() if log.exists() else []


def wait_for_calls(folder: Path, number: int) -> None:
    deadline = time.monotonic() + DEADLINE
    while len(calls(folder)) < number:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def wait_for_results(folder: Path, number: int) -> None:
    """Until so many answers are kept in the project's own database."""
    deadline = time.monotonic() + DEADLINE
    path = folder / ".burnish" / "burnish.db"
    with contextlib.closing(sqlite3.connect(path, timeout=DEADLINE)) as database:
        while database.execute("SELECT count(*) FROM experiment_items").fetchone()[0] < number:
            assert time.monotonic() < deadline
            time.sleep(0.01)
