"""Valkey that is killed, frozen, restarted, locked, or answers nobody."""

import asyncio

import pytest
import redis
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from tests.servers.valkey import start_valkey

from burnish.domain import ConflictError, UnavailableError, UsageError
from burnish.overrides import ABSENT, Patience, RedisPromptOverridesStore
from burnish.testing.samples.overrides import (
    HERE,
    PROMPT,
    bodies,
    many_sections,
    override,
    override_of,
)

SHORT = Patience(attempt_seconds=0.3, deadline_seconds=1.0)
CANARY = "canary-password"


@pytest.fixture
def server(tmp_path):
    running = start_valkey(tmp_path / "valkey")
    yield running
    running.stop()


@pytest.fixture
async def client(server):
    async with Redis.from_url(server.url) as opened:
        yield opened


async def test_a_server_killed_and_restarted_while_many_write_loses_nothing(server):
    prompt = many_sections(40)

    async with RedisPromptOverridesStore.from_url(server.url) as store:
        written = asyncio.Semaphore(0)

        async def write(number):
            await store.store(prompt, override_of(prompt, f"s{number}", f"by {number}"), tag="t")
            written.release()

        writers = [asyncio.create_task(write(number)) for number in range(40)]
        for _ in range(10):
            await written.acquire()
        server.kill()
        await asyncio.to_thread(server.restart)
        await asyncio.gather(*writers)

        assert await bodies(store, "t", prompt) == {f"s{n}": f"by {n}" for n in range(40)}


async def test_a_server_that_is_away_is_given_up_by_the_deadline(server):
    server.stop()

    async with RedisPromptOverridesStore.from_url(server.url, patience=SHORT) as store:
        for attempt in (
            store.resolve(PROMPT, tag="t"),
            store.store(PROMPT, override("system", "x"), tag="t"),
            store.delete(**HERE, tag="t"),
            store.list_tags(**HERE),
        ):
            with pytest.raises(UnavailableError, match=f"127.0.0.1:{server.port}") as caught:
                await attempt
            assert caught.value.retryable
            assert "in 1 seconds at most" in caught.value.why


async def test_a_server_that_never_answers_is_given_up_by_the_deadline(server, client):
    # This client by itself would wait for ever.
    async with Redis.from_url(server.url, socket_timeout=None) as waiting:
        store = RedisPromptOverridesStore(waiting, patience=SHORT)
        await RedisPromptOverridesStore(client).store(PROMPT, override("system", "x"), tag="t")

        with server.frozen(), pytest.raises(UnavailableError, match="did not answer in time"):
            await store.resolve(PROMPT, tag="t")

        assert await bodies(RedisPromptOverridesStore(waiting), "t") == {"system": "x"}


class LosesAnswers(Redis):
    """Does what it is asked, and loses the answers to some of the writes."""

    lost = 0

    async def execute_command(self, *command, **options):
        answer = await super().execute_command(*command, **options)
        if command[0] == "EVAL" and self.lost:
            self.lost -= 1
            raise redis.ConnectionError("Connection reset by peer")
        return answer


@pytest.fixture
async def losing(server):
    async with LosesAnswers.from_url(server.url, retry=Retry(NoBackoff(), 0)) as opened:
        yield opened


@pytest.mark.parametrize("expected", ["new", "known", "any"])
async def test_a_write_whose_answer_was_lost_is_done_once(losing, client, expected):
    store, plain = RedisPromptOverridesStore(losing), RedisPromptOverridesStore(client)
    revision = ABSENT
    if expected != "new":
        revision = await plain.store(PROMPT, override("user", "before"), tag="t")
    losing.lost = 2

    written = await store.store(
        PROMPT, override("system", "x"), tag="t", expected=None if expected == "any" else revision
    )

    found = await plain.resolve(PROMPT, tag="t")
    assert found.revision == written
    assert found.sections["system"].body == "x"
    with pytest.raises(ConflictError):
        await store.store(PROMPT, override("system", "y"), tag="t", expected=revision)


async def test_what_another_program_keeps_under_the_key_is_left_alone(client):
    store = RedisPromptOverridesStore(client, prefix="taken")
    await client.set("taken:support:router", "mine")

    for attempt in (
        store.resolve(PROMPT, tag="t"),
        store.store(PROMPT, override("system", "x"), tag="t"),
        store.list_tags(**HERE),
        store.delete(**HERE, tag="t"),
    ):
        with pytest.raises(UsageError, match="another program"):
            await attempt

    assert await client.get("taken:support:router") == b"mine"


async def test_a_refused_password_is_said_and_not_shown(server, client):
    await client.config_set("requirepass", "right")

    for user in (f":{CANARY}@", f"me:{CANARY}@", ""):
        url = f"redis://{user}127.0.0.1:{server.port}/0"
        async with RedisPromptOverridesStore.from_url(url) as store:
            with pytest.raises(UsageError, match="refuses this user") as caught:
                await store.resolve(PROMPT, tag="t")
            assert CANARY not in str(caught.value)


async def test_a_server_without_memory_says_so(client):
    store = RedisPromptOverridesStore(client)
    await client.config_set("maxmemory", "1mb")

    with pytest.raises(UnavailableError, match="memory"):
        for number in range(100):
            await store.store(PROMPT, override("system", "x" * 100_000), tag=f"t{number}")


def test_a_client_that_blocks_is_refused(server):
    blocking = redis.Redis.from_url(server.url)

    with blocking, pytest.raises(UsageError, match=r"redis\.asyncio"):
        RedisPromptOverridesStore(blocking)


def test_an_address_that_cannot_be_understood_is_not_shown():
    for url in (f"http://{CANARY}@host", f"redis://:{CANARY}@host:port/0", CANARY):
        with pytest.raises(UsageError, match="redis://127.0.0.1") as caught:
            RedisPromptOverridesStore.from_url(url)
        assert CANARY not in str(caught.value)
