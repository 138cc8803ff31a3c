"""Token counts without asking anybody."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

from burnish.domain import Message

if TYPE_CHECKING:
    from splintr import AnyTokenizer

# OpenAI's models before GPT-4o; all later ones read o200k_base.
_OLDER = re.compile(r"(ft:)?(gpt-4(-|$)|gpt-3|text-embedding-|davinci-|babbage-)")
# What chat endpoints add around each message and before the answer.
_PER_MESSAGE = 4
_PER_REPLY = 3


def count_tokens(text: str, model: str | None = None) -> int:
    """Tokens of a text: exact for OpenAI's models, close for others."""
    if not text:
        return 0
    older = model is not None and _OLDER.match(model)
    tokenizer = _tokenizer("cl100k_base" if older else "o200k_base")
    return len(tokenizer.encode_ordinary(text.encode("utf-8", "replace").decode("utf-8")))


def count_message_tokens(messages: Iterable[Message], model: str | None = None) -> int:
    """Tokens of a chat request, with what the chat form adds."""
    return _PER_REPLY + sum(
        _PER_MESSAGE + count_tokens(message.content, model) for message in messages
    )


@lru_cache(maxsize=2)
def _tokenizer(encoding: str) -> AnyTokenizer:
    from splintr import Tokenizer  # noqa: PLC0415 - with its table it takes a moment to load

    return Tokenizer.from_pretrained(encoding)
