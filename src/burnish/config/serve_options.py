"""What `burnish serve` was told: plain values, for the command line and the server alike."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of one server."""

    config: Path
    database: str
    host: str = "127.0.0.1"
    port: int = 8720
    allowed_hosts: tuple[str, ...] = ()
    allowed_urls: tuple[str, ...] = ()
    insecure: bool = False
    max_runs: int = 2
    execute: bool = True
    lease_seconds: float = 30.0
    mailbox: str | None = None
    plain_logs: bool = False
    log_level: str = "info"
