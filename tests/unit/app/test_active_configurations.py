"""Active configurations for production: from a database, a file or a server, kept while it is away."""

import asyncio
import json
import threading

import httpx2
import pytest

import burnish
from burnish.app.agents import active as module
from burnish.app.agents.active import ActiveConfiguration, ActiveConfigurations, Source
from burnish.app.wiring import Workspace
from burnish.domain import Configuration, UnavailableError, UsageError

CONFIGURATION = {"sections": {"system": "Say."}, "parameters": {"temperature": 0.5}}


def text(value):
    return {"sections": {"system": value}}


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    monkeypatch.setattr(module, "_known", ActiveConfigurations())


async def promoted(location, *texts):
    async with Workspace.open(str(location)) as workspace:
        for one in texts:
            await workspace.agents.add_version("router", Configuration.of(text(one)))


async def test_what_was_promoted_last_is_read_from_the_database(tmp_path):
    await promoted(tmp_path / "b.db", "One.", "Two.")

    found = burnish.active("router", db=tmp_path / "b.db")

    assert found.sections == {"system": "Two."}
    assert (found.version, found.stale, found.source) == (2, False, str(tmp_path / "b.db"))
    assert (await burnish.active_async("router", db=tmp_path / "b.db")) == found


async def test_the_default_place_is_that_of_the_folder(tmp_path, monkeypatch):
    monkeypatch.delenv("BURNISH_DB", raising=False)
    monkeypatch.chdir(tmp_path)
    await promoted(tmp_path / ".burnish" / "burnish.db", "Here.")

    assert burnish.active("router").sections["system"] == "Here."


def test_reading_makes_no_database(tmp_path):
    with pytest.raises(UsageError, match="nothing is stored here yet"):
        burnish.active("router", db=tmp_path / "none.db")

    assert list(tmp_path.iterdir()) == []


async def test_nothing_promoted_is_said_unless_there_is_a_default(tmp_path):
    await promoted(tmp_path / "b.db")

    with pytest.raises(UsageError, match="nothing was promoted for it"):
        burnish.active("router", db=tmp_path / "b.db")

    found = burnish.active("router", db=tmp_path / "b.db", default=CONFIGURATION)
    assert (found.sections, found.source, found.stale) == ({"system": "Say."}, "default", True)
    assert found.parameters == {"temperature": 0.5}
    assert found.examples == ()


def test_a_file_is_an_export_a_configuration_or_burnish_toml(tmp_path):
    (export := tmp_path / "winner.json").write_text(
        json.dumps({"agent": "router", "score": 1.0, "configuration": CONFIGURATION})
    )
    (plain := tmp_path / "plain.json").write_text(json.dumps(CONFIGURATION))
    (toml := tmp_path / "burnish.toml").write_text(
        '[agent]\nname = "router"\nrun = "a:b"\n[agent.sections]\nsystem = "Say."\n'
        "[agent.parameters]\ntemperature = 0.5\n"
        '[suite]\ndataset = "rows.jsonl"\nscorers = ["exact_match"]\n'
    )

    for path in (export, plain, toml):
        found = burnish.active("router", file=path)
        assert found.configuration.hash == Configuration.of(CONFIGURATION).hash
        assert found.version is None

    with pytest.raises(UsageError, match="is of the agent 'router'"):
        burnish.active("other", file=export)
    with pytest.raises(UsageError, match="cannot be read"):
        burnish.active("router", file=tmp_path / "none.json")


def test_one_source_is_enough(tmp_path):
    with pytest.raises(UsageError, match="several sources are given: file, url"):
        burnish.active("router", file=tmp_path / "a.json", url="http://127.0.0.1:1")


class Server:
    """What stands for a server: its answers in order."""

    def __init__(self, monkeypatch, *answers):
        self.asked = []
        self._answers = list(answers)
        monkeypatch.setattr(httpx2, "get", self.get)

    def get(self, url, *, headers, timeout):
        self.asked.append((url, headers))
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        status, body = answer
        return httpx2.Response(status, json=body)


