"""Under which name an agent's prompt has its tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from burnish.domain import Configuration
from burnish.overrides.descriptor import PromptDescriptor
from burnish.overrides.names import safe_name

NAMESPACE = "agents"


def descriptor_of(
    agent_name: str, configuration: Configuration | Mapping[str, Any]
) -> PromptDescriptor:
    """The descriptor of an agent's prompt."""
    return PromptDescriptor.of(configuration, namespace=NAMESPACE, key=safe_name(agent_name))
