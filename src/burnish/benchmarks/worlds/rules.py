"""The plain world: hidden rules to be discovered."""

from __future__ import annotations

from .world import World


class Rules(World):
    """10 to 14 rules; each ticket needs one or two of them."""
