"""Numbers in words, the same wherever they are said: counts (`1 row`, `2 rows`), p-values."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`1 row`, `2 rows`, `1,000 rows`; a noun that takes more than an s names its plural."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def p_words(p_value: float) -> str:
    """A p-value as papers print it: `< 0.001`, `0.021`."""
    return "< 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def p_relation(p_value: float) -> str:
    """`p < 0.001`, `p = 0.021`."""
    words = p_words(p_value)
    return f"p {words}" if words.startswith("<") else f"p = {words}"
