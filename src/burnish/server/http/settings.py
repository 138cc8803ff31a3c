"""Settings of a server: what it serves, to whom, and within which limits."""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from burnish.app.optimize.runners import MailboxRunner
from burnish.config.served_project import ServeOptions
from burnish.domain import UsageError
from burnish.jobs.executor import ExecutorSettings
from burnish.models.outbound_rules import URLS_VARIABLE, OutboundRules
from burnish.optimization.attempt import MakeAdapter
from burnish.server.http.auth import KEYS_VARIABLE, Keys
from burnish.server.http.ui_pages import BUILT_UI

HOSTS_VARIABLE = "BURNISH_ALLOWED_HOSTS"
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
_WILDCARDS = ("0.0.0.0", "::", "")  # noqa: S104 - named to be refused without a key


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamSettings:
    """Event streams: `room` is how many events may wait for one client.

    `image_streams` is how many clients may watch image runs at once.
    """

    keep_alive_seconds: float = 15.0
    send_seconds: float = 30.0
    room: int = 1000
    look_seconds: float = 0.05
    image_streams: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """What a server serves, to whom, and within which limits."""

    config: Path
    database: str
    host: str = "127.0.0.1"
    port: int = 8720
    keys: Keys = field(default_factory=Keys)
    insecure: bool = False
    allowed_hosts: tuple[str, ...] = ()
    allowed_urls: tuple[str, ...] = ()
    max_body_bytes: int = 1_000_000
    request_seconds: float = 30.0
    max_upload_bytes: int = 100_000_000
    max_image_bytes: int = 20_000_000
    max_batch_bytes: int = 20_000_000
    upload_seconds: float = 600.0
    try_seconds: float = 90.0
    shutdown_seconds: float = 5.0
    runs: ExecutorSettings = field(default_factory=ExecutorSettings)
    # Where experiments of runs are evaluated; None is this process.
    make_adapter: MakeAdapter | None = None
    execute: bool = True
    streams: StreamSettings = field(default_factory=StreamSettings)
    ui: Path = BUILT_UI

    @classmethod
    def of(cls, options: ServeOptions, environment: Mapping[str, str]) -> ServerSettings:
        """From what the command line was told, and the variables that hold keys and names."""
        named = _names_in(environment, HOSTS_VARIABLE)
        return cls(
            config=options.config,
            database=options.database,
            host=options.host,
            port=options.port,
            keys=Keys.of(environment.get(KEYS_VARIABLE)),
            insecure=options.insecure,
            allowed_hosts=(*options.allowed_hosts, *named),
            allowed_urls=(*options.allowed_urls, *_names_in(environment, URLS_VARIABLE)),
            runs=ExecutorSettings(
                max_jobs=options.max_runs,
                lease_seconds=options.lease_seconds,
            ),
            make_adapter=None if options.mailbox is None else MailboxRunner(options.mailbox),
            execute=options.execute,
        )

    def __post_init__(self) -> None:
        if "*" in self.allowed_hosts and not self.keys:
            raise UsageError(
                what="every Host cannot be allowed",
                why="without a key, any page in a browser could then use this server",
                fix="name the hosts, or set BURNISH_API_KEY",
                code="key_needed",
            )
        if self.is_loopback or self.keys or self.insecure:
            return
        raise UsageError(
            what=f"the server does not listen on {self.host or 'all addresses'}",
            why="others could reach it there, and it has no key",
            fix="set BURNISH_API_KEY to a key of at least 16 characters, or accept that anybody "
            "who reaches it may start runs, with --insecure",
            code="key_needed",
        )

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def urls(self) -> OutboundRules:
        """Which URLs a request may name."""
        return OutboundRules.of(self.allowed_urls)

    @property
    def hosts(self) -> frozenset[str]:
        """The names that a request may use for this server, in lower case and without ports."""
        own = () if self.host in _WILDCARDS else (_bracketed(self.host),)
        return frozenset(
            one.lower().rstrip(".") for one in (*LOOPBACK_NAMES, *own, *self.allowed_hosts)
        )


def _names_in(environment: Mapping[str, str], variable: str) -> list[str]:
    return environment.get(variable, "").replace(",", " ").split()


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host
