"""A judge without criteria: nothing is evaluated, and that is said of every output."""

from __future__ import annotations

from typing import ClassVar

from burnish.domain import AgentOutput, Item, Score
from burnish.evaluation.scorers.fields import error_score, fingerprint_of, require_text

NOT_JUDGED = "not judged: the judge's criteria are missing or empty"


class SkippedJudge:
    """Stands in for a judge that has nothing to judge by. It asks no model and costs nothing.

    Its score has an error, since no verdict was reached: an output that nobody judged is neither
    right nor wrong, and the agent's answers are kept for a later evaluation.
    """

    instant: ClassVar[bool] = True

    def __init__(self, *, name: str = "judge") -> None:
        self.name = require_text("judge", "name", name)
        self.fingerprint: str | None = fingerprint_of("skipped-judge", 1)

    async def score(self, output: AgentOutput, item: Item) -> Score:
        """No verdict."""
        return error_score(self.name, NOT_JUDGED)
