"""`burnish worker` from the command line: what it refuses, and three of them at work."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from redis.asyncio import Redis
from tests.servers.valkey import running_valkey

from burnish.cli.invocation import run_command
from burnish.runtime import MainLoopRequest, RedisMailbox

EXAMPLE = Path(__file__).parents[2] / "examples" / "three_workers"
SECRET = "tr0ub4dor-and-3"
NOBODY = f"redis://user:{SECRET}@127.0.0.1:1/0"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("BURNISH_DB", "BURNISH_MAILBOX", "BURNISH_OVERRIDES"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "BURNISH_MAILBOX"),
        (("--mailbox", f"http://user:{SECRET}@127.0.0.1"), 2, "redis://127.0.0.1:6379/0"),
        (("--mailbox", f"redis://user:{SECRET}@127.0.0.1:port/0"), 2, "host or port"),
        (("--mailbox", NOBODY, "--loops", "main,mian"), 2, "'mian'"),
        (("--mailbox", NOBODY, "--loops", ","), 2, "no loop is named"),
        (("--mailbox", NOBODY), 4, "does not answer"),
        (("--mailbox", NOBODY, "--concurrency", "0"), 2, "concurrency"),
        (("--mailbox", NOBODY, "--optimizations", "0"), 2, "optimizations"),
        (("--mailbox", NOBODY, "-c", "elsewhere.toml"), 2, "elsewhere.toml"),
    ],
)
def test_what_it_cannot_do_is_refused_with_a_way_out(arguments, code, said, capfd):
    place = () if "-c" in arguments else ("-c", str(EXAMPLE))

    assert run_command(["worker", *place, *arguments]) == code

    out, messages = capfd.readouterr()
    assert said in messages
    assert "fix:" in messages
    assert SECRET not in out + messages


def test_the_mailbox_may_come_from_the_environment(monkeypatch, capfd):
    monkeypatch.setenv("BURNISH_MAILBOX", NOBODY)

    assert run_command(["worker", "-c", str(EXAMPLE)]) == 4
    assert "redis://127.0.0.1:1/0" in capfd.readouterr().err


def test_three_workers_shorten_a_prompt_and_serve_it(tmp_path):
    done = subprocess.run(
        [sys.executable, EXAMPLE / "run.py"],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("listening on") == 3
    assert "110 → 57 tokens" in done.stdout
    assert "billing under the tag stable" in done.stdout
    assert "100% of 40 samples pass" in done.stdout
    assert "ended with [0, 0, 0]" in done.stdout
    assert "Traceback" not in done.stderr
    assert (tmp_path / ".burnish" / "burnish.db").exists()


PROGRAM = """
import sys
import burnish

def answer(configuration, item):
    return "yes"

burnish.work(
    burnish.Agent(name="yes", configuration={"sections": {"user": "{{n}}"}}, run=answer),
    burnish.Suite(dataset=[{"n": 1, "expected": "yes"}], scorers=["exact_match"]),
    mailbox=sys.argv[1],
    loops=["main", "eval"],
    on_start=lambda news: print(*news.mailboxes, flush=True),
)
print("ended")
"""


def test_a_program_serves_its_own_functions_until_a_signal():
    with (
        running_valkey() as server,
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, server.url], stdout=subprocess.PIPE, text=True
        ) as program,
    ):
        try:
            assert program.stdout.readline().split() == [
                "main-requests",
                "eval-requests",
                "shard-requests",
            ]
            os.kill(program.pid, signal.SIGINT)
            assert program.wait(600) == 0
            assert program.stdout.read() == "ended\n"
        finally:
            program.kill()


def test_dead_letters_can_be_seen_and_sent_again(capfd):
    async def bury(url):
        async with Redis.from_url(url) as client:
            box = RedisMailbox("main-requests", client, max_delivery_count=1)
            await box.send(MainLoopRequest(request={"q": "x"}))
            (message,) = await box.receive()
            await message.nack()
            assert await box.receive() == []

    with running_valkey() as server:
        asyncio.run(bury(server.url))
        for arguments, dead, requeued in (
            (["--json"], 1, False),
            (["--requeue", "--json"], 1, True),
        ):
            assert (
                run_command(["mailbox", "main-requests", "--mailbox", server.url, *arguments]) == 0
            )
            found = json.loads(capfd.readouterr().out)
            assert [one["requeued"] for one in found["dead"]] == [requeued] * dead
        assert run_command(["mailbox", "main-requests", "--mailbox", server.url]) == 0

    assert "main-requests: 1 waiting or held, 0 dead letters" in capfd.readouterr().out
