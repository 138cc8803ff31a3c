"""Whether anything answers where a Ray cluster is said to be; no Ray is needed for that."""

import contextlib
import socket

import pytest

from burnish.app.optimize.runners import RunnerChoice
from burnish.domain import UnavailableError


@pytest.fixture(autouse=True)
def _no_address(monkeypatch):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


async def test_a_cluster_that_is_not_there_is_told_at_once():
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        await RunnerChoice(ray_address=address).require_reachable()
        await RunnerChoice(ray_address=f"ray://{address}").require_reachable()

    with pytest.raises(UnavailableError, match=f"nothing answers at {address}") as refusal:
        await RunnerChoice(ray_address=address).require_reachable()
    assert refusal.value.code == "ray_unavailable"
    # Without an address Ray itself looks for a cluster of this machine.
    await RunnerChoice(runner="ray").require_reachable()


async def test_the_address_of_rays_own_variable_counts(monkeypatch):
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    monkeypatch.setenv("RAY_ADDRESS", address)

    with pytest.raises(UnavailableError, match="nothing answers"):
        await RunnerChoice(runner="ray").require_reachable()
