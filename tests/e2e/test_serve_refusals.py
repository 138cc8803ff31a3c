"""`burnish serve` that cannot or must not start says why, and how to go on."""

import os
import socket
import sys
from pathlib import Path

import pytest

from burnish.cli.invocation import run_command

sys.path.insert(0, str(Path(__file__).parents[1] / "integration"))

from serving_world import make_served_project


@pytest.fixture
def project(tmp_path):
    return make_served_project(tmp_path / "project", items=4)


@pytest.fixture
def serve(project, monkeypatch, capfd):
    """Runs a command that is expected to end by itself; its code and what it said."""

    def run(*arguments, folder=project, **variables):
        for name in os.environ:
            if name.startswith("BURNISH_"):
                monkeypatch.delenv(name)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(folder)
        code = run_command(["serve", *arguments])
        out, err = capfd.readouterr()
        assert "Traceback" not in out + err
        return code, out + err

    return run


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.7", "example.com"])
def test_without_a_key_only_this_machine_is_served(serve, host):
    code, said = serve("--host", host, "--port", "0")

    assert code == 2
    assert "BURNISH_API_KEY" in said
    assert "--insecure" in said


@pytest.mark.parametrize(
    ("keys", "why"),
    [
        ("hunter2-short", "16 characters"),
        ("me:admin:hunter2-0123456789", "scope"),
        ("a:read:hunter2-0123456789 a:write:hunter2-9876543210", "same name"),
        ("hunter2-0123456789,hunter2-9876543210", "same name"),
    ],
)
def test_bad_keys_are_refused_and_not_shown(serve, keys, why):
    code, said = serve("--port", "0", BURNISH_API_KEY=keys)

    assert code == 2
    assert why in said
    assert "hunter2" not in said


def test_every_host_needs_a_key(serve):
    code, said = serve("--port", "0", "--allow-host", "*")

    assert code == 2
    assert "BURNISH_API_KEY" in said


def test_a_busy_port_is_told(serve):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        code, said = serve("--port", str(taken.getsockname()[1]))

    assert code == 4
    assert "--port" in said


def test_an_address_of_another_machine_is_told(serve):
    code, said = serve("--host", "192.0.2.7", "--port", "0", "--insecure")

    assert code == 4
    assert "address of this machine" in said


def test_a_config_that_was_named_and_is_missing_is_told_and_nothing_is_made(serve, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()

    code, said = serve("--port", "0", "--config", "burnish.toml", folder=empty)

    assert code == 2
    assert "burnish init" in said
    assert list(empty.iterdir()) == []


def test_a_table_that_nobody_knows_is_told_also_where_there_is_no_agent(serve, tmp_path):
    (tmp_path / "burnish.toml").write_text("[imagess]\nmax_calls = 2\n")

    code, said = serve("--port", "0", folder=tmp_path)

    assert code == 2
    assert "unknown key 'imagess'" in said


def test_a_database_that_is_away_is_told_without_its_password(serve):
    url = "postgresql://user:hunter2-secret@127.0.0.1:1/none"

    code, said = serve("--port", "0", "--db", url)

    assert code == 4
    assert "hunter2" not in said
