"""Worker process of a local model: JSON lines in on stdin, JSON lines out on stdout.

Runs by its file name, on the standard library and xllamacpp alone, so that it starts fast and
needs nothing of the parent. It ends by itself when stdin closes, even in the middle of an answer.
"""

from __future__ import annotations

import ctypes
import json
import math
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
# Of label probabilities.
_WORTH_ASKING, _LEAST_SHARE, _MOST_PIECES, _SURE = 0.01, 1e-12, 512, 1000.0

Engine = Callable[[dict[str, Any]], dict[str, Any]]  # from a chat request to a chat response


def load(path: str, context_tokens: int) -> Engine:
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
    answer: Engine = server.handle_chat_completions
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


def _answer(answer: Engine, line: bytes) -> dict[str, Any]:
    try:
        payload = json.loads(line)
        labels = payload.pop("labels", None)
        return answer_label(answer, payload, labels) if labels else answer(payload)
    except (ValueError, TypeError) as error:
        return {"error": {"code": 400, "type": "refused", "message": str(error)}}
    except Exception as error:  # noqa: BLE001
        return {"error": {"code": 500, "type": type(error).__name__, "message": str(error)}}


def answer_label(answer: Engine, payload: dict[str, Any], labels: list[str]) -> dict[str, Any]:
    """As many tokens as tell which label it will be; the rest of it would cost as much again.

    One mostly does. Else the engine goes on at once, while all that it has read is still there.
    """
    asked = payload.pop("label_logprobs", None)
    tokens, first, milliseconds = 1, None, 0.0
    while True:
        said = answer({**payload, "max_tokens": min(tokens, payload["max_tokens"])})
        if "error" in said:
            return said
        choice, timings = said["choices"][0], said.setdefault("timings", {})
        first = first or said
        begun = choice["message"].get("content") or ""
        undecided = len({label for label in labels if label.startswith(begun)}) > 1
        if not (
            undecided and choice["finish_reason"] == "length" and tokens < payload["max_tokens"]
        ):
            break
        milliseconds += timings.get("prompt_ms", 0.0) + timings.get("predicted_ms", 0.0)
        tokens *= 2
    if first is not said:  # what was read, and how fast, the first one tells
        said["usage"] = {**first["usage"], "completion_tokens": said["usage"]["completion_tokens"]}
        milliseconds += timings.get("prompt_ms", 0.0) - first["timings"].get("prompt_ms", 0.0)
        timings["predicted_ms"] = timings.get("predicted_ms", 0.0) + milliseconds
        timings["prompt_ms"] = first["timings"].get("prompt_ms", 0.0)
    told = label_logprobs(answer, payload, asked) if asked else None
    return said if told is None else {**said, "label_logprobs": told}


def label_logprobs(
    answer: Engine, payload: dict[str, Any], asked: dict[str, Any]
) -> dict[str, float] | None:
    """Of each label, when nothing but the labels can be said; None where the engine tells nothing.

    `asked["rests"]` has a grammar for every beginning that several labels share. What is too
    unlikely to be asked further is shared out evenly among the labels that it may become.
    """
    labels = asked["labels"]
    shares = dict.fromkeys(labels, 0.0)
    waiting = [("", 1.0)]
    while waiting:
        begun, mass = waiting.pop()
        for piece, share in _next_pieces(answer, payload, begun, asked):
            text = begun.encode() + piece
            possible = [label for label in labels if label.encode().startswith(text)]
            if not piece:
                shares[begun] += mass * share
            elif (beginning := text.decode(errors="replace")) in asked["rests"] and (
                mass * share >= _WORTH_ASKING
            ):
                waiting.append((beginning, mass * share))
            else:
                for label in possible:
                    shares[label] += mass * share / len(possible)
    whole = sum(shares.values())
    if not whole:
        return None
    return {label: math.log(max(share / whole, _LEAST_SHARE)) for label, share in shares.items()}


def _next_pieces(
    answer: Engine, payload: dict[str, Any], begun: str, asked: dict[str, Any]
) -> list[tuple[bytes, float]]:
    """The tokens that may follow, with their probabilities.

    The engine looks at its grammar only once it has drawn a token that this forbids, so it is made
    to draw one first; what it draws then is of no interest.
    """
    messages = payload["messages"]
    if begun:
        messages = [*messages, {"role": "assistant", "content": begun}]
    said = answer(
        {
            **payload,
            "messages": messages,
            "grammar": asked["rests"].get(begun, payload["grammar"]),
            "max_tokens": 1,
            "temperature": 1,
            "samplers": [],
            "logit_bias": [[asked["never"], _SURE]],
            "post_sampling_probs": True,
            "logprobs": True,
            "top_logprobs": _MOST_PIECES,
        }
    )
    if "error" in said:
        return []
    tokens = said["choices"][0]["logprobs"]["content"]
    pieces = tokens[0]["top_probs"] if tokens else []
    return [(bytes(one["bytes"]), one["prob"]) for one in pieces if one["prob"] > 0]


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
