"""The parent of responses that hold text from models and users."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, model_validator


class View(BaseModel):
    """A response. Half surrogate pairs, which no JSON over HTTP can hold, are shown as `�`."""

    @model_validator(mode="before")
    @classmethod
    def _make_sendable(cls, data: Any) -> Any:
        return sendable(data)


def sendable(value: Any) -> Any:
    """The value itself, or where its text cannot be sent, the same with what can."""
    try:
        json.dumps(value, ensure_ascii=False, default=repr).encode()
    except UnicodeEncodeError:
        return _replaced(value)
    return value


def _replaced(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {_replaced(key): _replaced(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replaced(inner) for inner in value]
    return value
