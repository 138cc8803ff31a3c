"""Outbound rules: which URLs of requests may be called; named ones only, each address checked.

A URL of the configuration file is its owner's business. One that came over HTTP could point at
services that trust this machine, so it is checked when it is given and again at every call.
"""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Self
from urllib.parse import urlsplit

from burnish.domain import UsageError

Address = IPv4Address | IPv6Address
# Where clouds hand out keys to whoever asks from inside.
_METADATA = frozenset(
    ip_address(one)
    for one in (
        "169.254.169.254",
        "169.254.169.253",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "168.63.129.16",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd00:ec2::253",
        "fd00:ec2::23",
        "fd20:ce::254",
    )
)
_METADATA_NAMES = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "metadata.azure.internal",
        "instance-data",
        "instance-data.ec2.internal",
    }
)
_NAT64 = ip_network("64:ff9b::/96")
_COMPATIBLE = ip_network("::/96")
# What `ipaddress` calls public although it is not: protocol assignments, anycast relays, tunnels.
_NOT_PUBLIC = tuple(
    ip_network(one)
    for one in (
        "100.64.0.0/10",
        "192.0.0.0/24",
        "192.88.99.0/24",
        "64:ff9b:1::/48",
        "2001::/23",
        "2002::/16",
        "3fff::/20",
        "5f00::/16",
        "fec0::/10",
    )
)
URLS_VARIABLE = "BURNISH_ALLOWED_URLS"
ANY_PUBLIC = "*"
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
_PORTS = {"http": 80, "https": 443}
_ENTRY = re.compile(r"(?P<host>\[[0-9A-Fa-f:.]+\]|[^\s:/@\[\]?#]+)(:(?P<port>\d{1,5}))?")
_NAME = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")
_RESOLVE_SECONDS = 5.0


def is_metadata_name(host: str) -> bool:
    """Whether a cloud's metadata service is known by this name, given in lower case."""
    return host in _METADATA_NAMES


def is_metadata(address: Address) -> bool:
    """Whether a cloud's metadata service answers there, however the address is wrapped."""
    plain = IPv6Address(int(address)) if isinstance(address, IPv6Address) else address
    return any(one in _METADATA for one in (plain, *_inside(plain)))


def kind_of(address: Address) -> str | None:
    """What sets the address apart, such as "loopback"; None for one of the public internet."""
    if isinstance(address, IPv6Address) and (address.ipv4_mapped or address in _NAT64):
        return kind_of(_inside(address)[0])
    for kind in ("unspecified", "loopback", "link_local", "multicast"):
        if getattr(address, f"is_{kind}"):
            return kind.replace("_", "-")
    if address.is_reserved or any(address in network for network in _NOT_PUBLIC):
        return "reserved"
    return None if address.is_global else "private"


def _inside(address: Address) -> tuple[IPv4Address, ...]:
    """IPv4 addresses that an IPv6 address may lead to."""
    if isinstance(address, IPv4Address):
        return ()
    if address.ipv4_mapped:
        return (address.ipv4_mapped,)
    if address in _NAT64 or address in _COMPATIBLE:
        return (IPv4Address(int(address) & 0xFFFF_FFFF),)
    if address.sixtofour:
        return (address.sixtofour,)
    return address.teredo or ()


