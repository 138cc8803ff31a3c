"""Local model: llama.cpp in worker processes, no key, no server; its requests and answers."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import weakref
from asyncio import FIRST_COMPLETED
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any, NoReturn

from burnish.domain import (
    Json,
    Model,
    ModelRequest,
    ModelResponse,
    Usage,
    UsageError,
    canonical_hash,
)
from burnish.models.failures import refuse_beyond_text
from burnish.models.local import worker as local_worker
from burnish.models.local.grammar import label_question, label_tokens, labels_grammar
from burnish.models.local.pool import Pool, no_answer
from burnish.models.local.pull import known_model, model_digest, path_of
from burnish.models.local.tools import read_calls, told_as_text
from burnish.models.settings import ModelSettings
from burnish.support.deadlines import waiting
from burnish.support.hints import did_you_mean
from burnish.support.number_checks import is_whole

# Raise it when equal requests may be answered otherwise for a reason that the settings don't show.
_DECODING_VERSION = 1
_MOST_WORKERS_BY_DEFAULT = 2
_MAGIC, DEFAULT_MAX_TOKENS = b"GGUF", 256
_CONTEXT_TOKENS = 2048  # of files whose model is not known
# A large model on a busy machine reads a thousand tokens in minutes.
_USUAL_SECONDS, _TIMEOUT_SECONDS = ModelSettings().timeout_seconds, 600.0
_LEAST_LOGPROB = -9999.0  # what is impossible has no number in JSON
_SEEDS = 2**32 - 1  # the last of 32 bits asks the engine for a random seed
_PARAMETERS = (
    "temperature",
    "top_p",
    "top_k",
    "min_p",
    "seed",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "logprobs",
    "top_logprobs",
    "label_logprobs",
    "grammar",
    "logit_bias",
    "frequency_penalty",
    "presence_penalty",
    "repeat_penalty",
)


def open_local(name: str, settings: ModelSettings) -> Model:
    """The model of a pulled name (`smollm2-135m`) or of a path that ends in `.gguf`.

    Checks that file and engine are there; the processes start with the first request.
    """
    engine = _engine_version()
    given = name.lower().endswith(".gguf")
    path = _given_file(name) if given else path_of(name)
    usual = _CONTEXT_TOKENS if given else known_model(name).context_tokens
    context = settings.context_tokens or usual
    seconds = settings.timeout_seconds
    return LocalModel(
        name=f"local/{name}",
        path=path,
        fingerprint=canonical_hash(
            {
                "file": model_digest(path),
                "settings": {**local_worker.SETTINGS, "n_ctx": context},
                "decoding": _DECODING_VERSION,
                "engine": engine,
            }
        ),
        workers=settings.workers or min(_MOST_WORKERS_BY_DEFAULT, os.cpu_count() or 1),
        timeout_seconds=_TIMEOUT_SECONDS if seconds == _USUAL_SECONDS else seconds,
        context_tokens=context,
        queue_seconds=settings.queue_seconds,
    )


class LocalModel:
    """Answers on worker processes of its own, from any event loop, one after another or mixed.

    Equal requests get equal answers bit for bit, whatever the order and whoever answers. A
    request's time counts from when a worker computes it, and so do the deadlines around the call;
    before, it waits for `queue_seconds` at most. After `close` the next request starts anew.
    """

    def __init__(
        self,
        *,
        name: str,
        path: Path,
        fingerprint: str,
        workers: int,
        timeout_seconds: float,
        context_tokens: int = _CONTEXT_TOKENS,
        queue_seconds: float = 3600.0,
    ) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self._context_tokens = context_tokens
        self._queue_seconds = queue_seconds
        script = local_worker.__file__
        self._command = (sys.executable, "-P", script, str(path), str(context_tokens))
        self._workers = workers
        self._timeout_seconds = timeout_seconds
        self._pool: Pool | None = None
        self._unclosed: weakref.finalize[[Pool], LocalModel] | None = None

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """One answer: a label, JSON by the schema, a call of a tool, or text."""
        asked = told_as_text(request)
        answer = await self._ask(asked, chat_payload(asked, context_tokens=self._context_tokens))
        return read_calls(request, decided_label(asked, answer) or chat_response(asked, answer))

    async def _ask(self, request: ModelRequest, payload: dict[str, Any]) -> dict[str, Any]:
        pool = self._open_pool()
        job = pool.submit(
            payload,
            lead=leading_text(request),
            timeout=request.timeout_seconds or self._timeout_seconds,
        )
        answer, started = asyncio.wrap_future(job.answer), asyncio.wrap_future(job.started)
        try:
            with waiting():
                limit = self._queue_seconds
                await asyncio.wait((answer, started), timeout=limit, return_when=FIRST_COMPLETED)
            if answer.done() or started.done():
                return await answer
        finally:
            started.cancel()
            if not answer.done() or answer.cancelled():
                answer.cancel()
                pool.abandon(job)
        raise no_answer(
            f"the request waited {self._queue_seconds:g} seconds for its turn",
            "lower the concurrency, or raise queue_seconds",
            code="queue_timeout",
        )

    async def close(self) -> None:
        """End the worker processes; requests under way fail."""
        pool, self._pool = self._pool, None
        if pool and self._unclosed:
            self._unclosed.detach()
            await asyncio.to_thread(pool.close)

    def worker_pids(self) -> list[int]:
        """Of the worker processes that run now."""
        return self._pool.pids() if self._pool else []

    def _open_pool(self) -> Pool:
        if self._pool is None:
            self._pool = Pool(self._command, size=self._workers)
            self._unclosed = weakref.finalize(self, _finish, self._pool)
        return self._pool


def _finish(pool: Pool) -> None:
    """For a model that nobody closed. At the program's end, which the main thread sees, wait until
    the processes are gone; a garbage collection in another thread must not wait."""
    pool.stop()
    if threading.current_thread() is threading.main_thread():
        pool.join()


def _engine_version() -> str:
    try:
        return metadata.version("xllamacpp")
    except metadata.PackageNotFoundError as error:
        raise UsageError(
            what="local models cannot run",
            why="the engine xllamacpp is not installed",
            fix="pip install 'burnish[local]'",
            code="engine_missing",
        ) from error


def _given_file(name: str) -> Path:
    path = Path(name).expanduser().absolute()
    try:
        with path.open("rb") as file:
            magic = file.read(len(_MAGIC))
    except OSError as error:
        raise _unreadable(path, error.strerror or str(error)) from error
    if magic != _MAGIC:
        raise _unreadable(path, "it does not start like a GGUF file")
    return path


def _unreadable(path: Path, why: str) -> UsageError:
    return UsageError(
        what=f"the model file {path} cannot be used",
        why=why,
        fix="give the path of a GGUF model file, or use local/smollm2-135m",
        code="model_missing",
    )


def chat_payload(request: ModelRequest, *, context_tokens: int = _CONTEXT_TOKENS) -> dict[str, Any]:
    """What the engine is sent.

    The seed is always set and grows with `repeat`: equal requests are answered alike, and repeats
    of a sampled answer differ.
    """
    _check(request)
    given = {name: value for name, value in request.parameters.items() if value is not None}
    limit = given.pop("max_completion_tokens", given.get("max_tokens"))
    wanted = given.pop("label_logprobs", False)
    payload: dict[str, Any] = {
        "temperature": 0,
        **given,
        "seed": (_whole("seed", given.get("seed", 0), at_least=0) + request.repeat) % _SEEDS,
        "max_tokens": _max_tokens(request, limit, most=context_tokens),
        "cache_prompt": True,
        "messages": [message.to_json() for message in request.messages],
    }
    if request.labels:
        payload["grammar"] = labels_grammar(request.labels)
        payload.pop("stop", None)  # the grammar ends the answer; a stop could only cut a label
        if wanted or not given.get("logprobs"):
            payload["labels"] = list(request.labels)  # the worker stops once it is decided
        if wanted:
            payload["label_logprobs"] = label_question(request.labels)
    elif request.schema is not None:
        payload["json_schema"] = request.schema
    return payload


def leading_text(request: ModelRequest) -> str:
    """The conversation in the order in which the model reads it."""
    return "\n".join(f"{message.role}: {message.content}" for message in request.messages)


def decided_label(request: ModelRequest, answer: Mapping[str, Any]) -> ModelResponse | None:
    """The label that an answer's beginning leads to, when the grammar leaves only one."""
    whole = request.parameters.get("logprobs") and not request.parameters.get("label_logprobs")
    if "error" in answer or not request.labels or whole:
        return None
    begun = answer["choices"][0]["message"].get("content") or ""
    possible = {label for label in request.labels if begun and label.startswith(begun)}
    if len(possible) != 1:
        return None
    return ModelResponse(
        text=possible.pop(),
        usage=_usage(answer),
        label_logprobs=answer.get("label_logprobs"),
        ttft_ms=_ttft(answer),
        latency_ms=_latency(answer),
    )


