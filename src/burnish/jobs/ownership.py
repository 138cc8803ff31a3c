"""Owners of leases, in a form that tells whether the holder is still alive."""

from __future__ import annotations

import os
import secrets
import socket
from pathlib import Path

# Owners of this process that gave up without being able to give the lease back.
_ended: set[str] = set()


def new_owner() -> str:
    """This process: machine, boot, process namespace, process id and its start time."""
    return "|".join((*_machine(), str(os.getpid()), _started(os.getpid()), secrets.token_hex(4)))


def note_end(owner: str) -> None:
    """This owner will not write any more, though its process lives on."""
    _ended.add(owner)


def is_dead(owner: str) -> bool:
    """Whether the owner was a process of this machine that is gone; False when it can't be known."""
    if owner in _ended:
        return True
    parts = owner.split("|")
    if len(parts) != 6 or tuple(parts[:3]) != _machine() or not parts[3].isdecimal():
        return False
    started = _started(int(parts[3]))
    return started == "" or started != parts[4]


def _machine() -> tuple[str, str, str]:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        namespace = os.readlink("/proc/self/ns/pid")  # noqa: PTH115 - not a path, a label
    except OSError:
        # No way to see other processes: make it a machine that is never recognised again.
        return socket.gethostname(), secrets.token_hex(8), ""
    return socket.gethostname(), boot, namespace


def _started(process: int) -> str:
    """The start time of a live process in clock ticks, or nothing."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    fields = stat.rsplit(")", 1)[-1].split()
    return "" if fields[0] in ("Z", "X") else fields[19]
