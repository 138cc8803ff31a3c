"""Foreign text made fit for a terminal, and numbers in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# All control characters but newline and tab: an ESC in a model's answer could redraw the terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# Such as `[edits: ["frame:named"]]`.
_NAMES_AT_END = re.compile(r"\s*\[\w+: \[.*\]\]\s*\Z", re.DOTALL)


def harmless(text: str) -> str:
    """Text without control characters and without anything that turns its direction round."""
    return _CONTROL.sub("�", text.replace("\r\n", "\n"))


def one_line(text: str, limit: int = 80) -> str:
    """The text on one line, cut where it gets long."""
    line = harmless(" ".join(text.split()))
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


def rationale_words(rationale: str | None, limit: int = 80) -> str:
    """Why a candidate was proposed, without the names that an optimizer adds for itself."""
    return one_line(_NAMES_AT_END.sub("", rationale or ""), limit)


def money(cost_usd: float | None) -> str:
    """Dollars; an unknown price is not a price of 0."""
    if cost_usd is None:
        return "unknown"
    return f"${cost_usd:,.2f}" if cost_usd >= 1 or cost_usd == 0 else f"${cost_usd:.4f}"


def cost_words(cost_usd: float | None) -> str:
    """The same where nothing else says that it is a cost."""
    return "cost unknown" if cost_usd is None else money(cost_usd)


def percent(share: float) -> str:
    """A share from 0 to 1 as a percentage."""
    return f"{share * 100:.1f}%"


def duration(seconds: float) -> str:
    """Seconds, minutes or hours, as coarse as people say it."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60):02d} min"


def age(moment: str, *, now: datetime | None = None) -> str:
    """How long ago an ISO moment was."""
    try:
        then = datetime.fromisoformat(moment)
    except ValueError:
        return ""
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    seconds = max(((now or datetime.now(UTC)) - then).total_seconds(), 0.0)
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


def short_id(identifier: str) -> str:
    """The end of an id: ids start with the time, so their ends tell them apart."""
    return identifier[-8:]