def chat_response(request: ModelRequest, answer: Mapping[str, Any]) -> ModelResponse:
    """What the engine said; an error in it is raised."""
    if "error" in answer:
        _raise(answer["error"])
    choice = answer["choices"][0]
    text = choice["message"].get("content") or ""
    usage = answer["usage"]
    if request.labels and choice["finish_reason"] == "length":
        _raise_too_long(f"{usage['prompt_tokens']} tokens leave no room for a label")
    logprobs = choice.get("logprobs")
    return ModelResponse(
        text=text,
        usage=_usage(answer),
        finish_reason=choice["finish_reason"],
        logprobs=None if logprobs is None else _logprobs(logprobs["content"]),
        label_logprobs=answer.get("label_logprobs"),
        ttft_ms=_ttft(answer),
        latency_ms=_latency(answer),
    )


def _usage(answer: Mapping[str, Any]) -> Usage:
    usage = answer["usage"]
    return Usage(
        calls=1,
        input_tokens=usage["prompt_tokens"],
        output_tokens=usage["completion_tokens"],
        cached_tokens=usage.get("prompt_tokens_details", {}).get("cached_tokens", 0),
        cost_usd=0.0,
    )


def _ttft(answer: Mapping[str, Any]) -> float | None:
    return answer.get("timings", {}).get("prompt_ms")  # type: ignore[no-any-return]


