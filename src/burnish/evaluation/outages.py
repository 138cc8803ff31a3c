"""Outages of what an experiment needs: runs that failed for outside reasons are tried again.

One run's bad luck is tried a few times. While nothing at all is answered, everybody waits, and after
`outage_seconds` the work stops: an outage is not a result.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from burnish.domain import (
    BurnishError,
    Clock,
    ErrorKind,
    ItemResult,
    Spending,
    SystemClock,
    UnavailableError,
    UsageError,
)
from burnish.domain.wording import counted
from burnish.evaluation.progress import Progress
from burnish.support.retry import RetryPolicy

log = logging.getLogger(__name__)

OUTAGE_SECONDS = 60.0
_WAITS = RetryPolicy(first_wait_seconds=0.2, longest_wait_seconds=10.0)
# How often one run is tried while others are answered. A timeout has waited long enough already.
_TRIES = {ErrorKind.INFRASTRUCTURE: 3, ErrorKind.TIMEOUT: 2}

Probe = Callable[[], Awaitable[ItemResult]]


@dataclass(slots=True)
class Tries:
    """The tries of one run: how many, when the last began, and how many had begun when one failed."""

    number: int = 0
    started: int = 0
    mark: int = 0


class OutageWatch:
    """Sees every answer and every outside failure of the experiments that share it.

    A run that fails while nothing else is answered may be at fault itself, or everything is away. A
    `probe`, one that was answered before, is run again to tell: at most once for an item.
    """

    def __init__(
        self,
        outage_seconds: float = OUTAGE_SECONDS,
        max_failures_in_a_row: int = 10,
        clock: Clock | None = None,
    ) -> None:
        self._seconds = outage_seconds
        self._longest = max_failures_in_a_row
        self._clock = clock or SystemClock()
        self._failures = 0
        self._begun = 0
        self._latest_answered = 0
        # When the first failure since the last answer was.
        self._since = 0.0
        # Items that were given up while others were answered: nobody waits for them again.
        self._given_up: set[str] = set()
        self._probed = Spending()
        self.answers = 0
        self.probe: Probe | None = None

    def begin(self, tries: Tries) -> None:
        """A run begins, for the first time or again."""
        self._begun += 1
        tries.number += 1
        tries.started = self._begun
        tries.mark = tries.mark or self._begun

    async def try_again(self, result: ItemResult, tries: Tries) -> bool:
        """Whether to run it once more, after a wait.

        It is given up only once a run that began after it failed was answered. Raises
        UnavailableError when nothing was answered for too long.
        """
        kind = None if result.error is None else result.error.kind
        if kind not in _TRIES:
            self._note_answer(tries.started)
            return False
        if kind is ErrorKind.TIMEOUT:
            return tries.number < _TRIES[kind]
        if self._failures == 0:
            self._since = self._clock.monotonic()
            log.warning("a run failed for a reason outside the agent: %s", _message(result))
        self._failures += 1
        away, tries.mark = self._latest_answered <= tries.mark, self._begun
        known = result.item_id in self._given_up
        if away and not known and self._is_over(tries.number):
            await self._require_answers(result)
            away = False
        if tries.number >= _TRIES[kind] and (known or not away):
            self._given_up.add(result.item_id)
            return False
        await self._clock.sleep(_WAITS.backoff_seconds(tries.number))
        return True

    def claim_probes(self) -> Spending:
        """What probes cost since it was last asked for."""
        spent, self._probed = self._probed, Spending()
        return spent

    def _note_answer(self, started: int) -> None:
        self.answers += 1
        self._latest_answered = max(self._latest_answered, started)
        self._failures = 0

    def _is_over(self, tries: int) -> bool:
        """Whether it was waited for long enough; what never answered likely never will."""
        waited = self.answers > 0 and self._clock.monotonic() - self._since < self._seconds
        return not waited and tries >= _TRIES[ErrorKind.INFRASTRUCTURE]

    async def _require_answers(self, failed: ItemResult) -> None:
        """Raise if everything is away; it is not when somebody else was answered meanwhile."""
        before = self.answers
        if failed.output is None and self.probe is not None:
            probed = await self.probe()
            self._probed = self._probed + probed.spending
            if probed.error is None or not probed.error.kind.outside:
                self._note_answer(self._begun + 1)
        elif self._failures < self._longest:
            return
        if self.answers == before:
            raise outage(self._failures, self.answers, _message(failed))


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
            raise outage(self._length, done - self._length, result.error.message)


def outage(failures: int, answers: int, last: str) -> UnavailableError:
    """Nothing is answered any more."""
    return UnavailableError(
        what=f"the evaluation stopped after {counted(answers, 'answer')}",
        why=f"{failures} in a row failed for reasons outside the agent; the last: {last}",
        fix="run the same command again once it answers; finished items are kept",
        code="endpoint_unavailable",
    )


def mostly_unanswered(unanswered: int, runs: int, last: str) -> UnavailableError:
    """Most runs of one experiment fail while others are answered."""
    return UnavailableError(
        what=f"the evaluation stopped after {counted(runs, 'run')}",
        why=f"{unanswered} of them failed for reasons outside the agent; the last: {last}",
        fix="run the same command again once that is solved; finished items are kept",
        code="runs_unanswered",
    )


def nothing_worked(progress: Progress) -> BurnishError | None:
    """The error of an experiment in which every run ended in one; None for any other.

    What nobody was to judge did not fail: its answers are kept.
    """
    why = progress.nothing_worked
    if why is None or progress.skipped == progress.done:
        return None
    if progress.infrastructure_errors == progress.done:
        fix = "run the same command again once that is solved"
        return UnavailableError(what="the evaluation failed", why=why, fix=fix)
    return UsageError(
        what="the evaluation failed",
        why=why,
        fix="mend the agent or the scorer that it comes from: nothing was measured",
        code="nothing_worked",
    )


def _message(result: ItemResult) -> str:
    return "" if result.error is None else result.error.message
