"""How an Opik server is spoken to when it is slow, busy, gone, or will not have it."""

import gzip
import json

import httpx2
import pytest

from burnish.domain import UnavailableError, UsageError
from burnish.domain.opik import MirrorTarget
from burnish.integrations.opik.mirror.client import MirrorClient, _parts
from burnish.support.retry import RetryPolicy
from burnish.testing.clocks import FakeClock

TARGET = MirrorTarget(url="http://opik.example/api", workspace="team", api_key_env="THE_KEY")
POLICY = RetryPolicy(max_attempts=3, first_wait_seconds=1.0, longest_wait_seconds=2.0)


class Server:
    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


async def send(server, body, clock=None):
    clock = clock or FakeClock()
    transport = httpx2.MockTransport(server)
    async with MirrorClient(TARGET, policy=POLICY, clock=clock, transport=transport) as client:
        await client.send("POST", "optimizations", body)


async def test_requests_carry_workspace_and_key_and_large_ones_are_packed(monkeypatch):
    monkeypatch.setenv("THE_KEY", "k" * 16)
    server = Server(httpx2.Response(201), httpx2.Response(201))

    await send(server, {"a": 1})
    await send(server, {"a": "x" * 5000})

    small, large = server.requests
    assert str(small.url) == "http://opik.example/api/v1/private/optimizations"
    assert (small.headers["comet-workspace"], small.headers["authorization"]) == ("team", "k" * 16)
    assert json.loads(small.content) == {"a": 1}
    assert large.headers["content-encoding"] == "gzip"
    assert json.loads(gzip.decompress(large.content)) == {"a": "x" * 5000}


@pytest.mark.parametrize(
    "trouble", [httpx2.ConnectError("away"), httpx2.ReadTimeout("slow"), httpx2.Response(503)]
)
async def test_trouble_that_passes_is_waited_for(trouble):
    server = Server(
        trouble, httpx2.Response(429, headers={"Retry-After": "7"}), httpx2.Response(201)
    )
    clock = FakeClock()
    began = clock.monotonic()

    await send(server, {}, clock)

    assert len(server.requests) == 3
    assert 7.5 <= clock.monotonic() - began <= 10


async def test_trouble_that_stays_ends_after_some_tries():
    server = Server(*[httpx2.Response(500)] * 3)

    with pytest.raises(UnavailableError, match="500"):
        await send(server, {})

    assert len(server.requests) == 3


@pytest.mark.parametrize("status", [301, 400, 401, 404, 409, 422])
async def test_what_is_refused_is_not_tried_again(status):
    server = Server(httpx2.Response(status, text="no\nreason", headers={"Location": "http://x"}))

    with pytest.raises(UsageError, match=f"{status}: no reason"):
        await send(server, {})


def test_many_values_go_in_requests_that_are_not_too_large():
    small = [{"n": n} for n in range(1100)]
    large = [{"text": "x" * 1_500_000} for _ in range(5)]

    assert [len(part) for part in _parts(small)] == [500, 500, 100]
    assert [len(part) for part in _parts(large)] == [2, 2, 1]
    assert _parts([]) == []
