"""Who may write to an optimization."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """The right to write to an optimization. Each new holder gets a higher token."""

    optimization_id: str
    owner: str
    token: int
