"""Sections, descriptors and tags, and the stores that keep them."""

from burnish.overrides.agent_prompts import NAMESPACE, descriptor_of
from burnish.overrides.descriptor import PromptDescriptor, SectionDescriptor
from burnish.overrides.local_store import LocalPromptOverridesStore
from burnish.overrides.masks import MaskTags
from burnish.overrides.names import check_name, safe_name
from burnish.overrides.override import (
    PromptOverride,
    ResolvedOverride,
    SectionOverride,
    StaleOverride,
)
from burnish.overrides.redis_retry import Patience
from burnish.overrides.redis_store import RedisPromptOverridesStore
from burnish.overrides.s3_store import S3PromptOverridesStore
from burnish.overrides.sql_store import SqlPromptOverridesStore
from burnish.overrides.store import ABSENT, PromptOverridesStore

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
    "safe_name",
]
