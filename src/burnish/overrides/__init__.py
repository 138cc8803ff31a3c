"""Overrides of prompts by tag, and the stores that keep them."""

from burnish.overrides.descriptor import (
    NAMESPACE,
    PromptDescriptor,
    SectionDescriptor,
    descriptor_of,
)
from burnish.overrides.files import LocalPromptOverridesStore
from burnish.overrides.masks import MaskTags
from burnish.overrides.names import check_name, safe_name
from burnish.overrides.object_store import S3PromptOverridesStore
from burnish.overrides.open import open_overrides
from burnish.overrides.override import (
    PromptOverride,
    ResolvedOverride,
    SectionOverride,
    StaleOverride,
)
from burnish.overrides.redis import RedisPromptOverridesStore
from burnish.overrides.server_calls import Patience
from burnish.overrides.sql import SqlPromptOverridesStore
from burnish.overrides.store import ABSENT, PromptOverridesStore, resolve_tag

__all__ = [
    "ABSENT",
    "NAMESPACE",
    "LocalPromptOverridesStore",
    "MaskTags",
    "Patience",
    "PromptDescriptor",
    "PromptOverride",
    "PromptOverridesStore",
    "RedisPromptOverridesStore",
    "ResolvedOverride",
    "S3PromptOverridesStore",
    "SectionDescriptor",
    "SectionOverride",
    "SqlPromptOverridesStore",
    "StaleOverride",
    "check_name",
    "descriptor_of",
    "open_overrides",
    "resolve_tag",
    "safe_name",
]
