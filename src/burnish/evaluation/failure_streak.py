"""Ends a run that only fails for reasons outside the agent."""

from __future__ import annotations

from burnish.domain import ErrorKind, ItemResult, UnavailableError


class FailureStreak:
    """Counts infrastructure failures in a row; too many, with no success among them, raise."""

    def __init__(self, longest: int) -> None:
        self._longest = longest
        self._length = 0

    def note(self, result: ItemResult, *, done: int) -> None:
        """Look at one result; `done` is how many runs there are with it."""
        if result.error is None or result.error.kind is not ErrorKind.INFRASTRUCTURE:
            self._length = 0
            return
        self._length += 1
        if self._length >= self._longest:
            raise UnavailableError(
                what=f"the evaluation stopped after {done} runs",
                why=f"{self._length} in a row failed for reasons outside the agent; "
                f"the last: {result.error.message}",
                fix="run the same command again once it answers; finished items are kept",
                code="endpoint_unavailable",
            )