@dataclass(frozen=True, slots=True)
class Target:
    """Where a URL leads: a host in lower case, ASCII and without brackets, and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class OutboundRules:
    """Hosts that URLs of requests may name, each with its port or None for all; default none.

    `any_public` allows every host whose addresses are all public. Others are reached only where
    their very host is listed, and metadata services of clouds never.
    """

    listed: frozenset[tuple[str, int | None]] = frozenset()
    any_public: bool = False

    @classmethod
    def of(cls, entries: Iterable[str]) -> Self:
        """From `host`, `host:port` and `*`; UsageError for anything else."""
        given = [one.strip() for one in entries]
        listed = frozenset(_entry(one) for one in given if one != ANY_PUBLIC)
        return cls(listed, ANY_PUBLIC in given)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """What BURNISH_ALLOWED_URLS says, with commas or spaces between."""
        return cls.of(environment.get(URLS_VARIABLE, "").replace(",", " ").split())

    def require_listed(self, url: str) -> Target:
        """Refuse what no name service needs to be asked about."""
        target = _target(url)
        if is_metadata_name(target.host):
            raise _refused(f"{target.host} is a cloud's metadata service")
        if not (self._names(target) or self.any_public):
            raise UsageError(
                what="the agent's url cannot be used",
                why=f"this process allows no request to name {target}",
                fix=f"allow it with `burnish serve --allow-url {target}` or, for workers too, "
                f"with {URLS_VARIABLE}={target}; or put the agent into burnish.toml",
                code="url_not_allowed",
            )
        return target

    async def addresses(self, url: str, resolve: Resolve | None = None) -> tuple[str, ...]:
        """The checked addresses of a URL, to connect to these and no others.

        One bad address refuses them all. OSError when the name cannot be resolved now.
        """
        target = self.require_listed(url)
        found = tuple(await (resolve or resolve_host)(target.host, target.port))
        for one in found:
            self._require_reachable(target, one)
        return found

    async def check(self, url: str, resolve: Resolve | None = None) -> None:
        """Refuse a URL that could not be called now."""
        try:
            await self.addresses(url, resolve)
        except OSError:
            raise _refused("its host cannot be resolved", fix="check the host's name") from None

    def _require_reachable(self, target: Target, found: str) -> None:
        address = ip_address(found)
        if is_metadata(address):
            raise _refused(f"{target.host} leads to a cloud's metadata service")
        kind = kind_of(address)
        if kind is not None and not self._names(target):
            raise _refused(
                f"{target.host} leads to an address that is not public ({kind})",
                fix=f"name another url, or list this very host with --allow-url {target}",
            )

    def _names(self, target: Target) -> bool:
        return not self.listed.isdisjoint({(target.host, None), (target.host, target.port)})


def without_query(url: str) -> str:
    """A URL as people are shown it: its query may hold a key."""
    return url.partition("#")[0].partition("?")[0]


async def resolve_host(host: str, port: int) -> tuple[str, ...]:
    """Every address of a host, each once, in the order of the system."""
    try:
        async with asyncio.timeout(_RESOLVE_SECONDS):
            found = await asyncio.get_running_loop().getaddrinfo(
                host, port, type=socket.SOCK_STREAM
            )
    except UnicodeError as error:  # A label that is empty or too long.
        raise OSError(str(error)) from None
    return tuple(dict.fromkeys(str(one[4][0]) for one in found))


def _target(url: str) -> Target:
    """Read with the parser of the client that will call it, so both see the same host."""
    import httpx2  # noqa: PLC0415 - slow to load, and few processes have such URLs

    try:
        parsed, has_user = httpx2.URL(url), "@" in urlsplit(url).netloc
    except (httpx2.InvalidURL, ValueError):
        raise _refused("it is not a valid address") from None
    host = _canonical(parsed.raw_host.decode("ascii"))
    if parsed.scheme not in _PORTS or host is None:
        raise _refused("it is not an http or https address of a host")
    if has_user:
        raise _refused("it holds a user or a password, which would be stored with every run")
    port = _PORTS[parsed.scheme] if parsed.port is None else parsed.port
    if not 0 < port < 65536:
        raise _refused(f"there is no port {port}")
    return Target(host, port)


def _entry(text: str) -> tuple[str, int | None]:
    found = _ENTRY.fullmatch(text)
    port = int(found["port"]) if found and found["port"] else None
    if found is None or (port is not None and not 0 < port < 65536):
        raise UsageError(
            what=f"--allow-url {text!r} cannot be used",
            why="it is neither a host, nor host:port, nor * for every public address",
            fix=f"write such as agents.example.com or 127.0.0.1:9000, here or in {URLS_VARIABLE}",
            code="invalid_allowed_url",
        )
    return _target(f"http://{found['host']}/").host, port


def _canonical(host: str) -> str | None:
    """One spelling: names in lower case without the last dot, addresses in their short form.

    None for what is neither, since such names mean different things to different readers.
    """
    try:
        return str(ip_address(host))
    except ValueError:
        name = host.lower().removesuffix(".")
        return name if _NAME.fullmatch(name) else None


def _refused(why: str, fix: str = "name another url") -> UsageError:
    return UsageError(what="the agent's url is refused", why=why, fix=fix, code="url_refused")
