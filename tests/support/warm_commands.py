"""`burnish` commands in processes of their own that need not load everything again.

One process imports the command line and then forks for each command: a command that takes a second
to load and a tenth of one to run takes a tenth of a second. What it does is the same: it has
its own process id, folder, environment and output, it can be killed, and it ends with an exit code.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NoReturn

_LONGEST_REQUEST = 1 << 18
# What a shell finds as `burnish`: it hands over what a process has, passes signals on, and ends alike.
_IN_SHELLS = """#!{python} -IS
import contextlib, json, os, signal, socket, sys

def passed_on(number, _frame):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)

both = {{signal.SIGTERM, signal.SIGINT}}
signal.pthread_sigmask(signal.SIG_BLOCK, both)
server = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
server.connect({address!r})
request = {{"arguments": sys.argv[1:], "cwd": os.getcwd(), "env": dict(os.environ)}}
socket.send_fds(server, [json.dumps(request).encode()], [0, 1, 2])
pid = int(server.recv(64))
for number in both:
    signal.signal(number, passed_on)
signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
sys.exit(int(server.recv(64) or 1))
"""


class RunningCommand:
    """A command under way; what it prints is read when it has ended."""

    def __init__(
        self, commands: WarmCommands, pid: int, ended: int, output: tuple[IO[str], IO[str]]
    ) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._commands = commands
        self._ended = ended
        self._output = output

    def poll(self) -> int | None:
        """The exit code, negative for a signal, or None while it runs."""
        return self._wait(0)

    def communicate(self, timeout: float = 600.0) -> tuple[str, str]:
        """All that it printed, once it has ended."""
        if self._wait(timeout) is None:
            os.kill(self.pid, signal.SIGKILL)
            self._wait(None)
            raise AssertionError(f"still at work after {timeout} s: {self._printed()}")
        return self._printed()

    def _wait(self, timeout: float | None) -> int | None:
        # The other end of the pipe is open in the command only: it closes however that one ends.
        if self.returncode is None and select.select([self._ended], [], [], timeout)[0]:
            os.close(self._ended)
            self.returncode = self._commands.ask({"wait": self.pid})
        return self.returncode

    def _printed(self) -> tuple[str, str]:
        out, err = (_whole(file) for file in self._output)
        return out, err


class WarmCommands:
    """Starts commands; made by `warm_commands`."""

    def __init__(self, server: socket.socket, folder: Path) -> None:
        self._server = server
        # Before all others in a PATH, it lets a shell start commands so, too.
        self.folder = folder

    def start(
        self, arguments: Sequence[str], *, cwd: Path, env: Mapping[str, str] | None = None
    ) -> RunningCommand:
        """A command in the background; `python FILE` runs that file as Python does."""
        request = {
            "arguments": list(arguments),
            "cwd": str(cwd),
            "env": dict(os.environ if env is None else env),
        }
        output = _file(), _file()
        ended, alive = os.pipe()
        try:
            pid = self.ask(request, [output[0].fileno(), output[1].fileno(), alive])
        finally:
            os.close(alive)
        return RunningCommand(self, pid, ended, output)

    def run(
        self,
        arguments: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        timeout: float = 600.0,
    ) -> subprocess.CompletedProcess[str]:
        """A command to its end."""
        running = self.start(arguments, cwd=cwd, env=env)
        out, err = running.communicate(timeout)
        assert running.returncode is not None
        return subprocess.CompletedProcess(list(arguments), running.returncode, out, err)

    def ask(self, request: dict[str, Any], files: Sequence[int] = ()) -> int:
        """Send a request to the server; it answers each with a number."""
        socket.send_fds(self._server, [json.dumps(request).encode()], list(files))
        answer = self._server.recv(64)
        assert answer, "the process that starts commands has ended"
        return int(answer)


@contextmanager
def warm_commands() -> Iterator[WarmCommands]:
    """The server, for as long as the block lasts."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    shells = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with tempfile.TemporaryDirectory() as name, ours:
        folder = Path(name)
        with theirs, shells:
            shells.bind(address := f"{folder}/commands")
            shells.listen(64)
            server = subprocess.Popen(
                [sys.executable, "-P", __file__, str(theirs.fileno()), str(shells.fileno())],
                pass_fds=[theirs.fileno(), shells.fileno()],
            )
        script = folder / "burnish"
        script.write_text(_IN_SHELLS.format(python=sys.executable, address=address))
        script.chmod(0o755)
        try:
            yield WarmCommands(ours, folder)
        finally:
            ours.close()
            server.wait(timeout=600)


