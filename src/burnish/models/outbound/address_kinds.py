"""Which addresses a request may not make this machine call, and what they are."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

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
