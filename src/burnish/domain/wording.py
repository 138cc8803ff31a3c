"""Counts in words: `1 row`, `2 rows`, wherever something says how many."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 row`, `2 rows`, `1,000 rows`; a noun that takes more than an s names its plural."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