def test_a_server_is_asked_with_the_key_of_the_environment(monkeypatch):
    monkeypatch.setenv("PRODUCTION_KEY", "k" * 20)
    server = Server(monkeypatch, (200, {"active_version": 3, "configuration": CONFIGURATION}))

    found = burnish.active(
        "a/b", url="https://me:secret@host:9/burnish/", api_key_env="PRODUCTION_KEY"
    )

    address, headers = server.asked[0]
    assert address == "https://me:secret@host:9/burnish/v1/private/agents/a%2Fb"
    assert headers == {"Authorization": "Bearer " + "k" * 20}
    assert (found.version, found.source) == (3, "https://host:9/burnish")


@pytest.mark.parametrize(
    ("answer", "family", "why"),
    [
        ((404, {}), UsageError, "status 404"),
        ((401, {}), UsageError, "status 401"),
        ((503, {}), UnavailableError, "status 503"),
        ((200, {"hello": "world"}), UnavailableError, "as no Burnish server does"),
        (httpx2.ConnectError("refused"), UnavailableError, "ConnectError"),
    ],
)
def test_what_a_server_may_answer_instead(monkeypatch, answer, family, why):
    Server(monkeypatch, answer)

    with pytest.raises(family, match=why):
        burnish.active("router", url="http://host")


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def known(version):
    return ActiveConfiguration(
        agent="router",
        configuration=Configuration.of(text(f"v{version}")),
        source="s",
        version=version,
    )


def away():
    return UnavailableError(what="it is away", why="no answer", fix="wait")


class Scripted:
    """A source that answers as it is told to."""

    def __init__(self, *answers):
        self.asked, self.answers = 0, list(answers)
        self.source = Source("router", "s", self.read)

    def read(self):
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def test_an_answer_is_kept_for_its_time():
    clock, scripted = Clock(), Scripted(known(1), known(2))
    kept = ActiveConfigurations(clock)

    versions = []
    for clock.now in (0.0, 59.0, 60.0):
        versions.append(kept.get(scripted.source, ttl=60).version)

    assert versions == [1, 1, 2]
    assert scripted.asked == 2


def test_the_last_answer_stands_while_the_source_is_away_and_the_log_says_so(caplog):
    clock, scripted = Clock(), Scripted(known(1), away(), known(2))
    kept = ActiveConfigurations(clock)

    found = []
    for clock.now in (0.0, 60.0, 64.0, 65.0):
        found.append(kept.get(scripted.source, ttl=60))

    assert [(one.version, one.stale) for one in found] == [
        (1, False),
        (1, True),
        (1, True),
        (2, False),
    ]
    assert scripted.asked == 3
    assert len(caplog.records) == 1
    assert "cannot be read from s" in caplog.text
    assert "going on with its last answer" in caplog.text


def test_a_source_that_never_answered_is_not_asked_at_every_call():
    clock, scripted = Clock(), Scripted(away(), away())
    kept = ActiveConfigurations(clock)

    with pytest.raises(UnavailableError):
        kept.get(scripted.source, ttl=60)
    found = kept.get(scripted.source, ttl=60, default=text("own"))
    with pytest.raises(UnavailableError):
        kept.get(scripted.source, ttl=60)

    assert (found.sections["system"], found.stale) == ("own", True)
    assert scripted.asked == 1


async def test_while_one_thread_asks_the_others_get_what_is_known():
    clock, begun, go = Clock(), threading.Event(), threading.Event()

    def read():
        if clock.now:
            begun.set()
            go.wait()
            return known(2)
        return known(1)

    source, kept = Source("router", "s", read), ActiveConfigurations(clock)
    kept.get(source, ttl=60)
    clock.now = 61.0

    asking = asyncio.create_task(asyncio.to_thread(kept.get, source, ttl=60))
    await asyncio.to_thread(begun.wait)
    meanwhile = kept.get(source, ttl=60)
    go.set()

    assert meanwhile.version == 1
    assert (await asking).version == 2
    assert kept.get(source, ttl=60).version == 2
