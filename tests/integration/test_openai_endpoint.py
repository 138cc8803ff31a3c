"""The real SDK against a real HTTP server that misbehaves on order."""

import asyncio
import gc
import json
import logging
import socket
import traceback

import pytest
from tests.servers.misbehaving import (
    MisbehavingServer,
    cut,
    endless,
    hang,
    ok,
    raw,
    running_server,
    status,
    streamed,
)

from burnish.domain import Message, ModelRequest, SystemClock, UnavailableError, UsageError
from burnish.models import CachedModel, ModelSettings, OpenAIModel, open_model
from burnish.models.limiter import shared_limits

# Unlike a key in form, so that only its value can give it away.
CANARY = "Canary-7F3A9c51d2e84b60"
TEN_MEGABYTES = b'{"choices": "' + b"x" * 10 * 1024 * 1024 + b'"}'
HELLO = ModelRequest.text("hello")


class SkippingClock(SystemClock):
    """Real time, in which a sleep is skipped over instead of slept."""

    def __init__(self):
        self.sleeps = []

    def monotonic(self):
        return super().monotonic() + sum(self.sleeps)

    async def sleep(self, seconds):
        self.sleeps.append(seconds)
        await asyncio.sleep(0)


class MemoryCache:
    def __init__(self):
        self.entries = {}

    async def get(self, key):
        return self.entries.get(key)

    async def put(self, key, value):
        self.entries[key] = value


@pytest.fixture(autouse=True)
def canary(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_ORG_ID", "OPENAI_CUSTOM_HEADERS", "OPENAI_ADMIN_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)


@pytest.fixture
def clock():
    return SkippingClock()


@pytest.fixture
def open_at(clock):
    def build(server, **settings):
        chosen = ModelSettings(base_url=server.base_url, **settings)
        return OpenAIModel("small", chosen, clock=clock, draw=lambda: 0.0)

    return build


async def asked(model, request=HELLO):
    try:
        return await model.complete(request)
    finally:
        await model.close()


async def failure(model, kind, request=HELLO):
    with pytest.raises(kind) as caught:
        await asked(model, request)
    return caught.value


async def test_a_completion_comes_back_with_text_usage_and_logprobs(open_at):
    content = [{"token": "fine", "logprob": -0.2, "bytes": None, "top_logprobs": []}]
    details = {"cached_tokens": 3}
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "prompt_tokens_details": details}
    move = ok("fine", usage=usage, finish_reason="length", logprobs={"content": content})
    async with MisbehavingServer([move]) as server:
        response = await asked(open_at(server, input_price=1.0, output_price=1.0))

    assert response.text == "fine"
    assert response.finish_reason == "length"
    assert response.logprobs == ({"token": "fine", "logprob": -0.2, "top_logprobs": []},)
    assert (response.usage.input_tokens, response.usage.output_tokens) == (9, 1)
    assert response.usage.cached_tokens == 3
    assert response.usage.cost_usd == pytest.approx(10 / 1_000_000)


async def test_the_request_on_the_wire_is_what_was_asked(open_at):
    request = ModelRequest(
        messages=(Message("system", "be kind"), Message("user", "hi")),
        parameters={"temperature": 0.0, "max_tokens": 3, "seed": 7, "top_k": 40},
        labels=("yes", "no"),
    )
    async with MisbehavingServer() as server:
        await asked(open_at(server, grammar=True), request)

    (seen,) = server.seen
    assert seen.path == "/v1/chat/completions"
    assert seen.authorization == f"Bearer {CANARY}"
    assert seen.headers["accept-encoding"] == "identity"
    assert seen.body == {
        "model": "small",
        "messages": [{"role": "system", "content": "be kind"}, {"role": "user", "content": "hi"}],
        "temperature": 0.0,
        "max_tokens": 3,
        "seed": 7,
        "top_k": 40,
        "grammar": 'root ::= "yes" | "no"',
    }


async def test_without_usage_from_the_provider_tokens_are_counted_and_the_price_is_unknown(open_at):
    async with MisbehavingServer() as server:
        response = await asked(open_at(server))

    assert response.usage.input_tokens == 1 + 4 + 3
    assert response.usage.output_tokens == 1
    assert response.usage.cost_usd is None


