"""Opens an overrides store by its path or URL."""

from __future__ import annotations

from pathlib import Path

from burnish.overrides.files import LocalPromptOverridesStore
from burnish.overrides.object_store import S3PromptOverridesStore
from burnish.overrides.redis import RedisPromptOverridesStore
from burnish.overrides.store import PromptOverridesStore

_REDIS = ("redis", "rediss", "unix")


def open_overrides(location: str) -> PromptOverridesStore:
    """The store at a path or URL: a folder, a Redis server or a bucket; the caller closes it."""
    scheme, separator, _ = location.partition("://")
    if not separator:
        return LocalPromptOverridesStore(Path(location).expanduser())
    if scheme in _REDIS:
        return RedisPromptOverridesStore.from_url(location)
    return S3PromptOverridesStore.from_url(location)
