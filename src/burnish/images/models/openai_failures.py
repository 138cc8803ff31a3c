"""Failures of calls about pictures, under the codes that image runs know."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from burnish.domain import BurnishError, UnavailableError, UsageError

T = TypeVar("T")
TIMEOUT = "OPENAI_TIMEOUT"
UNAVAILABLE = "OPENAI_UNAVAILABLE"
REFUSED = "OPENAI_REFUSED"
_TOO_LATE = ("timeout", "deadline")


async def with_image_codes(work: Awaitable[T]) -> T:
    """The work's result, or its error under the code of an image run."""
    try:
        return await work
    except BurnishError as error:
        failure = _recoded(error)
    # Outside of the `except`, so that nothing foreign hangs on as context.
    raise failure


def _recoded(error: BurnishError) -> BurnishError:
    if isinstance(error, UnavailableError) and error.code != UNAVAILABLE:
        code = TIMEOUT if error.code in _TOO_LATE else UNAVAILABLE
        return UnavailableError(what=error.what, why=error.why, fix=error.fix, code=code)
    if isinstance(error, UsageError) and error.code == "request_refused":
        return UsageError(
            what=error.what,
            why=error.why,
            fix="word the prompt otherwise, or check the model's name and base_url",
            code=REFUSED,
        )
    return error
