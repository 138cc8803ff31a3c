"""Seeded generators: equal words draw alike, in every process and on every machine."""

from __future__ import annotations

import random


def generator(seed: int, *purpose: str | int) -> random.Random:
    """A generator that belongs to one seed and one purpose, and to nothing else."""
    words = "\x1f".join(str(part) for part in (seed, *purpose))
    return random.Random(words)  # noqa: S311 - reproducible choices, not secrets
