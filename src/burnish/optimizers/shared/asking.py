"""An optimizer's own model: asked from async and from plain methods alike."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeVar

from burnish.domain import Json, Model, ModelRequest, UsageError

T = TypeVar("T")
_SECONDS = 300.0


class Asker:
    """Asks the model that an optimizer was made with. `source` is a name, a Model or a function.

    The framework opens it (`connect`), so that calls are counted, priced and remembered.
    """

    def __init__(self, source: Any, **parameters: Json) -> None:
        self._source = source
        self._parameters = parameters
        self._model: Model | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def available(self) -> bool:
        """Whether there is a model at all."""
        return self._source is not None

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Open it; on the event loop that its calls will run on."""
        if self._source is not None:
            self._model = open_model(self._source)
            self._loop = asyncio.get_running_loop()

    async def ask(self, prompt: str, *, turn: int = 0) -> str:
        """The model's answer. `turn` tells apart prompts that are alike on purpose."""
        if self._model is None:
            raise UsageError(
                what="the optimizer's model cannot be asked",
                why="there is none" if self._source is None else "nobody connected it yet",
                fix='give the optimizer a model, such as model = "openai/gpt-4o-mini"',
                code="no_model",
            )
        request = ModelRequest.text(prompt, **self._parameters)
        answer = (await self._model.complete(_repeated(request, turn))).text
        # Half of a surrogate pair can be neither stored nor sent.
        return answer.encode("utf-8", "replace").decode()

    async def ask_all(self, prompts: Sequence[str]) -> list[str]:
        """Answers to several prompts, side by side; equal prompts are told apart."""
        seen: dict[str, int] = {}
        turns = []
        for prompt in prompts:
            turns.append(seen.get(prompt, 0))
            seen[prompt] = turns[-1] + 1
        pairs = zip(prompts, turns, strict=True)
        return await all_answers(self.ask(one, turn=turn) for one, turn in pairs)

    def ask_blocking(self, prompt: str, *, turn: int = 0) -> str:
        """`ask` for plain methods, which run in a thread beside the event loop."""
        if self._loop is None:
            return asyncio.run(self.ask(prompt, turn=turn))
        future = asyncio.run_coroutine_threadsafe(self.ask(prompt, turn=turn), self._loop)
        return future.result()  # by the request's own deadline


class ModelAsker:
    """Base of optimizers with a model of their own."""

    _asker: Asker

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Open the model, if there is one."""
        self._asker.connect(open_model)


async def all_answers(questions: Iterable[Awaitable[T]]) -> list[T]:
    """Answers to questions that are asked side by side.

    If one fails, the others still end, and what they cost is counted.
    """
    found: list[T] = []
    for answer in await asyncio.gather(*questions, return_exceptions=True):
        if isinstance(answer, BaseException):
            raise answer
        found.append(answer)
    return found


def _repeated(request: ModelRequest, turn: int) -> ModelRequest:
    return ModelRequest(
        messages=request.messages,
        parameters=request.parameters,
        repeat=turn,
        timeout_seconds=_SECONDS,
    )
