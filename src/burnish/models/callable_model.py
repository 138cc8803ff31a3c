"""A plain function from text to text as a model."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from burnish.domain import (
    Message,
    ModelRequest,
    ModelResponse,
    Usage,
    UsageError,
    text_hash,
)
from burnish.models.deadlines import within
from burnish.models.threads import run_in_thread
from burnish.models.tokens import count_tokens

TextFunction = Callable[[str], str] | Callable[[str], Awaitable[str]]


class CallableModel:
    """Answers with a function. A plain one runs in a thread, an async one on the event loop.

    Labels, schema and parameters are not passed on: the function gets the prompt alone.
    """

    def __init__(self, function: TextFunction, *, name: str | None = None) -> None:
        self.name = name or f"callable/{_name_of(function)}"
        self.fingerprint = callable_fingerprint(function)
        self._function = function
        self._is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
            getattr(function, "__call__", None)  # noqa: B004 - an object with an async __call__
        )

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The function's answer; what it raises is passed on."""
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
        """Nothing is held."""

    async def _call(self, prompt: str) -> Any:
        function: Callable[[str], Any] = self._function
        answer = function(prompt) if self._is_async else await run_in_thread(function, prompt)
        return await answer if inspect.isawaitable(answer) else answer


def flatten(messages: Sequence[Message]) -> str:
    """One prompt: a single message as it is, instructions above the question, or a transcript."""
    if len(messages) == 1:
        return messages[0].content
    if [message.role for message in messages] == ["system", "user"]:
        return "\n\n".join(message.content for message in messages)
    turns = [f"{message.role.capitalize()}: {message.content}" for message in messages]
    return "\n\n".join([*turns, "Assistant:"])


def callable_fingerprint(function: Callable[..., Any]) -> str:
    """Stays the same while the function's module does.

    Where that cannot be known (a REPL, a bound object, a closure over more than plain values) it
    is new every time, so that nothing stale is ever answered from a cache.
    """
    source = _source_of(function)
    bound = _bound_values(function)
    if source is None or bound is None:
        return f"callable/{_name_of(function)}@{uuid4().hex}"
    return f"callable/{_name_of(function)}@{text_hash(source + bound)[:32]}"


def _name_of(function: Callable[..., Any]) -> str:
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def _source_of(function: Callable[..., Any]) -> str | None:
    """The whole module's source, because helpers beside the function count too."""
    if not inspect.isfunction(function):
        return None
    module = sys.modules.get(function.__module__)
    path = getattr(module, "__file__", None)
    try:
        own = inspect.getsource(function)
        return own + (Path(path).read_text(encoding="utf-8") if path else "")
    except (OSError, TypeError, UnicodeDecodeError):
        return None


def _bound_values(function: Callable[..., Any]) -> str | None:
    """Defaults and closed-over values as text; None when one of them is more than plain."""
    try:
        cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
    except ValueError:
        return None
    values = [
        *cells,
        *(getattr(function, "__defaults__", None) or ()),
        *(getattr(function, "__kwdefaults__", None) or {}).items(),
    ]
    return repr(values) if all(map(_is_plain, values)) else None


def _is_plain(value: object) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, int, float, bool, bytes)
