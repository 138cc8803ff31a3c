"""Failures of model calls, in words that hold no secret."""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnish.domain import BurnishError, ModelRequest, UnavailableError, UsageError

_TRANSIENT_STATUS = frozenset({408, 409, 424, 429})
_LONGEST_MESSAGE = 300
_SHORTEST_SECRET = 4
_KEY_LIKE = re.compile(r"(?i)\b(?:bearer\s+\S+|sk-[\w*-]{6,})")
_HIDDEN = "[hidden]"
# Waiting does not cure it, though it comes with the status of a rate limit.
NO_QUOTA = "insufficient_quota"


class TransientError(Exception):
    """A failure that another attempt may cure. It never leaves this folder."""

    def __init__(
        self,
        reason: str,
        *,
        fix: str = "try again later",
        status: int | None = None,
        retry_after: float | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.fix = fix
        self.status = status
        self.retry_after = retry_after
        self.code = code

    @property
    def words(self) -> str:
        """The kind of failure, short enough to be counted by."""
        if self.status == 429:
            return "429 too many requests"
        return "no answer" if self.status is None else f"status {self.status}"


class BadAnswerError(Exception):
    """The endpoint answered with something else than what was asked for."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Who was asked: what messages name. `key_env` is the variable's name, never its value.

    `answers` is what it was asked for, `speaks` its API in words.
    """

    model: str
    address: str
    key_env: str
    answers: str = "a chat completion"
    speaks: str = "an OpenAI-compatible API"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer:
    """An answer that is no success: its status, and what the endpoint says of it.

    The message must be clean already; `code` is the endpoint's own word, and `param` the parameter that
    it names as the cause.
    """

    status: int
    message: str = ""
    code: str = ""
    param: str = ""


class RefusedRequestError(UsageError):
    """A request that an endpoint refused; `said` is what it answered."""

    def __init__(
        self,
        *,
        what: str,
        why: str,
        fix: str,
        code: str | None = None,
        said: ErrorAnswer | None = None,
    ) -> None:
        super().__init__(what=what, why=why, fix=fix, code=code)
        self.said = said or ErrorAnswer(status=400)


def error_of_status(
    answer: ErrorAnswer, endpoint: Endpoint, *, retry_after: float | None = None
) -> BurnishError | TransientError:
    """The error for an HTTP status that is no success."""
    status = answer.status
    said = f" and said: {answer.message}" if answer.message else ""
    if answer.code == NO_QUOTA:
        return UnavailableError(
            what=f"{endpoint.model} cannot be used now",
            why=f"the quota at {endpoint.address} is used up (status {status}){said}",
            fix="add credit or raise the limit of the account, then go on",
            code="quota_used_up",
        )
    if status in _TRANSIENT_STATUS or status >= 500:
        return TransientError(
            f"{endpoint.address} answered with status {status}{said}",
            fix=_fix_of_transient(status),
            status=status,
            retry_after=retry_after,
        )
    if status == 401 or answer.code == "invalid_api_key":
        # What the endpoint says of a wrong key often quotes a part of it.
        why = f"{endpoint.address} does not accept the key (status {status})"
        return _refused_key(endpoint, why, ErrorAnswer(status=status))
    if status == 403:
        why = f"{endpoint.address} denies access (status 403){said}"
        return _refused_key(endpoint, why, answer)
    if status == 404:
        return UsageError(
            what=f"the model {endpoint.model} cannot be used",
            why=f"{endpoint.address} does not know it (status 404){said}",
            fix="check the model's name, and that base_url ends where the API begins (often /v1)",
            code="unknown_model",
        )
    redirect = "; redirects are not followed" if 300 <= status < 400 else ""
    return RefusedRequestError(
        what=f"{endpoint.model} refused the request",
        why=f"{endpoint.address} answered with status {status}{said}{redirect}",
        fix="check base_url" if redirect else "check the agent's parameters and the prompt's size",
        code="request_refused",
        said=answer,
    )


def error_of_bad_answer(problem: str, endpoint: Endpoint) -> TransientError:
    """An answer that cannot be read may be a proxy's or a dying server's: worth another attempt."""
    return TransientError(
        f"{endpoint.address} answered with something else than {endpoint.answers}: {problem}",
        fix=f"check that base_url is {endpoint.speaks}, or try again later",
    )


def refuse_reserved(request: ModelRequest, reserved: tuple[str, ...]) -> None:
    """Refuse parameters that we set ourselves, or could not read the answer of."""
    for name in reserved:
        if name in request.parameters:
            raise UsageError(
                what=f"the parameter {name!r} cannot be used",
                why="Burnish sets it itself",
                fix="remove it from the agent's parameters (for several answers use repeats)",
                code="unsupported_parameter",
            )


def refuse_beyond_text(request: ModelRequest, who: str, fix: str) -> None:
    """Refuse tools and pictures on behalf of a model that takes neither."""
    tools = request.tools or any(one.tool_calls or one.tool_call_id for one in request.messages)
    pictures = any(message.pictures for message in request.messages)
    if tools or pictures:
        raise UsageError(
            what=f"the request cannot be sent to {who}",
            why=f"it takes no {'tools' if tools else 'pictures'}",
            fix=fix,
            code="unsupported_request",
        )


def clean_message(text: str, *secrets: str) -> str:
    """One short printable line without the secrets: what may be shown of a foreign text."""
    line = " ".join(redact(text, *secrets).split())
    printable = "".join(character for character in line if character.isprintable())
    if len(printable) > _LONGEST_MESSAGE:
        return printable[:_LONGEST_MESSAGE] + "…"
    return printable


def redact(text: str, *secrets: str) -> str:
    """The text without these values and without anything that looks like a key."""
    for secret in secrets:
        if len(secret) >= _SHORTEST_SECRET:
            text = re.sub(re.escape(secret), _HIDDEN, text, flags=re.IGNORECASE)
    return _KEY_LIKE.sub(_HIDDEN, text)


def _refused_key(endpoint: Endpoint, why: str, said: ErrorAnswer) -> UsageError:
    if endpoint.key_env:
        fix = f"put a valid key into the environment variable {endpoint.key_env}"
    else:
        fix = "name the environment variable that holds the key in the setting api_key_env"
    what = f"{endpoint.model} cannot be reached with this key"
    return RefusedRequestError(what=what, why=why, fix=fix, code="bad_key", said=said)


def _fix_of_transient(status: int) -> str:
    if status == 429:
        return "lower max_concurrency or set requests_per_minute, or try again later"
    return "try again later, or check the endpoint's health"
