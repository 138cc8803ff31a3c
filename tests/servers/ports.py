"""A free port for a server that may be stopped and started again on it."""

from __future__ import annotations

import random
import socket

# Below those that the system gives to outgoing connections: one of them would take it meanwhile.
_PORTS = range(15_000, 32_000)


def free_port() -> int:
    """A loopback port that nobody listens on."""
    while True:
        port = random.SystemRandom().choice(_PORTS)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
