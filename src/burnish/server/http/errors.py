"""Errors as responses: their one shape, and the one place where failures become responses."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from burnish.domain import BurnishError, InvariantError
from burnish.domain.errors import RowsError
from burnish.server.http.examples import WITH_EXAMPLES
from burnish.server.images.paths import is_image_path
from burnish.support.secrets import without_secrets

_MEANINGS = {
    400: "The request is not HTTP or JSON that can be read.",
    401: "A key is needed, and none or a wrong one was given.",
    403: "The key, the Host or the Origin does not allow this.",
    404: "There is no such thing.",
    409: "Somebody else owns or changed it.",
    413: "The body is too large.",
    422: "A value cannot be used.",
    500: "A bug of the server; its logs have more under the request's id.",
    503: "Something outside does not answer; trying again later may help.",
}
_ALWAYS = (400, 401, 403, 413, 422, 500, 503)
_log = logging.getLogger("burnish.server")
_RETRY_AFTER = "5"
# Of configured optimizers.
_KINDS = ("gepa", "other")
_MOST_PROBLEMS = 20
_LONGEST = 300
_PARAMETER = re.compile(r"\{\w+\}")


class Problem(BaseModel):
    """One value of a request that cannot be used."""

    where: str = Field(description="The place in the request, such as `body.budget.max_trials`.")
    message: str


class ErrorBody(BaseModel):
    """What went wrong, and what to do about it."""

    model_config = WITH_EXAMPLES

    code: str = Field(description="A stable name for programs.")
    message: str = Field(description="What happened and why, for people.")
    fix: str = Field(description="What to do about it.")
    retryable: bool = Field(description="Whether the same request may succeed later.")
    problems: list[Problem] = Field(
        default_factory=list, description="Each value that cannot be used, where that is why."
    )


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of the errors that any route has, and of a route's own."""
    return {
        status: {"model": ErrorBody, "description": _MEANINGS[status]}
        for status in sorted({*_ALWAYS, *statuses})
    }


def error_response(
    status: int,
    *,
    code: str,
    message: str,
    fix: str,
    retryable: bool = False,
    problems: Sequence[Mapping[str, str]] = (),
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An error in the one shape. What it quotes may be any text, so it is kept to ASCII."""
    body = {
        "code": code,
        "message": message,
        "fix": fix,
        "retryable": retryable,
        "problems": list(problems),
    }
    text = without_secrets(json.dumps(body))
    return Response(text, status_code=status, media_type="application/json", headers=headers)


def domain_error(error: BurnishError) -> Response:
    """An error of the domain; its family has the status."""
    status = 404 if error.code == "not_found" else error.http_status
    if status == HTTPStatus.INTERNAL_SERVER_ERROR:
        return bug_response(error)
    told = error.to_json()
    headers = {"Retry-After": _RETRY_AFTER} if told["retryable"] else None
    return error_response(status, **told, problems=_rows(error), headers=headers)


def _rows(error: BurnishError) -> list[dict[str, str]]:
    """The rows that an upload is refused for."""
    found = error.problems if isinstance(error, RowsError) else ()
    return [{"where": where, "message": message[:_LONGEST]} for where, message in found]


def bug_response(error: Exception) -> Response:
    """A bug; the trace goes to the log and nowhere else."""
    _log.error("a request ended in a bug", exc_info=error)
    bug = InvariantError(
        what="the server failed",
        why="of a bug",
        fix="report it, with the lines of the log that have this request's id",
    )
    return error_response(500, **bug.to_json())


def add_handlers(app: FastAPI) -> None:
    """Let every failure of a route end here."""

    async def of_domain(_: Request, error: Exception) -> Response:
        assert isinstance(error, BurnishError)
        return domain_error(error)

    async def of_validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        # The contract of image runs has its own names for errors.
        own = is_image_path(request.url.path)
        return _invalid(error, "INVALID_REQUEST" if own else "invalid_request")

    async def of_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        return _http(request, error)

    app.add_exception_handler(BurnishError, of_domain)
    app.add_exception_handler(RequestValidationError, of_validation)
    app.add_exception_handler(HTTPException, of_http)


def _place(found: Sequence[int | str]) -> list[str]:
    """Where a mistake is, without the name that tells apart kinds of one body."""
    tagged = len(found) > 2 and found[0] == "body" and found[1] in _KINDS
    return [str(part) for part in (("body", *found[2:]) if tagged else found)]


def _invalid(error: RequestValidationError, code: str) -> Response:
    # The values themselves are left out: they may be secrets, or not even text.
    problems = [
        {
            "where": ".".join(_place(one["loc"]))[:_LONGEST],
            "message": str(one["msg"])[:_LONGEST],
        }
        for one in error.errors()[:_MOST_PROBLEMS]
    ]
    first = problems[0] if problems else {"where": "the request", "message": "it is not valid"}
    return error_response(
        422,
        code=code,
        message=f"the request cannot be used: {first['where']}: {first['message']}",
        fix="correct what `problems` names; /openapi.json says what is expected",
        problems=problems,
    )


def _http(request: Request, error: HTTPException) -> Response:
    status = error.status_code
    known: dict[int, dict[str, Any]] = {
        400: {
            "code": "unreadable",
            "message": "the request cannot be read: its body is not JSON",
            "fix": "send a JSON object with Content-Type: application/json",
        },
        404: {
            "code": "unknown_route",
            "message": f"there is no {request.url.path[:_LONGEST]}: no route has that path",
            "fix": "see /openapi.json for all routes",
        },
        405: {
            "code": "method_not_allowed",
            "message": f"{request.method} is not possible here: the route takes other methods",
            "fix": "see the Allow header and /openapi.json",
        },
        413: {
            "code": "too_large",
            "message": f"the body is too large: {error.detail}",
            "fix": "send less",
        },
    }
    told = known.get(status) or {
        "code": HTTPStatus(status).name.lower(),
        "message": str(error.detail),
        "fix": "see /openapi.json for what is expected",
    }
    headers = dict(error.headers or {})
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_methods(request.app, request.url.path))
    return error_response(status, **told, headers=headers)


def _methods(app: FastAPI, path: str) -> list[str]:
    """All methods that a path takes; the routes themselves know only of their own.

    Of two templates that fit, the one that names more of the path is meant.
    """
    paths = app.openapi()["paths"]
    fitting = [one for one in paths if _fits(one, path)]
    closest = min(fitting, key=lambda one: one.count("{"), default=None)
    return [] if closest is None else sorted(method.upper() for method in paths[closest])


def _fits(template: str, path: str) -> bool:
    return re.fullmatch(_PARAMETER.sub("[^/]+", template), path) is not None
