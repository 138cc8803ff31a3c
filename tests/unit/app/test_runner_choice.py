"""Where a run is evaluated, and what is said about it before anything begins."""

import importlib.util
from pathlib import Path

import pytest

from burnish.app.optimize.runners import MailboxRunner, RunnerChoice, place_of
from burnish.domain import UsageError

HERE = Path()


@pytest.fixture(autouse=True)
def _no_mailbox(monkeypatch):
    monkeypatch.delenv("BURNISH_MAILBOX", raising=False)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


def test_without_a_word_it_is_this_process():
    assert RunnerChoice().make_adapter("a.db", HERE) is None


def test_an_address_is_word_enough():
    choice = RunnerChoice(mailbox="redis://far:6379/0")

    assert isinstance(choice.make_adapter("a.db", HERE), MailboxRunner)
    assert RunnerChoice(ray_address="far:6379").name == "ray"


def test_the_variable_gives_the_address_and_not_the_wish(monkeypatch):
    monkeypatch.setenv("BURNISH_MAILBOX", "redis://far:6379/0")

    assert RunnerChoice().make_adapter("a.db", HERE) is None
    assert isinstance(RunnerChoice(runner="mailbox").make_adapter("a.db", HERE), MailboxRunner)


@pytest.mark.parametrize(
    ("choice", "code"),
    [
        (RunnerChoice(runner="mailbox"), "no_mailbox"),
        (RunnerChoice(runner="nobody"), "unknown_runner"),
        (RunnerChoice(mailbox="redis://["), "invalid_address"),
        (RunnerChoice(mailbox="redis://far:99999"), "invalid_address"),
        (RunnerChoice(mailbox="far:6379"), "invalid_address"),
    ],
)
def test_a_bad_choice_is_refused_with_what_to_do(choice, code):
    with pytest.raises(UsageError) as refusal:
        choice.make_adapter("a.db", HERE)

    assert refusal.value.code == code


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="ray is installed")
def test_without_ray_its_extra_is_named():
    with pytest.raises(UsageError, match=r"burnish\[ray\]"):
        RunnerChoice(runner="ray").make_adapter("a.db", HERE)


async def test_an_address_that_ray_could_not_read_is_refused():
    with pytest.raises(UsageError, match="HOST:6379"):
        await RunnerChoice(ray_address="far:many").require_reachable()


def test_a_local_file_and_a_far_mailbox_do_not_go_together():
    far, near = RunnerChoice(mailbox="redis://far/0"), RunnerChoice(mailbox="redis://localhost/0")

    assert "PostgreSQL" in far.note("/somewhere/burnish.db")
    assert far.note("postgresql://far/db") is None
    assert near.note("/somewhere/burnish.db") is None
    assert RunnerChoice().note("/somewhere/burnish.db") is None


def test_an_address_that_cannot_be_read_is_refused_with_one_of_its_kind():
    with pytest.raises(UsageError, match="write it like redis://"):
        RunnerChoice(mailbox="redis://[").note("/somewhere/burnish.db")
    with pytest.raises(UsageError, match="write it like HOST:6379"):
        RunnerChoice(ray_address="far:many").note("/somewhere/burnish.db")


@pytest.mark.parametrize(
    ("address", "is_near"),
    [("far:6379", False), ("10.0.0.5:6379", False), ("127.0.0.1:6379", True), ("auto", True)],
)
def test_a_local_file_and_a_far_cluster_do_not_go_together(address, is_near):
    note = RunnerChoice(ray_address=address).note("/somewhere/burnish.db")

    assert (note is None) is is_near


def test_a_place_is_shown_without_its_password():
    assert place_of("redis://me:secret@far:6379/2") == "redis://far:6379/2"
    assert place_of("redis://me:secret@[::1]:6379/2") == "redis://[::1]:6379/2"
