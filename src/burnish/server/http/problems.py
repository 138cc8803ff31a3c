"""The one shape of every error, and what each status means."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Problem(BaseModel):
    """One value of a request that cannot be used."""

    where: str = Field(description="The place in the request, such as `body.budget.max_trials`.")
    message: str


class ErrorBody(BaseModel):
    """What went wrong, and what to do about it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "code": "not_found",
                    "message": "there is no optimization '0199…': none with that id is stored",
                    "fix": "take an id from the list of optimizations",
                    "retryable": False,
                    "problems": [],
                }
            ]
        }
    )

    code: str = Field(description="A stable name for programs.")
    message: str = Field(description="What happened and why, for people.")
    fix: str = Field(description="What to do about it.")
    retryable: bool = Field(description="Whether the same request may succeed later.")
    problems: list[Problem] = Field(
        default_factory=list, description="Each value that cannot be used, where that is why."
    )


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


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The documentation of the errors that any route has, and of a route's own."""
    return {
        status: {"model": ErrorBody, "description": _MEANINGS[status]}
        for status in sorted({*_ALWAYS, *statuses})
    }
