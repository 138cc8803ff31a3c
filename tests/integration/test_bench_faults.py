"""Some of `python -m bench faults` and `outages`: nothing is lost, doubled, blamed, or hangs."""

import os
import signal

import pytest
from bench.faults.attempts import OUTCOMES
from bench.faults.command import ALL, plan
from bench.faults.outages import Outage, try_outage
from bench.faults.reference import Reference
from bench.faults.works import Limits
from optimization_world import in_child
from tests.servers.valkey import start_valkey


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    reference = Reference(tmp_path_factory.mktemp("faults"))
    yield reference
    reference.close()


# One of each family: `test_optimization_kills` and others try the rest in depth.
@pytest.mark.parametrize(
    ("work", "kind"),
    [
        ("optimization", "SIGSTOP"),
        ("optimization", "disk full"),
        ("evaluation", "database locked"),
        ("optimization", "provider garbage"),
        ("image run", "kill -9"),
    ],
)
def test_a_fault_changes_nothing(work, kind, reference):
    assert (work, kind) in ALL
    [fault] = plan(1, [(work, kind)], seed=7)

    found = reference.try_fault(fault)

    assert {name: getattr(found, name) for name in OUTCOMES} == dict.fromkeys(OUTCOMES, 0), (
        found.note
    )


@pytest.mark.parametrize(("kind", "way"), [("model", "closed"), ("SQLite lock", "locked")])
def test_an_outage_changes_nothing(kind, way, tmp_path_factory):
    reference = Reference(tmp_path_factory.mktemp("outages"), Limits())

    found = try_outage(reference, Outage(kind=kind, way=way, seconds=0, place=5))
    reference.close()

    assert found["hit"]
    assert {name: found[name] for name in OUTCOMES} == dict.fromkeys(OUTCOMES, 0), found["note"]
    assert not found["not_retryable"]


def test_a_server_is_stopped_while_a_forked_run_goes_on(tmp_path):
    """The run has the server's pipe too: a restart used to wait for the end of what it was to hit."""
    server = start_valkey(tmp_path / "valkey")
    child = in_child(signal.pause)
    try:
        server.stop()
        # It goes on; only it would have kept the server alive.
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
