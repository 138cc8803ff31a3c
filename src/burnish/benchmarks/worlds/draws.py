"""Draws that depend on what is asked, and never on when: each is hashed from its parts."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

T = TypeVar("T")

_BYTES = 8
_RANGE = float(1 << (8 * _BYTES))


def digest(*parts: object) -> str:
    """A short name for the parts, the same in every process."""
    return blake2b(_joined(parts), digest_size=16).hexdigest()


def draw(*parts: object) -> float:
    """A number in [0, 1)."""
    hashed = blake2b(_joined(parts), digest_size=_BYTES).digest()
    return min(int.from_bytes(hashed, "big") / _RANGE, 1.0 - 2**-53)


def pick(options: Sequence[T], *parts: object) -> T:
    """One of the options."""
    return options[int(draw(*parts) * len(options))]


def shuffled(options: Sequence[T], *parts: object) -> list[T]:
    """The options in an order drawn by the parts; equal options stay in their order."""
    keyed = [(draw(*parts, number, str(one)), number) for number, one in enumerate(options)]
    return [options[number] for _, number in sorted(keyed)]


def _joined(parts: tuple[object, ...]) -> bytes:
    return "\x1f".join(map(str, parts)).encode()
