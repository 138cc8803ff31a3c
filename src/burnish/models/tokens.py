"""Token counts without asking anybody."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable
from functools import lru_cache
from importlib.machinery import PathFinder
from typing import Any, Protocol

from burnish.domain import Message

_DEFAULT_ENCODING = "o200k_base"
_BINDINGS = "bpe_openai._bindings"
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
    bindings = _bindings()
    if bindings is None:
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


def _bindings() -> Any:
    """The compiled part of `bpe_openai`, which counts without building the list of tokens.

    The package around it reads the tables of all its encodings when it is imported, which takes a
    second and is of no use here: so the compiled part is loaded alone.
    """
    if _BINDINGS in sys.modules:
        return sys.modules[_BINDINGS]
    package = importlib.util.find_spec("bpe_openai")
    places = package.submodule_search_locations if package else None
    spec = PathFinder.find_spec(_BINDINGS, places) if places else None
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    # Under its own name, for it can be loaded once only, and somebody may import the package yet.
    sys.modules[_BINDINGS] = module
    spec.loader.exec_module(module)
    return module