@pytest.mark.parametrize(
    "move",
    [
        pytest.param(status(429), id="429"),
        pytest.param(status(408), id="408"),
        pytest.param(status(409), id="409"),
        pytest.param(status(500), id="500"),
        pytest.param(status(503), id="503"),
        pytest.param(cut(), id="cut in the body"),
        pytest.param(cut(b""), id="cut before the body"),
        pytest.param(raw(b'{"choices": [{"mess'), id="malformed JSON"),
        pytest.param(raw(b"<html>login</html>", "text/html"), id="wrong content type"),
        pytest.param(raw(b'{"error": {"message": "overloaded"}}'), id="an error with status 200"),
        pytest.param(raw(TEN_MEGABYTES), id="10 MB"),
        pytest.param(raw(TEN_MEGABYTES, code=500), id="500 with 10 MB"),
    ],
)
async def test_a_passing_fault_is_retried_and_nobody_notices(open_at, clock, move):
    async with MisbehavingServer([move, ok("after all")]) as server:
        response = await asked(open_at(server))

    assert response.text == "after all"
    assert server.requests == 2
    assert clock.sleeps


@pytest.mark.parametrize(
    ("move", "why"),
    [
        (status(429, "slow down"), "status 429 and said: slow down"),
        (status(500), "status 500"),
        (cut(), "cut the connection"),
        (raw(b"{"), "not valid JSON"),
        (raw(b"<html>", "text/html"), "type text/html"),
        (raw(TEN_MEGABYTES), "larger than 8 MB"),
        (raw(TEN_MEGABYTES, code=500), "larger than 8 MB"),
    ],
)
async def test_a_lasting_fault_is_unavailable_and_says_why(open_at, move, why):
    async with MisbehavingServer(otherwise=move) as server:
        error = await failure(open_at(server, max_attempts=3), UnavailableError)

    assert why in error.why
    assert "gave up after 3 attempts" in error.why
    assert server.base_url in error.why
    assert error.fix
    assert error.exit_code == 4
    assert server.requests == 3


async def test_a_hanging_endpoint_is_tried_again(open_at):
    async with MisbehavingServer([hang(), ok("after all")]) as server:
        response = await asked(open_at(server, timeout_seconds=5))

    assert response.text == "after all"
    assert server.requests == 2


async def test_an_endpoint_that_always_hangs_is_unavailable(open_at):
    async with MisbehavingServer(otherwise=hang()) as server:
        model = open_at(server, timeout_seconds=3, max_attempts=2)
        error = await failure(model, UnavailableError)

    assert "did not answer within 3 s; gave up after 2 attempts" in error.why
    assert server.requests == 2


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (400, "request_refused"),
        (401, "bad_key"),
        (403, "bad_key"),
        (404, "unknown_model"),
        (413, "request_refused"),
        (422, "request_refused"),
        (307, "request_refused"),
    ],
)
async def test_a_refusal_is_a_usage_error_and_never_retried(open_at, code, expected):
    async with MisbehavingServer([status(code, location="/elsewhere")]) as server:
        error = await failure(open_at(server), UsageError)

    assert error.code == expected
    assert server.requests == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [({"retry_after": "7"}, 7.0), ({"retry_after_ms": "250"}, 0.25), ({"retry_after": "9999"}, 60)],
)
async def test_retry_after_is_honoured_and_capped(open_at, clock, headers, seconds):
    started = clock.monotonic()
    async with MisbehavingServer([status(429, **headers)]) as server:
        answer = await asked(open_at(server))
    awake = clock.monotonic() - started - sum(clock.sleeps)

    assert clock.sleeps[0] == seconds
    assert answer.latency_ms <= awake * 1000, "waiting for our turn is not the model's time"
    assert server.requests == 2


async def test_a_body_without_end_is_not_read_past_the_limit(open_at):
    taken = []
    async with MisbehavingServer([endless(taken)]) as server:
        error = await failure(open_at(server, max_attempts=1), UnavailableError)

    assert "larger than 8 MB" in error.why
    assert sum(taken) < 16 * 1024 * 1024


