"""Worker process of a local model: JSON lines in on stdin, JSON lines out on stdout.

Runs by its file name, on the standard library and xllamacpp alone, so that it starts fast and
needs nothing of the parent. It ends by itself when stdin closes, even in the middle of an answer.
"""

from __future__ import annotations

import ctypes
import json
import os
import secrets
import signal
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

# What decides an answer beside the request. n_ubatch=32 makes answers the same bit for bit
# whatever was cached before; one thread and one slot are fastest when there are several processes.
SETTINGS: dict[str, int] = {
    "n_parallel": 1,
    "cpuparams.n_threads": 1,
    "cpuparams_batch.n_threads": 1,
    "n_ubatch": 32,
}
# Prefixes of other prompts, kept for when they come again; llama.cpp's own default is 8 GB.
PREFIX_CACHE_MIB = 256
_PR_SET_PDEATHSIG = 1


def load(path: str, context_tokens: int) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """The model, as a function from a chat request to a chat response."""
    import xllamacpp  # noqa: PLC0415

    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = context_tokens
    for name, value in SETTINGS.items():
        *holders, last = name.split(".")
        target = parameters
        for holder in holders:
            target = getattr(target, holder)
        setattr(target, last, value)
    parameters.cache_ram_mib = PREFIX_CACHE_MIB
    parameters.warmup = False
    parameters.verbosity = 0
    # The engine always opens a port on loopback. Nobody needs it: no pages, no slots, a key that
    # is told to no one.
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.n_threads_http = 1
    parameters.api_keys = [secrets.token_urlsafe(32)]
    server = xllamacpp.Server(parameters)
    answer: Callable[[dict[str, Any]], dict[str, Any]] = server.handle_chat_completions
    return answer


def main() -> None:
    """Say that the model is ready, or why not; then answer line by line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    _end_with_parent()
    send = _take_stdout()
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    try:
        answer = load(sys.argv[1], int(sys.argv[2]))
    except ImportError as error:
        send({"failed": "import", "message": str(error)})
        os._exit(1)  # not a plain exit: the reading thread still holds stdin
    except Exception as error:  # noqa: BLE001
        send({"failed": "load", "message": str(error)})
        os._exit(1)
    send({"ready": True})
    while True:
        send(_answer(answer, lines.get()))


def _end_with_parent() -> None:
    """Have the kernel end us when the thread that keeps us is gone, however it went.

    A closed stdin is not enough: while the engine loads a model, no other thread of ours runs.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _answer(answer: Callable[[dict[str, Any]], dict[str, Any]], line: bytes) -> dict[str, Any]:
    try:
        return answer(json.loads(line))
    except (ValueError, TypeError) as error:
        return {"error": {"code": 400, "type": "refused", "message": str(error)}}
    except Exception as error:  # noqa: BLE001
        return {"error": {"code": 500, "type": type(error).__name__, "message": str(error)}}


def _read(lines: SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    os._exit(0)  # the parent is gone or has closed us; the engine cannot be interrupted otherwise


def _take_stdout() -> Callable[[dict[str, Any]], None]:
    """Keep stdout for answers alone: what native code prints there goes elsewhere."""
    answers = os.fdopen(os.dup(1), "wb")
    log = os.open(
        os.environ.get("BURNISH_WORKER_LOG", os.devnull), os.O_WRONLY | os.O_CREAT | os.O_APPEND
    )
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)

    def send(value: dict[str, Any]) -> None:
        answers.write(json.dumps(value).encode() + b"\n")
        answers.flush()

    return send


if __name__ == "__main__":
    main()
