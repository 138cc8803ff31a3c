"""Command agents: real programs in real folders, what they find, what they may do, how they end."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from burnish.app.wiring import build_agent
from burnish.config.specs import AgentSpec
from burnish.domain import Configuration, Item, UsageError
from burnish.support.sandboxed_child import can_cut_network, keeps_writes_inside

ITEM = Item(id="a", data={"question": "2+2", "expected": "4"})
SECTIONS = {"skill": "Answer in digits.", "tone": "Be {{brief}}."}


def agent(folder: Path, code: str, *arguments: str, **spec):
    (folder / "agent.py").write_text(textwrap.dedent(code))
    return build_agent(
        AgentSpec(
            configuration={"sections": SECTIONS, "parameters": {"model": "m1"}},
            command=[sys.executable, "-S", "{{project}}/agent.py", *arguments],
            folder=folder,
            **spec,
        ),
        lambda _: None,
    )


def run(one, configuration=None):
    return asyncio.run(one.run(configuration or one.configuration, ITEM, repeat=0))


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


def wait_until(condition, seconds=600):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def test_a_command_finds_template_sections_and_item_and_none_of_our_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "s")
    monkeypatch.setenv("SHOWN", "yes")
    (tmp_path / "template" / "src").mkdir(parents=True)
    (tmp_path / "template" / "src" / "code.py").write_text("x = 1")
    (tmp_path / "template" / "SKILL.md").write_text("as written")
    tried = agent(
        tmp_path,
        """
        import json, os, sys
        from pathlib import Path
        print(json.dumps({
            "item": json.load(sys.stdin),
            "in_file": json.loads(Path("task/item.json").read_text()),
            "files": {str(p): p.read_text() for p in sorted(Path().rglob("*.md"))},
            "code": Path("src/code.py").read_text(),
            "arguments": sys.argv[1:],
            "environment": sorted(os.environ),
            "here": Path.cwd() == Path(sys.argv[3]),
        }))
        """,
        "{{question}} -> {{sections.skill}}",
        "{{parameters.model}}",
        "{{workspace}}",
        files={"SKILL.md": "skill", ".claude/skills/one/SKILL.md": "skill"},
        workspace={
            "template": "template",
            "item_file": "task/item.json",
            "fields": ["id", "question"],
            "environment": ["SHOWN"],
        },
    )
    better = tried.configuration.with_sections({"skill": "Answer in words."})

    seen = json.loads(run(tried, better).text)

    assert seen["item"] == seen["in_file"] == {"id": "a", "question": "2+2"}
    assert seen["files"] == {
        ".claude/skills/one/SKILL.md": "Answer in words.",
        "SKILL.md": "Answer in words.",
        "prompts/tone.md": "Be {{brief}}.",
    }
    assert seen["code"] == "x = 1"
    assert seen["arguments"][:2] == ["2+2 -> Answer in words.", "m1"]
    assert seen["here"]
    assert "SHOWN" in seen["environment"]
    assert "SECRET_KEY" not in seen["environment"]
    assert (tmp_path / "template" / "SKILL.md").read_text() == "as written"


def test_the_answer_may_be_a_file_with_trace_and_usage(tmp_path):
    tried = agent(
        tmp_path,
        """
        import json, sys
        print("working")
        transcript = [{"role": "user", "content": "hi"}]
        answer = {"output": "4", "trace": {"transcript": transcript}, "usage": {"calls": 2}}
        json.dump(answer, open("answer.json", "w"))
        """,
        workspace={"output": "answer.json", "answer": "json"},
    )

    output = run(tried)

    assert output.text == "4"
    assert output.trace == {"transcript": [{"role": "user", "content": "hi"}]}
    assert (output.spending.total.calls, output.spending.total.cost_usd) == (2, None)


FAILURES = {
    "exit code with the end of stderr": (
        "import sys; sys.exit('no such tool: hammer')",
        {},
        "code 1.*no such tool: hammer",
    ),
    "answer too large": ("print('x' * 3_000_000)", {"max_output_mb": 1}, "larger than 1 MB"),
    "workspace too large": (
        "for n in range(4): open(str(n), 'w').write('x' * 600_000)",
        {"max_workspace_mb": 1},
        "workspace is larger than 1 MB",
    ),
    "one file too large": (
        "open('big', 'w').write('x' * 3_000_000)",
        {"max_workspace_mb": 1},
        "File too large",
    ),
    "no file": ("pass", {"output": "answer.txt"}, "no answer.txt"),
    "a link outside": (
        "import os; os.symlink('/etc/hostname', 'answer.txt')",
        {"output": "answer.txt"},
        "not a file inside",
    ),
    "no JSON": ("print('{')", {"answer": "json"}, "no JSON"),
    "too much memory": ("x = bytearray(2**31)", {"max_memory_mb": 512}, "MemoryError"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_what_goes_wrong_is_an_error_of_the_item(case, tmp_path):
    code, workspace, told = FAILURES[case]

    with pytest.raises(UsageError, match=f"(?s){told}"):
        run(agent(tmp_path, code, workspace=workspace))


def test_a_cancelled_command_ends_with_whatever_it_started(tmp_path):
    pids = tmp_path / "out" / "pids"
    pids.parent.mkdir()
    tried = agent(
        tmp_path,
        f"""
        import os, subprocess, sys, time
        detached = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        child = subprocess.Popen(["sleep", "1000"])
        with open({str(pids)!r} + "~", "w") as file:
            print(os.getpid(), detached.pid, child.pid, file=file)
        os.rename({str(pids)!r} + "~", {str(pids)!r})
        time.sleep(1000)
        """,
        workspace={"writable": ["out"]},
    )

    async def cancelled():
        task = asyncio.create_task(tried.run(tried.configuration, ITEM, repeat=0))
        await asyncio.to_thread(wait_until, pids.exists)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())

    assert not [pid for pid in map(int, pids.read_text().split()) if alive(pid)]


def test_after_a_kill_of_ours_no_command_and_no_workspace_is_left(tmp_path):
    pids = tmp_path / "out" / "pids"
    pids.parent.mkdir()
    agent(
        tmp_path,
        f"""
        import os, subprocess, time
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        with open({str(pids)!r} + "~", "w") as file:
            print(os.getpid(), child.pid, os.getcwd(), file=file)
        os.rename({str(pids)!r} + "~", {str(pids)!r})
        time.sleep(1000)
        """,
    )
    script = f"""