def _latency(answer: Mapping[str, Any]) -> float | None:
    """What the engine computed; waiting for a worker, and its start, are no part of it."""
    timings = answer.get("timings", {})
    known = [timings[name] for name in ("prompt_ms", "predicted_ms") if name in timings]
    return sum(known) if known else None


def _check(request: ModelRequest) -> None:
    refuse_beyond_text(request, "the local model", "use a model that takes them: openai/NAME, …")
    if not request.messages:
        _refuse("it has no messages", "give at least one message", code="invalid_request")
    if request.labels and request.schema is not None:
        _refuse(
            "it asks for a label and for JSON by a schema",
            "set labels or output_schema, not both",
            code="invalid_request",
        )
    try:
        leading_text(request).encode()
    except UnicodeEncodeError:
        _refuse(
            "its text holds half of a surrogate pair, which is not valid Unicode",
            "save the source as valid UTF-8",
            code="not_unicode",
        )
    for name in request.parameters:
        if name not in _PARAMETERS:
            _refuse(
                f"a local model has no parameter {name!r}",
                did_you_mean(name, _PARAMETERS, f"use one of {', '.join(_PARAMETERS)}"),
                code="unknown_parameter",
            )


def _max_tokens(request: ModelRequest, given: Json, *, most: int) -> int:
    """Never too few for a label: the grammar ends the answer by itself."""
    needed = label_tokens(request.labels) if request.labels else 1
    if given is None:
        return needed if request.labels else DEFAULT_MAX_TOKENS
    return max(needed, min(most, _whole("max_tokens", given, at_least=1)))


def _whole(name: str, value: Json, *, at_least: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not is_whole(value, least=at_least):
        _refuse(
            f"{name} is {value!r}",
            f"write a whole number from {at_least} up",
            code="parameter_out_of_range",
        )
    return value


def _logprobs(tokens: list[dict[str, Any]]) -> tuple[dict[str, Json], ...]:
    """Without the end mark, which has no text."""
    return tuple(
        {**_token(token), "top_logprobs": [_token(rival) for rival in token["top_logprobs"]]}
        for token in tokens
        if token["bytes"]
    )


def _token(value: Mapping[str, Any]) -> dict[str, Json]:
    logprob = value["logprob"]
    return {"token": value["token"], "logprob": _LEAST_LOGPROB if logprob is None else logprob}


def _raise(error: Mapping[str, Any]) -> NoReturn:
    if error.get("type") == "exceed_context_size_error":
        _raise_too_long(
            f"it has {error.get('n_prompt_tokens')} tokens, and {error.get('n_ctx')} fit"
        )
    message = str(error.get("message"))
    if 400 <= int(error.get("code", 500)) < 500:
        _refuse(
            f"the engine says: {message}",
            "correct the parameter or the schema that it names",
            code="model_refused",
        )
    fix = "try again; BURNISH_WORKER_LOG=FILE keeps what the engine says"
    raise no_answer(f"the engine says: {message}", fix, code="engine_failed")


def _raise_too_long(why: str) -> NoReturn:
    raise UsageError(
        what="the prompt is too long for the local model",
        why=why,
        fix="shorten the prompt, its examples or the item, or raise context_tokens of the model "
        "in [models] of burnish.toml",
        code="prompt_too_long",
    )


def _refuse(why: str, fix: str, *, code: str) -> NoReturn:
    raise UsageError(
        what="the request cannot be sent to the local model", why=why, fix=fix, code=code
    )
