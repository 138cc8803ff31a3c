"""`burnish optimize` and `compress` on `burnish worker` processes, from the command line."""

import json
import os
import signal
import time

import pytest
from redis import Redis

from burnish.cli.commands.init import Template, template_files, write_files


@pytest.fixture
def project(tmp_path):
    write_files(tmp_path, template_files(Template.PYTHON))
    return tmp_path


@pytest.fixture
def worker(commands, project, redis_client, valkey):
    """A worker of the project's folder that listens."""
    running = commands.start(
        ["worker", "--loops", "eval", "--mailbox", valkey.url, "--grace", "1"], cwd=project
    )
    yield running
    if running.poll() is None:
        os.kill(running.pid, signal.SIGTERM)
        running.communicate()


def document(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def gist(result):
    return {
        key: result[key]
        for key in ("status", "stop_reason", "test", "improvement", "trials", "evaluations")
    } | {"best": result["best"]["configuration"], "score": result["best"]["score"]}


def test_a_run_on_a_worker_prints_what_a_run_in_one_process_prints(
    commands, project, worker, valkey
):
    words = ["optimize", "--max-trials", "3", "--seed", "4", "--json"]
    far = document(commands.run([*words, "--mailbox", valkey.url], cwd=project))
    near = document(commands.run([*words, "--db", "near.db"], cwd=project))

    assert gist(far) == gist(near)


def test_ctrl_c_keeps_everything_and_resume_goes_on_with_workers(
    commands, project, redis_client, valkey
):
    run = commands.start(["optimize", "--max-trials", "3", "--mailbox", valkey.url], cwd=project)
    deadline = time.monotonic() + 600
    with Redis.from_url(valkey.url) as client:
        while not client.keys("*shard-requests*"):  # Until work is offered that nobody takes.
            assert time.monotonic() < deadline
            time.sleep(0.02)
    os.kill(run.pid, signal.SIGINT)
    _, messages = run.communicate()
    assert run.returncode == 130
    assert "burnish resume" in messages

    worker = commands.start(["worker", "--loops", "eval", "--mailbox", valkey.url], cwd=project)
    result = document(
        commands.run(
            ["resume", "latest", "--runner", "mailbox", "--json"],
            cwd=project,
            env={**os.environ, "BURNISH_MAILBOX": valkey.url},
        )
    )
    os.kill(worker.pid, signal.SIGTERM)
    worker.communicate()

    assert result["status"] == "completed"
    assert result["trials"] == 3


def test_a_mailbox_that_does_not_answer_is_told_before_anything_begins(commands, project):
    done = commands.run(
        ["optimize", "--mailbox", "redis://me:hidden@127.0.0.1:1/0", "--json"], cwd=project
    )

    assert done.returncode == 4
    assert "redis://127.0.0.1:1/0 does not answer" in done.stdout + done.stderr
    assert "hidden" not in done.stdout + done.stderr
    assert not (project / ".burnish" / "burnish.db").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--runner", "mailbox"], "BURNISH_MAILBOX"),
        (["--runner", "nobody"], "runners are local, mailbox, ray"),
    ],
)
def test_a_bad_choice_is_bad_usage(commands, project, words, says):
    done = commands.run(["optimize", *words], cwd=project)

    assert done.returncode == 2
    assert says in done.stdout + done.stderr
