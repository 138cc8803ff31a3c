"""Optimization requests by mailbox: the same orchestrator, resumed by whoever takes them next."""

import asyncio
import contextlib
import os
import signal
import sqlite3
from collections import Counter
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
import redis
from loop_world import DEADLINE, QUICK, client_of, until_sync
from optimization_world import in_child, wait_for
from tests.servers.valkey import running_valkey

import burnish
from burnish.app.compress.requested import Project, RequestedCompressions
from burnish.app.wiring import Workspace
from burnish.overrides import (
    LocalPromptOverridesStore,
    PromptOverride,
    SectionOverride,
    descriptor_of,
)
from burnish.runtime import (
    InMemoryMailbox,
    OptimizeLoop,
    OptimizeRequest,
    RedisMailbox,
    ask,
    ask_all,
    samples_of,
)

DUE = "burnish:mailbox:{optimize}:due"
SYSTEM = """Please note that you are a very helpful assistant. It is very important to read it all.
Tickets about a refund or a bill are billing. Thank you very much for your help.
Tickets about a crash or an error are technical.
In order to do well, please read carefully. In order to do well, read carefully."""
SHORT = (
    "Tickets about a refund or a bill are billing.\n"
    "Tickets about a crash or an error are technical."
)
ROWS = [
    {"id": f"r{n}", "text": f"ticket {n}", "label": ("billing", "technical")[n % 2]}
    for n in range(20)
]


