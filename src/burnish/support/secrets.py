"""Secrets kept out of what is shown, logged or sent."""

from __future__ import annotations

import os
import re

_SECRET_NAME = re.compile(r"(?i)(key|token|secret|password)")
_ADDRESS_PASSWORD = re.compile(r"(://[^/\s:@]*:)[^/\s@]+@")
# Some variables hold several keys, with their names.
_BETWEEN_KEYS = re.compile(r"[\s,;:]+")
_SHORTEST_SECRET = 8


def without_secrets(text: str) -> str:
    """Text without passwords in addresses and without the values of secret variables."""
    for name, value in os.environ.items():
        if _SECRET_NAME.search(name):
            for secret in (value, *_BETWEEN_KEYS.split(value)):
                if len(secret) >= _SHORTEST_SECRET:
                    text = text.replace(secret, "[hidden]")
    return _ADDRESS_PASSWORD.sub(r"\1***@", text)
