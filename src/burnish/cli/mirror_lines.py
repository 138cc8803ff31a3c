"""What is said about a mirror when a run or a flush has ended."""

from __future__ import annotations

from burnish.integrations.opik.mirror import MirrorOutcome


def mirror_lines(outcome: MirrorOutcome) -> list[str]:
    """How much went over, and what is left."""
    if not outcome.open:
        return [f"mirrored: {outcome.experiments} experiments sent, nothing is left"]
    return [
        *(f"the mirror is behind: {problem}" for problem in outcome.problems),
        f"mirrored: {outcome.experiments} experiments sent, {outcome.open} optimizations have "
        "something left; `burnish mirror flush` or the next mirrored run sends it",
    ]
