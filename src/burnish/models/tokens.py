"""Counting tokens without asking anybody."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

from burnish.domain import Message

_DEFAULT_ENCODING = "o200k_base"
# What chat endpoints add around each message and before the answer.
_PER_MESSAGE = 4
_PER_REPLY = 3


class _Tokenizer(Protocol):
    def count(self, text: str) -> int: ...


def count_tokens(text: str, model: str | None = None) -> int:
    """Tokens of a text: exact for OpenAI's models, close for others."""
    if not text:
        return 0
    tokenizer = _tokenizer(model)
    if tokenizer is None:
        return estimate_tokens(text)
    return tokenizer.count(text.encode("utf-8", "replace").decode("utf-8"))


def count_message_tokens(messages: Iterable[Message], model: str | None = None) -> int:
    """Tokens of a chat request, with what the chat form adds."""
    return _PER_REPLY + sum(
        _PER_MESSAGE + count_tokens(message.content, model) for message in messages
    )


def estimate_tokens(text: str) -> int:
    """A rough count that needs no tokenizer: about four bytes a token."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


@lru_cache(maxsize=64)
def _tokenizer(model: str | None) -> _Tokenizer | None:
    try:
        with warnings.catch_warnings():
            # The package opens its data in a way that Python calls outdated.
            warnings.simplefilter("ignore", DeprecationWarning)
            # The bindings count without building the list of tokens, and take text of any length.
            from bpe_openai import _bindings as bindings  # noqa: PLC0415
    except ImportError:
        return None
    tokenizer: _Tokenizer
    if model is not None:
        try:
            tokenizer = bindings.tokenizer_for_model(model)
        except (LookupError, ValueError):
            return _tokenizer(None)
        return tokenizer
    tokenizer = bindings.tokenizer_for_encoding(_DEFAULT_ENCODING)
    return tokenizer
