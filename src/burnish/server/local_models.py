"""Embedded models as an OpenAI-compatible endpoint on loopback, for any other tool."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from burnish.domain import (
    BurnishError,
    Message,
    Model,
    ModelRequest,
    ModelResponse,
    UnavailableError,
    UsageError,
)
from burnish.models.catalog import open_model
from burnish.models.settings import ModelSettings
from burnish.server.http.serving import answer_on, bind

# Other names of this machine would let any page that a browser shows in.
_HOSTS = ("127.0.0.1", "localhost")
_MOST_ANSWERS = 16
_MOST_BYTES = 4_000_000
_SHUTDOWN_SECONDS = 5.0
# What tells an endpoint nothing about the answer.
_IGNORED = ("user", "store", "metadata", "service_tier", "stream_options")


def run(
    names: tuple[str, ...], port: int, settings: ModelSettings, listening: Callable[[str], None]
) -> None:
    """Serve these models on loopback until SIGINT or SIGTERM."""
    models = {name: open_model(f"local/{name}", settings) for name in names}

    async def serve() -> None:
        with contextlib.closing(bind(_HOSTS[0], port)) as bound:
            await answer_on(
                bound, create_endpoint(models), listening, shutdown_seconds=_SHUTDOWN_SECONDS
            )

    asyncio.run(serve())


def create_endpoint(models: Mapping[str, Model]) -> Starlette:
    """The application; it closes the models when it ends."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        for model in models.values():
            await model.close()

    async def list_models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [_listed(name) for name in models]})

    async def complete(request: Request) -> Response:
        body = await read_body(request)
        model = _find(models, body.get("model"))
        asked, count = read_request(body), _count(body.get("n"))
        answers = await asyncio.gather(
            *(model.complete(replace(asked, repeat=number)) for number in range(count))
        )
        written = write_answer(str(body["model"]), answers)
        if body.get("stream"):
            options = body.get("stream_options")
            with_usage = isinstance(options, Mapping) and bool(options.get("include_usage"))
            return StreamingResponse(_events(written, with_usage), media_type="text/event-stream")
        return JSONResponse(written)

    return Starlette(
        routes=[
            Route("/v1/models", list_models),
            Route("/v1/chat/completions", complete, methods=["POST"]),
        ],
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(_HOSTS))],
        exception_handlers={BurnishError: _failed, 404: _no_route, 405: _no_route},
        lifespan=lifespan,
    )


def read_request(body: Mapping[str, Any]) -> ModelRequest:
    """The chat completion that was asked for; what is no part of the form is a parameter."""
    if body.get("tools"):
        raise _refused("tools cannot be called", "leave tools out", "unsupported_parameter")
    known = ("model", "messages", "n", "stream", "response_format", "tools", *_IGNORED)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _refused("messages is no list with a message", "give at least one message")
    return ModelRequest(
        messages=tuple(map(_message, messages)),
        parameters={name: value for name, value in body.items() if name not in known},
        schema=_schema(body.get("response_format")),
    )


def _message(value: Any) -> Message:
    content = value.get("content") if isinstance(value, Mapping) else None
    if isinstance(content, list):
        content = "".join(
            part["text"] if isinstance(part, Mapping) and part.get("type") == "text" else "\0"
            for part in content
        )
        content = None if "\0" in content else content
    if not isinstance(content, str) or not isinstance(value.get("role"), str):
        raise _refused("a message is no text with a role", "send role and content as text")
    return Message(value["role"], content)


def _schema(form: Any) -> Mapping[str, Any] | None:
    if form is None or (isinstance(form, Mapping) and form.get("type") == "text"):
        return None
    kind = form.get("type") if isinstance(form, Mapping) else None
    if kind == "json_object":
        return {"type": "object"}
    schema = (form.get("json_schema") or {}).get("schema") if kind == "json_schema" else None
    if not isinstance(schema, Mapping):
        fix = "use text, json_object, or json_schema with a schema"
        raise _refused("response_format is not known", fix)
    return schema


