"""Callable model: a plain function from text to text as a model."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import uuid4

from burnish.domain import (
    Message,
    ModelRequest,
    ModelResponse,
    Usage,
    UsageError,
)
from burnish.models.failures import refuse_beyond_text
from burnish.models.fingerprints import callable_fingerprint
from burnish.models.retry import within
from burnish.models.tokens import count_tokens
from burnish.support.threads import DaemonThreads

_MAX_THREADS = 256
TextFunction = Callable[[str], str] | Callable[[str], Awaitable[str]]


class CallableModel:
    """Answers with a function. A plain one runs in a thread, an async one on the event loop.

    Labels, schema and parameters are not passed on: the function gets the prompt alone.
    """

    def __init__(self, function: TextFunction, *, name: str | None = None) -> None:
        self.name = name or f"callable/{_name_of(function)}"
        self.fingerprint = lasting_fingerprint(function)
        self._threads = DaemonThreads(_MAX_THREADS)
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
        )

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The function's answer; what it raises is passed on."""
        refuse_beyond_text(request, self.name, "use a model of a provider, such as openai/NAME")
        prompt = flatten(request.messages)
        answer = await within(request.timeout_seconds, self._call(prompt), who=self.name)
        if not isinstance(answer, str):
            raise UsageError(
                what=f"the answer of {self.name} cannot be used",
                why=f"it is a {type(answer).__name__}, not text",
                fix="return a str from the function",
                code="invalid_answer",
            )
        usage = Usage(
            calls=1, input_tokens=count_tokens(prompt), output_tokens=count_tokens(answer)
        )
        return ModelResponse(text=answer, usage=usage)

    async def close(self) -> None:
        """Let the threads end."""
        self._threads.close()

    async def _call(self, prompt: str) -> Any:
        function: Callable[[str], Any] = self._function
        answer = function(prompt) if self._is_async else await self._threads.run(function, prompt)
        return await answer if inspect.isawaitable(answer) else answer


def flatten(messages: Sequence[Message]) -> str:
    """One prompt: a single message as it is, instructions above the question, or a transcript."""
    if len(messages) == 1:
        return messages[0].content
    if [message.role for message in messages] == ["system", "user"]:
        return "\n\n".join(message.content for message in messages)
    turns = [f"{message.role.capitalize()}: {message.content}" for message in messages]
    return "\n\n".join([*turns, "Assistant:"])


def lasting_fingerprint(function: Callable[..., Any]) -> str:
    """New every time where it cannot be known, so that nothing stale is answered from a cache."""
    return f"callable/{_name_of(function)}@{callable_fingerprint(function) or uuid4().hex}"


def _name_of(function: Callable[..., Any]) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"
