"""Progress of an experiment so far, for whoever shows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from burnish.domain import ErrorKind, ItemResult, Spending
from burnish.evaluation.statistics import RunningScore
from burnish.models.traffic import Traffic

_MAX_ANSWERS = 50


@dataclass(slots=True)
class Progress:
    """Counters of one experiment. The runner writes them, a display reads them."""

    planned: int | None = None
    done: int = 0
    passed: int = 0
    errors: int = 0
    infrastructure_errors: int = 0
    skipped: int = 0
    cached: int = 0
    score: RunningScore = field(default_factory=RunningScore)
    spending: Spending = field(default_factory=Spending)
    answers: Counter[str] = field(default_factory=Counter)
    last_error: str | None = None
    messages: Counter[str] = field(default_factory=Counter)
    traffic: Traffic = field(default_factory=Traffic)

    @property
    def nothing_worked(self) -> str | None:
        """In words, that no run has a verdict, with the commonest reason; None if any has."""
        if not self.done or self.errors + self.skipped < self.done:
            return None
        message, times = self.messages.most_common(1)[0]
        runs = "the only run" if self.done == 1 else f"each of the {self.done:,} runs"
        return f"{runs} ended in an error; the commonest, {times:,} of {self.done:,}: {message}"

    def add(self, result: ItemResult) -> None:
        """Count one result."""
        self.done += 1
        self.passed += result.passed
        self.cached += result.cached
        if result.error is None or result.error.kind.scored:
            self.score.add(result.score, repeated=result.repeat > 0)
        if result.spending.by_purpose:
            self.spending = self.spending + result.spending
        if result.error is not None:
            skipped = result.error.kind is ErrorKind.SKIPPED
            self.skipped += skipped
            self.errors += not skipped
            self.last_error = message = result.error.message
            if len(self.messages) < _MAX_ANSWERS or message in self.messages:
                self.messages[message] += 1
            self.infrastructure_errors += result.error.kind.outside
        if result.output is not None and (
            len(self.answers) < _MAX_ANSWERS or result.output.text in self.answers
        ):
            self.answers[result.output.text] += 1
