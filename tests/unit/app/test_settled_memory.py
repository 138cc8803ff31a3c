"""What is frozen for a run thaws after it, unless somebody else froze it."""

import gc

import pytest

from burnish.app import wiring as module
from burnish.app.wiring import settled_memory


@pytest.fixture
def counted(monkeypatch):
    """The calls to the collector, which has frozen nothing as far as anybody is told."""
    called = []
    monkeypatch.setattr(module, "_frozen", {"by us": False, "by others": False})
    monkeypatch.setattr(gc, "freeze", lambda: called.append("freeze"))
    monkeypatch.setattr(gc, "unfreeze", lambda: called.append("unfreeze"))
    monkeypatch.setattr(gc, "get_freeze_count", lambda: called.append("count") or 0)
    return called


def test_the_outer_of_two_freezes_and_thaws(counted):
    for _ in range(2):
        with settled_memory(), settled_memory():
            assert counted[-1] == "freeze"

    assert counted == ["count", "freeze", "unfreeze"] * 2


def test_a_failure_inside_thaws_as_well(counted):
    with pytest.raises(KeyError), settled_memory():
        raise KeyError

    assert counted == ["count", "freeze", "unfreeze"]


def test_what_somebody_else_froze_stays_and_is_counted_once(counted, monkeypatch):
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append("count") or 90_000)

    for _ in range(3):
        with settled_memory():
            pass

    assert counted == ["count"]
