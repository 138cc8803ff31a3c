"""Errors that every item would meet alike, and that are raised rather than scored."""

from __future__ import annotations

from burnish.domain import UsageError

SYSTEMIC_CODES = frozenset(
    {
        "bad_key",
        "engine_missing",
        "missing_extra",
        "missing_key",
        "model_missing",
        "not_open",
        "not_recorded",
        "not_scripted",
        "tag_ignored",
        "unknown_model",
        "unknown_parameter",
        "unsupported_parameter",
    }
)


def is_systemic(error: BaseException) -> bool:
    """Whether going on with the next item would only repeat the error."""
    return isinstance(error, UsageError) and error.code in SYSTEMIC_CODES
