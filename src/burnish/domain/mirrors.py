"""Optimizations that are also to be seen on another server, and how much of each is there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class MirrorTarget:
    """Where to. The key is named by the variable that holds it, and never kept."""

    url: str
    workspace: str = "default"
    project: str = "Burnish"
    api_key_env: str = "OPIK_API_KEY"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirror:
    """One optimization on its way to one target; `error` says what went wrong last."""

    optimization_id: str
    target: MirrorTarget
    error: str | None = None
