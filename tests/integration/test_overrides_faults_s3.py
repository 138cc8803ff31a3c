"""S3 that answers 503, slowly, not at all, or after the deed."""

import uuid

import pytest
from tests.servers.s3 import SECRET_KEY, Fault

from burnish.domain import ConflictError, UnavailableError, UsageError
from burnish.overrides import ABSENT, Patience, S3PromptOverridesStore
from burnish.testing.clocks import FakeClock
from burnish.testing.samples.overrides import HERE, PROMPT, bodies, override

PATIENT = Patience(first_wait_seconds=0.02)
HASTY = Patience(attempt_seconds=0.5, first_wait_seconds=0.02)
SHORT = Patience(deadline_seconds=1.0, first_wait_seconds=0.05)
LONG = Patience(attempt_seconds=60, deadline_seconds=100)
UNAVAILABLE = Fault(status=503)


@pytest.fixture
def server(s3):
    s3.misbehave()
    yield s3
    s3.misbehave()


@pytest.fixture
def address():
    return f"s3://overrides/{uuid.uuid4().hex}"


@pytest.fixture
def store(server, address):
    return S3PromptOverridesStore.from_url(address, patience=PATIENT, **server.settings)


@pytest.fixture
def hasty(server, address):
    return S3PromptOverridesStore.from_url(address, patience=HASTY, **server.settings)


@pytest.fixture
def short(server, address):
    return S3PromptOverridesStore.from_url(address, patience=SHORT, **server.settings)


def every_call(store):
    yield lambda: store.resolve(PROMPT, tag="t")
    yield lambda: store.store(PROMPT, override("system", "x"), tag="t")
    yield lambda: store.list_tags(**HERE)
    yield lambda: store.delete(**HERE, tag="t")


async def test_a_server_that_is_unavailable_for_a_moment_is_waited_for(server, store):
    for call in every_call(store):
        server.misbehave(UNAVAILABLE, Fault(status=500), Fault(status=429))
        await call()
        assert 4 <= server.requests() <= 5


async def test_a_server_that_stays_unavailable_is_given_up_by_the_deadline(server, address):
    clock = FakeClock()
    store = S3PromptOverridesStore.from_url(address, patience=LONG, clock=clock, **server.settings)
    for call in every_call(store):
        server.misbehave(*[UNAVAILABLE] * 200)
        began = clock.monotonic()

        with pytest.raises(
            UnavailableError, match=r"status 503; gave up after \d+ attempts"
        ) as one:
            await call()

        assert 90 < clock.monotonic() - began <= 100
        assert 50 < server.requests() < 110
        assert one.value.retryable
        assert "support/router" in one.value.what
        assert SECRET_KEY not in str(one.value)


async def test_a_slow_answer_is_waited_for_no_longer_than_an_attempt(server, store, hasty, short):
    await store.store(PROMPT, override("system", "x"), tag="t")

    # Nobody would wait for these.
    server.misbehave(Fault(seconds=600.0))
    assert await bodies(hasty, "t") == {"system": "x"}

    server.misbehave(*[Fault(seconds=600.0)] * 50)
    with pytest.raises(UnavailableError, match="did not answer in time"):
        await short.resolve(PROMPT, tag="t")


@pytest.mark.parametrize(
    "fault", [Fault(status=503, after=True), Fault(seconds=1.0)], ids=["answered 503", "too slow"]
)
@pytest.mark.parametrize("expected", ["new", "known", "any"])
async def test_a_write_that_was_done_without_an_answer_is_no_conflict(
    server, store, hasty, fault, expected
):
    revision = ABSENT
    if expected != "new":
        revision = await store.store(PROMPT, override("user", "before"), tag="t")
    # The read is answered, and the write is done in secret.
    server.misbehave(Fault(), fault)

    written = await hasty.store(
        PROMPT, override("system", "x"), tag="t", expected=None if expected == "any" else revision
    )

    found = await store.resolve(PROMPT, tag="t")
    assert found.revision == written
    assert found.sections["system"].body == "x"
    assert ("user" in found.sections) == (expected != "new")
    with pytest.raises(ConflictError):
        await store.store(PROMPT, override("system", "y"), tag="t", expected=revision)


async def test_a_delete_that_was_done_without_an_answer_is_done(server, store):
    await store.store(PROMPT, override("system", "x"), tag="t")
    server.misbehave(Fault(status=503, after=True))

    await store.delete(**HERE, tag="t")

    assert await store.resolve(PROMPT, tag="t") is None


@pytest.mark.parametrize(
    ("status", "words"),
    [(403, "denies access"), (401, "denies access"), (400, "status 400"), (501, "conditional")],
)
async def test_what_waiting_does_not_cure_is_said_at_once(server, store, status, words):
    for call in every_call(store):
        server.misbehave(*[Fault(status=status)] * 5)

        with pytest.raises(UsageError, match=words) as caught:
            await call()

        assert server.requests() == 1
        assert SECRET_KEY not in str(caught.value)


async def test_a_bucket_that_is_not_there_is_no_empty_store(server):
    store = S3PromptOverridesStore.from_url("s3://nowhere", patience=SHORT, **server.settings)

    for call in every_call(store):
        with pytest.raises(UsageError, match="no such bucket") as caught:
            await call()
        assert caught.value.code == "unknown_bucket"


async def test_a_server_that_is_away_is_given_up_by_the_deadline(server):
    settings = {**server.settings, "endpoint": "http://127.0.0.1:1"}
    store = S3PromptOverridesStore.from_url("s3://overrides", patience=SHORT, **settings)

    for call in every_call(store):
        with pytest.raises(UnavailableError, match="HTTP error") as caught:
            await call()
        assert SECRET_KEY not in str(caught.value)


def test_an_address_or_a_setting_that_cannot_be_understood_is_named():
    for url, settings in (
        ("nonsense", {}),
        ("ftp://host/x", {}),
        ("s3://bucket", {"no_such_setting": "x"}),
        ("s3://bucket", {"region": 7, "secret_access_key": SECRET_KEY}),
    ):
        with pytest.raises(UsageError, match="s3://bucket/folder") as caught:
            S3PromptOverridesStore.from_url(url, **settings)
        assert SECRET_KEY not in str(caught.value)
