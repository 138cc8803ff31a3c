"""OpenAI wire format for pictures: bodies, answers and failures."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from burnish.domain import (
    BurnishError,
    PaidAnswerError,
    UnavailableError,
    Usage,
    UsageError,
    paid_in,
)
from burnish.domain.images.runs import Quality
from burnish.models.endpoint.answers import Answer, token_count
from burnish.models.failures import BadAnswerError
from burnish.models.openai.vendor import read_usage

LARGEST_IMAGE = 24 * 1024 * 1024
# Base64 makes four bytes of three, and a little JSON stands around it.
LARGEST_IMAGE_BODY = LARGEST_IMAGE * 4 // 3 + 64 * 1024
_SQUARE = "1024x1024"
_SMALL_SQUARES = {Quality.LOW: "256x256", Quality.MEDIUM: "512x512", Quality.HIGH: _SQUARE}
_SIGNATURES = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png", "png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg", "jpg"),
    (re.compile(rb"RIFF.{4}WEBP", re.DOTALL), "image/webp", "webp"),
)
T = TypeVar("T")
TIMEOUT = "OPENAI_TIMEOUT"
UNAVAILABLE = "OPENAI_UNAVAILABLE"
REFUSED = "OPENAI_REFUSED"
INVALID_VERDICT = "INVALID_VERDICT"
_TOO_LATE = ("timeout", "deadline")
_OWN_CODES = (UNAVAILABLE, INVALID_VERDICT)


@dataclass(frozen=True, slots=True)
class GivenPicture:
    """A picture as an endpoint hands it over: its bytes, or else where they are."""

    data: bytes = b""
    url: str = ""


def image_body(model: str, prompt: str, quality: Quality) -> dict[str, Any]:
    """The JSON body of a picture. Pictures of one model have one shape, so that they compare."""
    body: dict[str, Any] = {"model": model, "prompt": prompt, "n": 1, "size": _SQUARE}
    if model.startswith(("gpt-image", "chatgpt-image")):
        # These always answer in base64, and refuse to be asked for it.
        return {**body, "quality": quality.value}
    body["response_format"] = "b64_json"
    if model.startswith("dall-e-3"):
        return {**body, "quality": "hd" if quality is Quality.HIGH else "standard"}
    if model.startswith("dall-e-2"):
        return {**body, "size": _SMALL_SQUARES[quality]}
    return {**body, "quality": quality.value}


def picture_file(data: bytes) -> tuple[str, bytes, str]:
    """A picture to send: a name, its bytes and the media type that its first bytes tell."""
    for signature, media_type, ending in _SIGNATURES:
        if signature.match(data):
            return f"base.{ending}", data, media_type
    raise UsageError(
        what="the picture cannot be sent",
        why="its bytes are neither PNG nor JPEG nor WebP",
        fix="give a picture of one of these formats",
        code="not_an_image",
    )


def read_picture(body: Mapping[str, Any]) -> Answer[GivenPicture]:
    """The answer's picture with its tokens; BadAnswerError says what is there instead."""
    data = body.get("data")
    first = data[0] if isinstance(data, list) and data else None
    if not isinstance(first, Mapping):
        raise BadAnswerError("it has no picture in data[0]")
    usage = read_usage(body) or Usage(calls=1)
    return Answer(
        _given(first),
        usage,
        image_tokens=_image_tokens(body, "input", usage.input_tokens),
        # What was written is the picture, where the answer does not tell otherwise.
        output_image_tokens=_image_tokens(body, "output", usage.output_tokens)
        or usage.output_tokens,
    )


def _given(first: Mapping[str, Any]) -> GivenPicture:
    encoded, url = first.get("b64_json"), first.get("url")
    if isinstance(encoded, str) and encoded:
        try:
            return GivenPicture(data=base64.b64decode(encoded, validate=True))
        except (binascii.Error, ValueError):
            raise BadAnswerError("its picture is not valid base64") from None
    if isinstance(url, str) and url:
        return GivenPicture(url=url)
    raise BadAnswerError("data[0] has neither b64_json nor url")


def _image_tokens(body: Mapping[str, Any], side: str, most: int) -> int:
    given = body.get("usage")
    details = given.get(f"{side}_tokens_details") if isinstance(given, Mapping) else None
    if not isinstance(details, Mapping):
        return 0
    return min(token_count(details.get("image_tokens")) or 0, most)


async def with_image_codes(work: Awaitable[T]) -> T:
    """The work's result, or its error under the code of an image run."""
    try:
        return await work
    except BurnishError as error:
        failure = _recoded(error)
    # Outside of the `except`, so that nothing foreign hangs on as context.
    raise failure


def _recoded(error: BurnishError) -> BurnishError:
    if isinstance(error, UnavailableError) and error.code not in _OWN_CODES:
        code = TIMEOUT if error.code in _TOO_LATE else UNAVAILABLE
        return PaidAnswerError(
            what=error.what, why=error.why, fix=error.fix, code=code, usage=paid_in(error)
        )
    if isinstance(error, UsageError) and error.code == "request_refused":
        return UsageError(
            what=error.what,
            why=error.why,
            fix="word the prompt otherwise, or check the model's name and base_url",
            code=REFUSED,
        )
    return error
