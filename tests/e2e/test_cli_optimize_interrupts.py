"""Whatever ends a search, it goes on where it was, to the same end, and nothing is paid twice."""

from __future__ import annotations

import json
import os
import signal
import time

import pytest
from optimize_project import (
    calls,
    essence,
    make_project,
    optimized,
    start,
    wait_for_calls,
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    project = make_project(tmp_path_factory.mktemp("undisturbed") / "p")
    return essence(optimized(project))


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path / "p")


def stop(running, number):
    os.kill(running.pid, number)
    out, err = running.communicate()
    assert "Traceback" not in out + err
    return running.returncode, err


@pytest.mark.parametrize("answered", [10, 60, 200])
def test_kill_9_and_resume_is_as_if_nothing_had_happened(
    commands, here, project, undisturbed, answered
):
    running = start(commands, project, "optimize", stops_at=answered)
    wait_for_calls(project, answered, running)
    assert stop(running, signal.SIGKILL)[0] == -signal.SIGKILL
    # It goes on with what it was started with.
    (project / "prompts" / "system.md").write_text("Something else entirely.")
    (project / "burnish.toml").write_text("broken = ")

    resumed = here.document(project, "resume", "latest")

    assert essence(resumed) == undisturbed
    assert set(calls(project).values()) == {1}, "what was kept is not paid for twice"
    assert here.document(project, "resume", "latest") == resumed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_saves_everything_and_says_how_to_go_on(
    commands, here, project, undisturbed, number
):
    running = start(commands, project, "optimize", stops_at=100)
    wait_for_calls(project, 100, running)

    code, message = stop(running, number)

    assert code == 130
    assert "every finished evaluation is saved; go on with: burnish resume " in message
    command = message.split("go on with: burnish ")[1].split()
    standing = here.out(project, "show")
    assert "nobody works on it" in standing
    assert f"burnish {' '.join(command)}" in standing

    assert essence(here.document(project, *command)) == undisturbed
    assert set(calls(project).values()) == {1}


def test_of_two_who_resume_at_once_one_wins(commands, project, undisturbed):
    running = start(commands, project, "optimize", stops_at=50)
    wait_for_calls(project, 50, running)
    stop(running, signal.SIGKILL)

    # Whoever wins halts at its first call until the other is gone.
    rivals = [start(commands, project, "resume", "latest", "--json", stops_at=0) for _ in range(2)]
    deadline = time.monotonic() + 600
    while all(rival.poll() is None for rival in rivals):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    (project / "go on").touch()
    outputs = [rival.communicate() for rival in rivals]

    assert sorted(rival.returncode for rival in rivals) == [0, 3], outputs
    documents = {
        rival.returncode: json.loads(out) for rival, (out, _) in zip(rivals, outputs, strict=True)
    }
    assert essence(documents[0]) == undisturbed
    assert documents[3]["error"]["code"] == "owned"
    assert "go on with" not in json.dumps(documents[3]), "it is somebody else's now"


def test_cancelling_from_another_process_is_for_good(commands, here, project):
    running = start(commands, project, "optimize", "--json", stops_at=30)
    wait_for_calls(project, 30, running)

    cancelled = here.document(project, "cancel", "latest")

    out, err = running.communicate()
    assert running.returncode == 130, out + err
    assert json.loads(out)["status"] == "cancelled"
    assert (cancelled["status"], cancelled["cancelled"], cancelled["requested"]) == (
        "cancelled",
        True,
        True,
    )
    again = here.document(project, "cancel", "latest")
    assert (again["cancelled"], again["requested"]) == (True, False)
    assert "was cancelled already" in here.out(project, "cancel", "latest")
    refused = here.err(project, "resume", "latest", code=2)
    assert "it was cancelled" in refused
    assert "go on with" not in refused


def test_what_nobody_works_on_is_cancelled_at_once(commands, here, project):
    running = start(commands, project, "optimize", stops_at=60)
    wait_for_calls(project, 60, running)
    stop(running, signal.SIGKILL)
    assert "at work" not in here.out(project, "show")

    assert here.document(project, "cancel", "latest")["cancelled"]

    trials = here.document(project, "show", "latest", "--trials")["trials"]
    assert {trial["status"] for trial in trials} <= {"completed", "cancelled"}
    events = here.document(project, "show", "latest", "--events")["events"]
    assert events[-1]["type"] == "run_finished"


def test_changed_code_is_not_mixed_with_old_scores(commands, here, project):
    running = start(commands, project, "optimize", stops_at=30)
    wait_for_calls(project, 30, running)
    stop(running, signal.SIGKILL)
    rows, agent = project / "rows.jsonl", project / "agent.py"
    before = rows.read_text()

    rows.write_text(before.replace('ticket 1"', 'another"'))
    assert "the dataset has changed" in here.err(project, "resume", "latest", code=3)

    rows.write_text(before)
    agent.write_text(agent.read_text().replace("0.4 *", "0.3 *"))
    again = start(commands, project, "resume", "latest", stops_at=0)
    _, message = again.communicate()
    assert again.returncode == 3
    assert "the agent's code or model has changed" in message
