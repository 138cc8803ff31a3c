"""An OpenAI-compatible model that answers right as soon as its prompt shows an example, for tests."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from tests.servers.misbehaving import MisbehavingServer, SeenRequest, ok, running_server

RIGHT = {"invoice": "billing", "error": "technical"}


@contextlib.contextmanager
def learning_model() -> Iterator[MisbehavingServer]:
    """The server, in a thread of its own."""
    used = {"prompt_tokens": 40, "completion_tokens": 1, "total_tokens": 41}
    with running_server(otherwise=ok(_answer, usage=used)) as server:
        yield server


def _answer(request: SeenRequest) -> str:
    messages = request.body.get("messages", [])
    shown = any(one.get("role") == "assistant" for one in messages)
    asked = str(messages[-1].get("content", "")) if messages else ""
    right = next((label for word, label in RIGHT.items() if word in asked), "technical")
    return right if shown else "technical"
