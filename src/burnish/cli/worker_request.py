"""What `burnish worker` was asked for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerRequest:
    """The options as given."""

    loops: tuple[str, ...]
    mailbox: str | None = None
    overrides: str | None = None
    concurrency: int | None = None
    grace: float = 30.0
    health_host: str = "127.0.0.1"
    health_port: int | None = None
    stall: float = 60.0
    exit_on_stall: bool = False