class Office:
    """A project whose agent logs its calls, with a database and a store of tags in a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.log = self.folder / "calls"
        # After so many calls the agent gives no more answers.
        self.stops_at = None
        self.compression = {}
        self.store = LocalPromptOverridesStore(self.folder / "tags")

        async def answer(configuration, item):
            with self.log.open("a") as log:
                log.write(f"{configuration.hash} {item.id}\n")
            if self.stops_at is not None and self.calls().total() > self.stops_at:
                await asyncio.sleep(3600)
            experiment = burnish.current_experiment()
            if experiment is not None and experiment.flag("broken"):
                return "other"
            text = configuration["sections"]["system"].lower()
            word = {"billing": "refund", "technical": "crash"}[item["label"]]
            return item["label"] if word in text else "other"

        sections = {"system": SYSTEM, "user": "{{text}}"}
        self.agent = burnish.Agent(
            name="tickets",
            configuration={"sections": sections},
            run=answer,
            version="1",
            concurrency=4,
        )
        self.suite = burnish.Suite(
            dataset=ROWS, scorers=[{"kind": "exact_match", "field": "label"}]
        )
        self.descriptor = descriptor_of("tickets", self.agent.configuration)

    def calls(self):
        return Counter(self.log.read_text().splitlines() if self.log.exists() else [])

    def request(self, **changes):
        return OptimizeRequest(**{"descriptor": self.descriptor, "eval_runs": 1, **changes})

    @contextlib.asynccontextmanager
    async def worker(self, box, *, visibility_timeout=30, **settings):
        """A loop that serves optimization requests within the block."""
        async with Workspace.open(str(self.folder / "office.db")) as workspace:
            project = Project(agent=self.agent, suite=self.suite, compression=self.compression)
            optimizer = RequestedCompressions(workspace, project, store=self.store)
            loop = OptimizeLoop(optimizer=optimizer, requests=box, rules=QUICK, **settings)
            times = {"visibility_timeout": visibility_timeout, "wait_time_seconds": 1}
            running = asyncio.create_task(loop.run(**times))
            try:
                yield loop
            finally:
                await loop.shutdown(timeout=5)
                await running


@pytest.fixture
def office(tmp_path):
    return Office(tmp_path)


@pytest.fixture
def box():
    return InMemoryMailbox("optimize-requests")


async def test_a_request_is_answered_with_modifications_that_fit_a_tag(office, box):
    async with office.worker(box):
        result = await ask(box, office.request(dataset=samples_of(ROWS)), timeout=DEADLINE)

    report = result.report
    assert (result.error, report.regressions) == (None, ())
    (change,) = report.modifications
    assert (change.section_path, change.proposed_body) == ("system", SHORT)
    assert report.total_token_reduction == report.tokens_before - report.tokens_after > 30
    await burnish.apply_modifications(office.store, office.descriptor, report.modifications)
    found = await office.store.resolve(office.descriptor, tag="stable")
    assert found.apply(office.agent.configuration).sections["system"] == SHORT


async def test_the_workers_own_settings_count_unless_the_request_has_others(office, box):
    office.compression = {"sections": ["user"], "lines": False}

    async with office.worker(box):
        own = await ask(box, office.request(), timeout=DEADLINE)
        other = await ask(
            box,
            office.request(settings={"sections": ["system"], "lines": True}),
            timeout=DEADLINE,
        )

    assert (own.error, own.report.modifications) == (None, ())
    assert [one.section_path for one in other.report.modifications] == ["system"]


async def test_a_baseline_tag_that_is_not_there_is_refused(office, box):
    async with office.worker(box):
        result = await ask(box, office.request(baseline_tag="gone"), timeout=DEADLINE)

    assert "no such tag" in result.error
    assert not office.calls()


async def test_the_baseline_is_the_prompt_under_its_tag(office, box):
    longer = SYSTEM + "\nThank you very much for your help. Take care and read it well."
    own_hash = office.descriptor.section("system").content_hash
    override = SectionOverride(path="system", expected_hash=own_hash, body=longer)
    tag = PromptOverride.of(office.descriptor, "base", [override])
    revision = await office.store.upsert(office.descriptor, tag)

    async with office.worker(box):
        request = office.request(baseline_tag="base")
        result = await ask(box, request, timeout=DEADLINE)
        later = PromptOverride.of(office.descriptor, "base", [replace(override, body="Later.")])
        await office.store.upsert(office.descriptor, later)
        again = await ask(box, request, timeout=DEADLINE)
        await office.store.upsert(office.descriptor, tag)

    (change,) = result.report.modifications
    assert result.report.tokens_before > 70
    # The hash is that of the prompt's own text: so it fits the store, whatever the tag held.
    assert change.original_hash == own_hash
    # So does what the change was tried with, and what it cost.
    assert (change.built_on, result.report.baseline_tag) == ("base", "base")
    # Of the tag as it was then, also when the same request is answered after a write to it.
    assert result.report.baseline_revision == again.report.baseline_revision == revision
    assert result.report.usage["calls"] >= 0
    await burnish.apply_modifications(
        office.store, office.descriptor, [change], tag="next", built_on="base"
    )
    found = await office.store.resolve(office.descriptor, tag="next")
    assert found.apply(office.agent.configuration).sections["system"] == SHORT


async def test_the_same_request_is_the_same_optimization(office, box):
    request = office.request(request_id=UUID(int=5))
    async with office.worker(box, concurrency=2):
        # Sent twice at once: one worker's lease keeps the other out until it has ended.
        first, second = await asyncio.gather(
            *(ask(box, request, timeout=DEADLINE) for _ in range(2))
        )
        calls = office.calls()
        third = await ask(box, request, timeout=DEADLINE)

    assert first.report == second.report == third.report
    assert first.report.experiment_id == str(UUID(int=5))
    assert office.calls() == calls
    assert sum(calls.values()) == first.report.evaluations


async def test_flags_reach_the_agent_and_nothing_is_reused_across_them(office, box):
    async with office.worker(box):
        fine, broken = await ask_all(
            box, [office.request(), office.request(flags={"broken": True})], timeout=DEADLINE
        )

    assert fine.report.baseline_pass_rate == 1.0
    assert broken.report.baseline_pass_rate == 0.0
    assert not broken.report.has_modifications


async def test_what_cannot_be_served_is_answered_with_the_reason(office, box):
    other = descriptor_of("tickets", {"sections": {"system": "Another.", "user": "{{text}}"}})
    stranger = descriptor_of("somebody", office.agent.configuration)
    requests = [
        office.request(descriptor=other),
        office.request(descriptor=stranger),
        office.request(dataset_id="nowhere"),
        office.request(settings={"min_section_tokens": -3}),
        office.request(settings={"nonsense": 1}),
        office.request(settings={"model": "local/somewhere.gguf"}),
        office.request(settings={"strategies": [{"name": "x"}]}),
        office.request(eval_runs=0),
        office.request(baseline_tag="../up"),
        office.request(dataset=samples_of([{"text": "no label"}])),
    ]
    async with office.worker(box):
        answers = await ask_all(box, requests, timeout=DEADLINE)

    reasons = [one.error for one in answers]
    assert all(reasons)
    assert "other" in reasons[0]
    assert "agents/somebody" in reasons[1]
    assert "nowhere" in reasons[2]
    assert office.calls() == {}


@pytest.fixture(scope="module")
def server():
    with running_valkey() as running:
        yield running


async def test_a_worker_may_serve_several_optimizations_at_once(
    server, office, monkeypatch, caplog
):
    monkeypatch.chdir(office.folder)
    own_hash = office.descriptor.section("system").content_hash
    override = SectionOverride(path="system", expected_hash=own_hash, body=f"{SYSTEM}\nTake care.")
    await office.store.store(office.descriptor, override, tag="base")
    begun, both = set(), asyncio.Event()

    async def answer(configuration, item):
        begun.update(burnish.current_experiment().flags)
        if len(begun) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), DEADLINE)
        return item["label"]

    serving = asyncio.create_task(
        burnish.work_async(
            replace(office.agent, run=answer, concurrency=2 * len(ROWS)),
            office.suite,
            mailbox=server.url,
            db=office.folder / "several.db",
            overrides=str(office.folder / "tags"),
            optimizations=2,
            grace_seconds=1,
        )
    )
    async with client_of(server) as client:
        answers = await ask_all(
            RedisMailbox("optimize-requests", client),
            [office.request(flags={name: True}, baseline_tag="base") for name in ("one", "two")],
            timeout=DEADLINE,
        )
    serving.cancel()
    await asyncio.wait({serving})

    assert [one.error for one in answers] == [None, None]
    # CMP-23: nobody changed the tag, and the log says nothing else.
    assert "was changed by somebody" not in caplog.text


def test_a_killed_owner_is_followed_by_another_that_goes_on(server, tmp_path):
    (tmp_path / "still").mkdir()
    (tmp_path / "killed").mkdir()
    still = Office(tmp_path / "still")

    async def undisturbed():
        box = InMemoryMailbox("optimize-requests")
        async with still.worker(box):
            return await ask(box, still.request(), timeout=DEADLINE)

    expected = asyncio.run(undisturbed()).report
    office = Office(tmp_path / "killed")

    async def serve():
        office.stops_at = 30
        async with (
            client_of(server) as client,
            office.worker(RedisMailbox("optimize", client)),
        ):
            await asyncio.sleep(3600)

    child = in_child(lambda: asyncio.run(serve()))
    request = office.request()

    def kill():
        until_sync(lambda: office.calls().total() > 30 and kept(office) >= 30, "getting half-way")
        os.kill(child, signal.SIGKILL)
        assert wait_for(child) == -signal.SIGKILL
        # What it held is free: nobody waits until its lease has run out.
        with redis.Redis.from_url(server.url) as client:
            for receipt in client.zrange(DUE, 0, -1):
                client.zadd(DUE, {receipt: 0})

    async def follow():
        async with client_of(server) as client:
            box = RedisMailbox("optimize", client)
            asking = asyncio.create_task(ask(box, request, timeout=DEADLINE))
            await asyncio.to_thread(kill)
            async with office.worker(box):
                return await asking

    report = asyncio.run(follow()).report

    assert report.experiment_id == str(request.request_id)
    assert replace(report, experiment_id="") == replace(expected, experiment_id="")
    # What was in flight at the kill runs again, four at once; nothing else does.
    again = office.calls().total() - still.calls().total()
    assert 0 < again <= 4


def kept(office):
    """How many answers are in the database."""
    with contextlib.closing(sqlite3.connect(office.folder / "office.db", timeout=600)) as database:
        rows = database.execute("SELECT count(*) FROM experiment_items WHERE NOT cached")
        return rows.fetchone()[0]
