"""Proposals that were not run, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from burnish.cli.wording import count, one_line
from burnish.domain import Rejection


def rejection_json(rejection: Rejection) -> dict[str, Any]:
    """One rejection as `show --rejections --json` prints it."""
    return {
        "step_index": rejection.step_index,
        "proposed_index": rejection.proposed_index,
        "reason_code": rejection.reason_code,
        "message": rejection.message,
        "configuration_hash": rejection.configuration_hash,
        "created_at": rejection.created_at,
    }


def print_rejections(console: Console, rejections: Sequence[Rejection]) -> None:
    """How many for each reason, then each of them."""
    if not rejections:
        console.print("no proposal was refused")
        return
    reasons = Counter(one.reason_code for one in rejections)
    words = ", ".join(f"{number} {reason}" for reason, number in reasons.most_common())
    console.print(Text.assemble((count(len(rejections), "proposal"), "bold"), f" refused: {words}"))
    for one in rejections:
        line = Text.assemble(
            (f"  step {one.step_index:>3}  ", "dim"),
            (f"{one.reason_code:<22} ", "yellow"),
            one_line(one.message, 160),
        )
        console.print(line, soft_wrap=not console.is_terminal)
