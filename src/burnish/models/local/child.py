"""Child process of a local model: answers a JSON line with a JSON line, can always be given up."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.domain import UsageError

_LOAD_SECONDS = 120.0


class ChildDiedError(Exception):
    """The process ended before it answered."""


class ChildOverdueError(Exception):
    """No answer came in time; the process was killed, because its work cannot be interrupted."""


class Child:
    """A running worker process. `ask` belongs to one thread; `kill` may come from any."""

    def __init__(self, command: Sequence[str]) -> None:
        self._overdue = False
        try:
            self._process = subprocess.Popen(  # noqa: S603
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError as error:
            raise ChildDiedError(f"the process did not start: {error}") from error

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._process.poll() is None

    def wait_until_ready(self) -> None:
        """Until the model is loaded; UsageError when it never will be."""
        greeting = self._with_deadline(b"", _LOAD_SECONDS)
        if greeting.get("ready"):
            return
        if greeting.get("failed") == "import":
            raise UsageError(
                what="local models cannot run",
                why=f"the engine xllamacpp does not load: {greeting.get('message')}",
                fix="pip install 'burnish[local]'",
                code="engine_missing",
            )
        raise UsageError(
            what="the model file cannot be loaded",
            why=f"the engine says: {greeting.get('message')}",
            fix="check that the file is a whole GGUF model that fits into memory",
            code="model_unreadable",
        )

    def ask(self, payload: Mapping[str, Any], timeout: float) -> dict[str, Any]:
        """The answer to one request."""
        return self._with_deadline(json.dumps(payload).encode() + b"\n", timeout)

    def kill(self) -> None:
        """End the process now; whoever waits for an answer sees it die."""
        self._process.kill()

    def discard(self) -> None:
        """Kill, reap and close: nothing of the process is left."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(OSError):  # a request that was never read is still buffered
                pipe.close()

    def _with_deadline(self, line: bytes, timeout: float) -> dict[str, Any]:
        self._overdue = False
        timer = threading.Timer(timeout, self._expire)
        timer.daemon = True
        timer.start()
        try:
            return self._exchange(line)
        except (OSError, EOFError, ValueError) as error:
            if self._overdue:
                raise ChildOverdueError(f"no answer within {timeout:g} seconds") from error
            raise ChildDiedError(str(error)) from error
        finally:
            timer.cancel()

    def _exchange(self, line: bytes) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        if line:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer.endswith(b"\n"):
            raise EOFError("the process ended")
        value: dict[str, Any] = json.loads(answer)
        return value

    def _expire(self) -> None:
        self._overdue = True
        self.kill()