def _count(given: Any) -> int:
    if given is None:
        return 1
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= _MOST_ANSWERS:
        raise _refused(f"n is {given!r}", f"write a whole number from 1 to {_MOST_ANSWERS}")
    return given


def write_answer(model: str, answers: list[ModelResponse]) -> dict[str, Any]:
    """All answers in OpenAI's form."""
    read = answers[0].usage
    written = sum(one.usage.output_tokens for one in answers)
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [_choice(number, one) for number, one in enumerate(answers)],
        "usage": {
            "prompt_tokens": read.input_tokens,
            "completion_tokens": written,
            "total_tokens": read.input_tokens + written,
            "prompt_tokens_details": {"cached_tokens": read.cached_tokens},
        },
    }


def _choice(number: int, answer: ModelResponse) -> dict[str, Any]:
    logprobs = None if answer.logprobs is None else {"content": list(map(_token, answer.logprobs))}
    return {
        "index": number,
        "message": {"role": "assistant", "content": answer.text, "refusal": None},
        "finish_reason": answer.finish_reason,
        "logprobs": logprobs,
    }


def _token(value: Mapping[str, Any]) -> dict[str, Any]:
    rivals = value.get("top_logprobs")
    listed = {"bytes": list(str(value["token"]).encode()), **value}
    return listed if rivals is None else {**listed, "top_logprobs": list(map(_token, rivals))}


def _events(answer: Mapping[str, Any], with_usage: bool) -> Iterator[str]:
    """A stream that brings each answer whole: the engine gives it so."""
    head = {**answer, "object": "chat.completion.chunk"}
    head.pop("usage")
    for choice in answer["choices"]:
        chunk = {**choice, "delta": choice["message"]}
        chunk.pop("message")
        yield f"data: {json.dumps({**head, 'choices': [chunk]})}\n\n"
    if with_usage:
        yield f"data: {json.dumps({**head, 'choices': [], 'usage': answer['usage']})}\n\n"
    yield "data: [DONE]\n\n"


def _listed(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "burnish"}


def _find(models: Mapping[str, Model], name: Any) -> Model:
    model = models.get(name.removeprefix("local/")) if isinstance(name, str) else None
    if model is None:
        served = ", ".join(models)
        raise _refused(f"there is no model {name!r}", f"use one of {served}", "model_not_found")
    return model


async def read_body(request: Request) -> Mapping[str, Any]:
    """The JSON of a request, as far as a model could read it."""
    # A page of another site may send anything but this type without asking first.
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    sent = bytearray()
    async for part in request.stream():
        sent += part
        if len(sent) > _MOST_BYTES:
            raise _refused(
                f"the body has over {_MOST_BYTES:,} bytes", "send less: no model reads so much"
            )
    try:
        value = json.loads(sent) if kind == "application/json" else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, Mapping):
        raise _refused("the body is no JSON object", "send JSON as application/json")
    return value


def _refused(why: str, fix: str, code: str = "invalid_request") -> UsageError:
    return UsageError(what="the request cannot be answered", why=why, fix=fix, code=code)


def _failed(_: Request, error: Exception) -> Response:
    assert isinstance(error, BurnishError)
    if isinstance(error, UsageError):
        status = 404 if error.code == "model_not_found" else 400
    else:
        status = 503 if isinstance(error, UnavailableError) else 500
    return _error(status, f"{error.what}: {error.why}; {error.fix}", error.code)


def _no_route(request: Request, _: Exception) -> Response:
    paths = "GET /v1/models and POST /v1/chat/completions"
    return _error(404, f"there is no {request.method} {request.url.path}; there are {paths}")


def _error(status: int, message: str, code: str | None = None) -> Response:
    kind = "invalid_request_error" if status < 500 else "server_error"
    body = {"error": {"message": message, "type": kind, "param": None, "code": code}}
    return JSONResponse(body, status_code=status)