async def test_a_slow_trickle_meets_the_timeout_too(open_at):
    async def trickle(request, writer):
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with MisbehavingServer([trickle]) as server:
        error = await failure(
            open_at(server, timeout_seconds=0.3, max_attempts=1), UnavailableError
        )

    assert "did not answer within 0.3 s" in error.why


async def test_the_requests_own_deadline_ends_all_waiting(open_at):
    request = ModelRequest(messages=(Message("user", "x"),), timeout_seconds=0.2)
    async with MisbehavingServer(otherwise=hang()) as server:
        error = await failure(open_at(server, timeout_seconds=30), UnavailableError, request)

    assert error.code == "deadline"
    assert "0.2 s" in error.why


async def test_an_unreachable_endpoint_is_told_as_such(open_at):
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        model = OpenAIModel("small", ModelSettings(base_url=address, max_attempts=1))
        error = await failure(model, UnavailableError)

    assert f"no connection to {address}" in error.why
    assert "server runs" in error.fix


async def test_a_compressed_answer_is_refused(open_at):
    async def bomb(request, writer):
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\n"
        writer.write(head + b"content-length: 4\r\n\r\nabcd")
        await writer.drain()

    async with MisbehavingServer([bomb]) as server:
        error = await failure(open_at(server, max_attempts=1), UnavailableError)

    assert "compressed" in error.why


async def test_a_cancelled_call_frees_its_slot(open_at):
    async with MisbehavingServer([hang(), ok("next")]) as server:
        model = open_at(server, max_concurrency=1)
        stuck = asyncio.create_task(model.complete(HELLO))
        while not server.requests:
            await asyncio.sleep(0.01)

        stuck.cancel()
        await asyncio.gather(stuck, return_exceptions=True)
        response = await asked(model)

    assert stuck.cancelled()
    assert response.text == "next"


async def test_two_models_at_one_endpoint_share_its_limit(open_at):
    under_way, most, full = 0, 0, asyncio.Event()

    async def slow(request, writer):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        if under_way == 3:
            full.set()
        await full.wait()
        await ok(delay_seconds=0.02)(request, writer)
        under_way -= 1

    async with MisbehavingServer(otherwise=slow) as server:
        models = [open_at(server, max_concurrency=3) for _ in range(2)]
        await asyncio.gather(*(model.complete(HELLO) for model in models for _ in range(10)))
        for model in models:
            await model.close()

    assert server.requests == 20
    assert most == 3


async def test_a_429_halves_what_the_endpoint_gets_at_once(open_at, clock):
    async with MisbehavingServer([status(429)]) as server:
        model = open_at(server, max_concurrency=8)
        await asked(model)
        limits = shared_limits(server.base_url, "OPENAI_API_KEY", model.settings, clock)

    assert limits.limiter.limit == 4


async def test_a_429_holds_back_other_calls_too(open_at, clock):
    async with MisbehavingServer([status(429, retry_after="30")]) as server:
        model = open_at(server, max_concurrency=1, max_attempts=1)
        refused = await failure(model, UnavailableError)
        assert clock.sleeps == []
        await asked(model)

    assert "429" in refused.why
    assert clock.sleeps == [pytest.approx(30, abs=5)]


async def test_tokens_a_minute_are_held_by_what_was_really_used(open_at, clock):
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    request = ModelRequest.text("hello", max_tokens=5000)
    async with MisbehavingServer(otherwise=ok(usage=usage)) as server:
        model = open_at(server, tokens_per_minute=60)
        await model.complete(request)
        await asked(model, request)

    assert clock.sleeps == [pytest.approx(120, abs=10)]


async def test_tokens_that_an_answer_may_take_hold_back_calls_at_the_same_time(open_at, clock):
    request = ModelRequest.text("hello", max_tokens=5000)
    async with MisbehavingServer(otherwise=ok(delay_seconds=0.2)) as server:
        model = open_at(server, tokens_per_minute=60)
        await asyncio.gather(model.complete(request), model.complete(request))
        await model.close()

    assert max(clock.sleeps) > 4900