def serve() -> None:
    """Answer requests until the other side is gone."""
    _load()
    with (
        socket.socket(fileno=int(sys.argv[1])) as client,
        socket.socket(fileno=int(sys.argv[2])) as shells,
    ):
        while True:
            if shells in select.select([client, shells], [], [])[0]:
                _serve_shell(client, shells)
                continue
            message, files, _, _ = socket.recv_fds(client, _LONGEST_REQUEST, 3)
            if not message:
                return
            request = json.loads(message)
            if "wait" in request:
                status = os.waitstatus_to_exitcode(os.waitpid(request["wait"], 0)[1])
                client.send(str(status).encode())
                continue
            pid = os.fork()
            if not pid:
                break
            for file in files:
                os.close(file)
            client.send(str(pid).encode())
    # The third file stays open until the command ends.
    _become(request, [os.open(os.devnull, os.O_RDONLY), *files[:2]])
    _run(request["arguments"])


def _serve_shell(client: socket.socket, shells: socket.socket) -> None:
    """Start a command for a shell; nobody here waits for it, so that its own child becomes it."""
    connection, _ = shells.accept()
    with connection:
        if child := os.fork():
            os.waitpid(child, 0)
            return
        if os.fork():
            os._exit(0)
        client.close()
        shells.close()
        message, files, _, _ = socket.recv_fds(connection, _LONGEST_REQUEST, 3)
        connection.send(str(os.getpid()).encode())
        request = json.loads(message)
        _become(request, files)
        # A pipe is nothing to go back in, which Python asks only when it opens them.
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(one, mode, 1) for one, mode in enumerate("rww")
        )
        _run(request["arguments"], ended=lambda code: connection.send(str(code).encode()))


def _become(request: dict[str, Any], files: list[int]) -> None:
    """Make this process the command's own, with its input, output and errors."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    arguments = request["arguments"]
    if arguments[:1] == ["python"]:
        sys.argv = arguments[1:]
        sys.path.insert(0, str(Path(arguments[1]).parent))
    else:
        sys.argv = ["burnish", *arguments]


def _run(arguments: list[str], ended: Callable[[int], object] = lambda _: None) -> NoReturn:
    """The command, and then what the interpreter does at its end.

    It would take everything apart that was loaded, too: that takes longer than most commands.
    """
    from burnish.cli import main  # noqa: PLC0415 - part of what is loaded

    try:
        if arguments[:1] == ["python"]:
            runpy.run_path(arguments[1], run_name="__main__")
        else:
            main(arguments)
        code: object = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
        code = 1
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    number = code if isinstance(code, int) else 0 if code is None else 1
    ended(number)
    os._exit(number)


def _load() -> None:
    """Import what commands import; none of it may start a thread, for that would not be in a fork."""
    for name in ("burnish.cli", "burnish.app"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            importlib.import_module(module.name)
    for name in ("httpx2", "sqlalchemy.dialects.sqlite.pysqlite"):
        importlib.import_module(name)
    assert threading.active_count() == 1
    # Nothing of this is looked at again by a command's collector, so that its pages stay shared.
    gc.freeze()


def _file() -> IO[str]:
    return tempfile.TemporaryFile("w+", encoding="utf-8")


def _whole(file: IO[str]) -> str:
    with file:
        file.seek(0)
        return file.read()


if __name__ == "__main__":
    serve()
