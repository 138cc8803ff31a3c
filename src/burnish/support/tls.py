"""TLS context that all HTTP clients of a process share: reading the certificates takes 30 ms."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


def tls_context() -> ssl.SSLContext:
    """What httpx2 makes for a client, made once for the certificates that the environment names."""
    return _made(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@cache
def _made(_file: str | None, _folder: str | None) -> ssl.SSLContext:
    from httpx2 import create_ssl_context  # noqa: PLC0415 - slow to load

    return create_ssl_context()