# The first loop ends with its connection open, as it does for a user who never closes the model.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_one_model_serves_one_event_loop_after_another():
    with running_server() as server:
        model = OpenAIModel("small", ModelSettings(base_url=server.base_url, max_attempts=1))
        first = asyncio.run(model.complete(HELLO))
        second = asyncio.run(asked(model))
    gc.collect()  # While the warning about that connection is still ignored.

    assert [first.text, second.text] == ["fine", "fine"]
    assert server.requests == 2


async def test_a_cached_model_pays_an_endpoint_once():
    cache = MemoryCache()
    async with MisbehavingServer() as server:
        settings = ModelSettings(base_url=server.base_url)
        for _ in range(2):
            model = open_model("openai/small", settings, cache=cache)
            assert isinstance(model, CachedModel)
            response = await asked(model)

    assert server.requests == 1
    assert response.cached


def shown(error):
    return "".join(traceback.format_exception(error)) + json.dumps(error.to_json())


LEAKY = f"Incorrect API key provided: {CANARY}."


@pytest.mark.parametrize(
    "move",
    [
        *(status(code, LEAKY, x_echo=CANARY) for code in (400, 401, 403, 404, 429, 500)),
        raw(LEAKY.encode(), "text/plain"),
        raw(json.dumps({"error": LEAKY}).encode()),
        raw(b"{", f"text/{CANARY}"),
        cut(LEAKY.encode()),
        hang(),
    ],
)
async def test_the_key_appears_in_no_error_and_no_log(open_at, caplog, move):
    caplog.set_level(logging.DEBUG)
    async with MisbehavingServer(otherwise=move) as server:
        model = open_at(server, timeout_seconds=3, max_attempts=1)
        error = await failure(model, (UsageError, UnavailableError))

    assert server.seen[0].authorization == f"Bearer {CANARY}"
    assert CANARY.lower() not in shown(error).lower()
    assert error.__cause__ is None
    assert error.__context__ is None
    assert CANARY.lower() not in caplog.text.lower()
    assert "x-echo" not in caplog.text


async def test_the_key_appears_in_no_cache_entry(open_at):
    cache = MemoryCache()
    async with MisbehavingServer() as server:
        await asked(CachedModel(open_at(server), cache))

    assert cache.entries
    assert CANARY not in json.dumps(cache.entries)


async def test_a_server_that_needs_no_key_is_sent_none_of_ours(open_at):
    async with MisbehavingServer() as server:
        await asked(open_at(server, api_key_env=""))

    assert CANARY not in str(server.seen[0].headers)


async def test_a_streamed_answer_has_the_time_to_its_first_token(open_at):
    moves = [streamed("a", "b", prompt_tokens=5, completion_tokens=2), ok("whole")]
    async with MisbehavingServer(moves) as server:
        model = open_at(server, stream=True)
        pieces, whole = await model.complete(HELLO), await model.complete(ModelRequest.text("x"))
        await model.close()

    assert (pieces.text, pieces.finish_reason) == ("ab", "stop")
    assert (pieces.usage.input_tokens, pieces.usage.output_tokens) == (5, 2)
    assert pieces.ttft_ms is not None and pieces.ttft_ms <= pieces.latency_ms
    assert (whole.text, whole.ttft_ms) == ("whole", None)
    assert server.seen[0].body["stream_options"] == {"include_usage": True}


async def test_a_stream_without_its_end_is_no_answer_and_is_asked_for_again(open_at):
    async with MisbehavingServer([streamed("half", cut_short=True), streamed("all")]) as server:
        model = open_at(server, stream=True)
        answer = await model.complete(HELLO)
        await model.close()

    assert (answer.text, server.requests) == ("all", 2)


async def test_organisation_and_project_of_the_environment_are_named(open_at, monkeypatch):
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    async with MisbehavingServer() as server:
        await asked(open_at(server))

    (seen,) = server.seen
    assert seen.headers["openai-organization"] == "org-1"
    assert seen.headers["openai-project"] == "proj-1"


async def test_a_redirect_is_not_followed_with_the_key(open_at):
    async with MisbehavingServer() as other:
        move = status(307, "elsewhere", location=f"{other.base_url}/chat/completions")
        async with MisbehavingServer(otherwise=move) as server:
            await failure(open_at(server, max_attempts=1), (UsageError, UnavailableError))

    assert server.seen
    assert not other.seen