import asyncio
from pathlib import Path
from burnish.config.specs import AgentSpec
from burnish.app.wiring import build_agent
from burnish.domain import Item
command = [{sys.executable!r}, "-S", "{{{{project}}}}/agent.py"]
spec = AgentSpec(configuration={{"sections": {{"a": "b"}}}}, command=command,
                 folder=Path({str(tmp_path)!r}), workspace={{"writable": ["out"]}})
one = build_agent(spec, None)
asyncio.run(one.run(one.configuration, Item(id="a", data={{}}), repeat=0))
"""
    ours = subprocess.Popen([sys.executable, "-c", script])
    wait_until(pids.exists)
    first, second, folder = pids.read_text().split()

    ours.send_signal(signal.SIGKILL)
    ours.wait()

    wait_until(lambda: not alive(int(first)) and not alive(int(second)))
    wait_until(lambda: not Path(folder).parent.exists())


@pytest.mark.skipif(not keeps_writes_inside(), reason="this kernel has no Landlock")
def test_writes_outside_of_the_workspace_are_refused(tmp_path):
    code = """
        import pathlib, sys, tempfile
        pathlib.Path("inside").write_text("x")
        tempfile.TemporaryFile().close()
        open("/dev/null", "w").close()
        pathlib.Path(sys.argv[1]).write_text("x")
    """

    with pytest.raises(UsageError, match="PermissionError"):
        run(agent(tmp_path, code, str(tmp_path / "outside")))

    assert not (tmp_path / "outside").exists()


@pytest.mark.skipif(
    not can_cut_network(), reason="this kernel gives a program no network of its own"
)
def test_without_network_there_is_only_the_loopback(tmp_path):
    code = """
        import socket, sys
        own = socket.create_server(("127.0.0.1", 0))
        socket.create_connection(own.getsockname()).close()
        try:
            socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        except OSError as error:
            print(type(error).__name__)
    """
    with socket.create_server(("127.0.0.1", 0)) as ours:
        port = str(ours.getsockname()[1])
        tried = agent(tmp_path, code, port, workspace={"network": False})

        assert run(tried).text == "ConnectionRefusedError"


def test_the_fingerprint_follows_code_and_template_but_not_what_sections_overwrite(tmp_path):
    (tmp_path / "template").mkdir()
    notes, skill = tmp_path / "template" / "notes", tmp_path / "template" / "SKILL.md"
    notes.write_text("a")
    skill.write_text("a")

    def fingerprint(code="pass"):
        files, workspace = {"SKILL.md": "skill"}, {"template": "template"}
        return agent(tmp_path, code, files=files, workspace=workspace).fingerprint

    first = fingerprint()

    assert fingerprint() == first
    assert fingerprint("print()") != first
    skill.write_text("promoted")
    assert fingerprint() == first
    notes.write_text("b")
    assert fingerprint() != first


WRONG = {
    "missing program": ({"command": ["no-such-program"]}, "no program 'no-such-program'"),
    "no list": ({"command": "python x.py"}, "not a list"),
    "file outside": ({"files": {"../SKILL.md": "skill"}}, "inside of the workspace"),
    "unknown section": ({"files": {"SKILL.md": "skil"}}, "no section 'skil'"),
    "missing template": ({"workspace": {"template": "nowhere"}}, "not a folder"),
    "unset variable": ({"workspace": {"environment": ["NO_SUCH_KEY"]}}, "NO_SUCH_KEY"),
    "unknown setting": ({"workspace": {"templat": "x"}}, "no such setting"),
    "limit": ({"workspace": {"max_output_mb": 0}}, "above 0"),
    "files of no command": ({"command": None, "run": len, "files": {"a": "skill"}}, "has none"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_work_is_refused_before_anything_runs(case, tmp_path):
    spec, told = WRONG[case]
    given = {"command": [sys.executable], "folder": tmp_path, **spec}

    with pytest.raises(UsageError, match=told):
        build_agent(AgentSpec(configuration={"sections": SECTIONS}, **given), lambda _: None)


def test_configurations_stay_what_they_are(tmp_path):
    tried = agent(tmp_path, "print('4')")

    assert run(tried).text == "4"
    assert tried.configuration == Configuration.of(
        {"sections": SECTIONS, "parameters": {"model": "m1"}}
    )
