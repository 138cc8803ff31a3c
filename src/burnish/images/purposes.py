"""What a run pays for, by purpose, and what it had to replace by a fallback."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

from burnish.domain import Spending, Usage
from burnish.domain.images import ImageRun


class ImagePurpose(StrEnum):
    """Whose work a call was."""

    PLAN = "plan"
    GENERATE = "generate"
    JUDGE = "judge"
    SUGGEST = "suggest"


def spent(run: ImageRun, purpose: ImagePurpose, usage: Usage) -> ImageRun:
    """The run with a call more on its bill."""
    if not usage.calls:
        return run
    return replace(run, spending=run.spending + Spending({purpose.value: usage}))


def degraded(run: ImageRun, reason: str) -> ImageRun:
    """The run with a fallback more, in words."""
    return replace(run, degraded=True, degradations=(*run.degradations, reason))
