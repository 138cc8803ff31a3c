"""An optimizer's own model: asked from async and from plain methods alike."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeVar, runtime_checkable

from burnish.domain import (
    BurnishError,
    Json,
    Model,
    ModelRequest,
    ModelResponse,
    UnavailableError,
    UsageError,
)
from burnish.support.sync_calls import run_sync

T = TypeVar("T")
_SECONDS = 300.0
# One prompt may be too long, or refused, where the next is not.
_OF_ONE_PROMPT = ("prompt_too_long", "model_refused", "request_refused")
_BY_SCHEMA_TOKENS = 1_024


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

    @property
    def by_schema(self) -> bool:
        """Whether answers by a schema are better than free text: so it is with embedded models."""
        return self._model is not None and self._model.name.startswith("local/")

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Open it; on the event loop that its calls will run on."""
        if self._source is not None:
            self._model = open_model(self._source)
            self._loop = asyncio.get_running_loop()

    async def ask(self, prompt: str, *, turn: int = 0, beside: int = 1) -> str:
        """The model's answer. `turn` tells apart prompts that are alike on purpose.

        A model may take them one after the other: each of so many that are asked `beside` each other
        has the time of all.
        """
        return (await self._complete(prompt, turn=turn, seconds=_SECONDS * beside)).text

    async def ask_all(self, prompts: Sequence[str]) -> list[str]:
        """Answers to several prompts, side by side; equal prompts are told apart."""
        found = []
        for answer in await self.ask_each([(prompt, None) for prompt in prompts]):
            if isinstance(answer, BaseException):
                raise answer
            found.append(answer.text)
        return found

    async def ask_each(
        self, questions: Sequence[tuple[str, Mapping[str, Json] | None]]
    ) -> list[ModelResponse | BaseException]:
        """Responses to prompts with their schemas, side by side, or why one failed.

        Waiting in a queue is no failure: time is up when none of them was answered for so long, and
        an embedded model, which a busy machine makes slow, has deadlines of its own. What no next
        call would do better, such as a wrong key or a spent budget, is raised.
        """
        tasks, seen = [], dict[str, int]()
        for prompt, schema in questions:
            turn = seen[prompt] = seen.get(prompt, -1) + 1
            longest = None if self.by_schema else _SECONDS * len(questions)
            asking = self._complete(prompt, turn=turn, schema=schema, seconds=longest)
            tasks.append(asyncio.create_task(asking))
        waiting = set(tasks)
        try:
            while waiting:
                done, waiting = await asyncio.wait(
                    waiting,
                    timeout=None if self.by_schema else _SECONDS,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                if not done:
                    break
        finally:
            for task in waiting:
                task.cancel()
        found = [_response(task) for task in tasks]
        for one in found:
            if isinstance(one, BaseException) and not _costs_one_call(one):
                raise one
        return found

    async def _complete(
        self,
        prompt: str,
        *,
        turn: int,
        schema: Mapping[str, Json] | None = None,
        seconds: float | None = _SECONDS,
    ) -> ModelResponse:
        if self._model is None:
            raise UsageError(
                what="the optimizer's model cannot be asked",
                why="there is none" if self._source is None else "nobody connected it yet",
                fix='give the optimizer a model, such as model = "openai/gpt-4o-mini"',
                code="no_model",
            )
        limit = {} if schema is None else {"max_tokens": _BY_SCHEMA_TOKENS}
        request = replace(
            ModelRequest.text(prompt, **limit, **self._parameters),
            schema=schema,
            repeat=turn,
            timeout_seconds=seconds,
        )
        response = await self._model.complete(request)
        # Half of a surrogate pair can be neither stored nor sent.
        return replace(response, text=response.text.encode("utf-8", "replace").decode())

    def ask_blocking(self, prompt: str, *, turn: int = 0) -> str:
        """`ask` for plain methods, which run in a thread beside the event loop."""
        if self._loop is None:
            return run_sync(self.ask(prompt, turn=turn))
        future = asyncio.run_coroutine_threadsafe(self.ask(prompt, turn=turn), self._loop)
        return future.result()  # by the request's own deadline


class ModelAsker:
    """Base of optimizers with a model of their own."""

    _asker: Asker

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Open the model, if there is one."""
        self._asker.connect(open_model)


@runtime_checkable
class QuestionForecast(Protocol):
    """An optimizer that can say how often it would ask its model: what runs are estimated by."""

    def questions(self, evaluations: int, trials: int) -> tuple[int, int]:
        """The fewest and the most questions of a run that takes so many evaluations and trials."""
        ...


async def all_answers(questions: Iterable[Awaitable[T]]) -> list[T | None]:
    """Answers to questions that are asked side by side, None for those that failed.

    A call that fails costs its own proposal; all of them, or what no next call would do better, is
    raised. If one fails, the others still end, and what they cost is counted.
    """
    answers = await asyncio.gather(*questions, return_exceptions=True)
    failures = [one for one in answers if isinstance(one, BaseException)]
    for one in failures:
        if len(failures) == len(answers) or not _costs_one_call(one):
            raise one
    return [None if isinstance(one, BaseException) else one for one in answers]


def _response(task: asyncio.Task[ModelResponse]) -> ModelResponse | BaseException:
    if not task.done() or task.cancelled():
        return UnavailableError(
            what="the optimizer's model did not answer",
            why=f"{_SECONDS:g} s passed without any answer",
            fix="use a faster model, or a smaller population_size",
            code="timeout",
        )
    return task.exception() or task.result()


def _costs_one_call(error: BaseException) -> bool:
    """Whether the next call may go well; functions of users raise whatever their clients do."""
    if isinstance(error, BurnishError):
        return isinstance(error, UnavailableError) or error.code in _OF_ONE_PROMPT
    return isinstance(error, Exception)
