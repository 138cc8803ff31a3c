"""Numbers and moments as people read them."""

from __future__ import annotations

from datetime import UTC, datetime


def score(value: float | None) -> str:
    """A score, or a dash where there is none."""
    if value is None:
        return "–"
    return f"{value:.3f}" if abs(value) < 1000 else f"{value:,.0f}"


def signed(value: float) -> str:
    """A difference with its sign; a true minus lines up with the plus."""
    text = f"{value:+.3f}" if abs(value) < 1000 else f"{value:+,.0f}"
    return text.replace("-", "−")


def probability(value: float) -> str:
    """A p-value with its relation."""
    return "p &lt; 0.001" if value < 0.001 else f"p = {value:.3f}"


def count(number: int, noun: str) -> str:
    """`1 item`, `2 items`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def money(cost_usd: float | None) -> str:
    """Dollars; an unknown price is not a price of 0."""
    if cost_usd is None:
        return "unknown"
    return f"${cost_usd:,.2f}" if cost_usd >= 1 or cost_usd == 0 else f"${cost_usd:.4f}"


def measure(name: str, value: float | None) -> str:
    """What an evaluation takes; dollars are those of a thousand."""
    if value is None:
        return "unknown"
    if name == "cost":
        return money(value * 1000)
    return f"{value:,.0f} ms" if name == "latency" else f"{value:,.0f}"


def moment(stamp: str) -> str:
    """An ISO moment to the second, in UTC; anything else as it is."""
    try:
        when = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return when.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def plain(code: str) -> str:
    """A machine name as words."""
    return code.replace("_", " ")
