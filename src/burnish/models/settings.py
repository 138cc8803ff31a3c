"""Model settings: how a model is reached and how hard it may be driven."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from burnish.domain import UsageError
from burnish.support.hints import did_you_mean

# Providers of answers that cost nothing: there is nothing to save by asking in batches.
WITHOUT_BATCHES = ("local", "scripted", "replay")
_APIS = ("chat", "responses")
_TEXTS = ("base_url", "api_key_env", "api")
_SWITCHES = ("grammar", "stream", "prompt_cache", "cache", "batch")
_COUNTS = ("max_concurrency", "max_attempts", "workers", "context_tokens")
_SECONDS = ("timeout_seconds", "deadline_seconds", "queue_seconds")
_ABOVE_ZERO = ("requests_per_minute", "tokens_per_minute", *_SECONDS)
_FROM_ZERO = ("retry_budget", "input_price", "output_price", "cached_input_price")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Settings of one model; None means the provider's default or no limit.

    `base_url` is where an OpenAI-compatible endpoint is; without it OPENAI_BASE_URL says so, else
    it is OpenAI's. `api_key_env` names the environment variable that holds the key (None:
    OPENAI_API_KEY; empty: send no key); the key itself is never a setting. `max_concurrency` is how
    many calls are under way at once, and adapts downwards when the endpoint says 429.
    `requests_per_minute` and `tokens_per_minute` are limits that are kept before the endpoint
    complains. `timeout_seconds` bounds one attempt, `deadline_seconds` the whole call with its
    waits and retries. `max_attempts` is how often a call is tried, the first time included.
    `retry_budget` is how many retries a call earns: 0.2 lets a fifth of the calls be tried again.
    `input_price` and `output_price` are in USD per million tokens, and given together.
    `cached_input_price` is that of input which the endpoint has cached; without it own prices have
    `input_price` for it, and the tables their own. `grammar`
    sends labels as a GBNF grammar, which llama.cpp servers understand. `stream` has answers
    come piece by piece, so that the time to the first of them is known. `prompt_cache` marks what
    the next request is likely to begin with, for vendors that cache prompts only where they are told
    to, such as Anthropic. `api` says which of OpenAI's two ways to ask for text the endpoint speaks:
    "chat" or "responses". For local models: `workers` are processes, `context_tokens` what prompt and
    answer may have together, and `queue_seconds` how long a call waits for its turn, which no other
    deadline counts. `cache` keeps answers and pays for equal requests once. `batch` sends requests to
    the vendor's batch endpoint, where they cost half and may take a day; prices that are set here are
    halved too.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    api: str = "chat"
    grammar: bool = False
    stream: bool = False
    prompt_cache: bool = True
    max_concurrency: int = 16
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout_seconds: float = 60.0
    deadline_seconds: float = 600.0
    max_attempts: int = 5
    retry_budget: float = 0.2
    input_price: float | None = None
    output_price: float | None = None
    cached_input_price: float | None = None
    workers: int | None = None
    context_tokens: int | None = None
    queue_seconds: float = 3600.0
    cache: bool = True
    batch: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            problem = _problem(field.name, value)
            if problem:
                raise _invalid(field.name, problem)
        if self.batch and not self.cache:
            raise _invalid("batch", "answers of a batch are kept in the cache, which is off")
        if self.batch and self.stream:
            raise _invalid("batch", "answers of a batch come as a whole, and stream is on")
        if (self.input_price is None) != (self.output_price is None):
            missing = "input_price" if self.input_price is None else "output_price"
            raise _invalid(missing, "input_price and output_price are given together or not at all")
        if self.cached_input_price is not None and self.input_price is None:
            raise _invalid("cached_input_price", "input_price and output_price are not given")

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> ModelSettings:
        """Checked settings from a table of a configuration file."""
        known = [field.name for field in fields(cls)]
        for key in value:
            if key not in known:
                raise _unknown(str(key), known)
        return cls(**value)


def _problem(name: str, value: Any) -> str | None:
    """Why a value cannot be used, or None."""
    if name in _TEXTS:
        return _text_problem(name, value)
    if name in _SWITCHES:
        return None if isinstance(value, bool) else f"{value!r} is neither true nor false"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return f"{value!r} is not a number"
    if not math.isfinite(value):
        return f"{value} is not a finite number"
    if name in _COUNTS:
        whole = isinstance(value, int) and value >= 1
        return None if whole else f"{value} is not a whole number from 1 up"
    if name in _ABOVE_ZERO:
        return None if value > 0 else f"{value} is not above 0"
    assert name in _FROM_ZERO, name
    return None if value >= 0 else f"{value} is below 0"


def _text_problem(name: str, value: Any) -> str | None:
    if not isinstance(value, str):
        return f"it is a {type(value).__name__}, not text"
    if name == "api" and value not in _APIS:
        return f"{value!r} is not one of {', '.join(_APIS)}"
    if name == "base_url":
        return _address_problem(value)
    return None


def _address_problem(value: str) -> str | None:
    try:
        parts = urlsplit(value)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        return "it is not an address"
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine:
        return "it does not start with http:// or https:// and a host"
    # The address is shown in messages and logs, so nothing secret may stand in it.
    if parts.username is not None or parts.password is not None:
        return "it holds a user or password"
    if parts.query or parts.fragment:
        return "it holds a query or fragment"
    return None


def _invalid(name: str, why: str) -> UsageError:
    fixes = {
        "base_url": "write it like http://127.0.0.1:8080/v1, and name the variable that holds the "
        "key in api_key_env",
        "api_key_env": 'write the name of an environment variable, such as "OPENAI_API_KEY"',
        "api": f"leave it out, or write one of {', '.join(_APIS)}",
        "input_price": "give both prices in USD per million tokens, or neither",
        "output_price": "give both prices in USD per million tokens, or neither",
        "cached_input_price": "give all three prices in USD per million tokens, or leave it out",
    }
    return UsageError(
        what=f"the model setting {name} cannot be used",
        why=why,
        fix=fixes.get(name, "correct it, or leave it out for the default"),
        code="invalid_settings",
    )


def _unknown(key: str, known: list[str]) -> UsageError:
    return UsageError(
        what=f"the model setting {key!r} cannot be used",
        why="there is no such setting",
        fix=did_you_mean(key, known, f"use one of {', '.join(known)}", cutoff=0.5),
        code="unknown_field",
    )
