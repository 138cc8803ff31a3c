"""What happened in an optimization, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from burnish.cli.wording import harmless, one_line
from burnish.domain import Event, EventType

_STYLES = {
    EventType.BEST_CANDIDATE_CHANGED: "bold green",
    EventType.RUN_STATUS_CHANGED: "bold",
    EventType.RUN_FINISHED: "bold",
    EventType.TRIAL_ADDED_OR_UPDATED: "cyan",
}


def event_json(event: Event) -> dict[str, Any]:
    """One event as `show --events --json` prints it."""
    return {
        "sequence": event.sequence,
        "type": event.type.value,
        "key": event.key,
        "created_at": event.created_at,
        "payload": dict(event.payload),
    }


def print_events(console: Console, events: Sequence[Event]) -> None:
    """A line each, in order."""
    for one in events:
        facts = ", ".join(
            f"{name} {_value(value)}" for name, value in one.payload.items() if value is not None
        )
        line = Text.assemble(
            (f"{one.sequence:>5}  {_time(one.created_at)}  ", "dim"),
            (f"{one.type.value:<22}", _STYLES.get(one.type, "dim")),
            f"  {one_line(facts, 160)}",
        )
        console.print(line, soft_wrap=True)


def _value(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else harmless(str(value))


def _time(moment: str) -> str:
    """The time of day, in UTC."""
    return moment[11:19]
