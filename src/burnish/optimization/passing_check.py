"""Passing check of a winner: its items that fail and passed with the baseline are run again."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.domain import Candidate, ItemResult
from burnish.evaluation.broken_items import (
    RERUNS,
    BrokenItems,
    Standing,
    broken_items,
    count_passes,
    to_run_again,
)
from burnish.optimization.confirmation import Confirmer

# Items that are run again together: one that is broken settles it, so few at a time cost least.
AT_ONCE = 4


class PassingCheck:
    """Tells broken items of a candidate from flaky ones."""

    def __init__(self, confirmer: Confirmer, *, repeats: int) -> None:
        self._confirmer = confirmer
        self._repeats = repeats + RERUNS

    async def check(
        self, candidate: Candidate, before: Sequence[ItemResult], after: Sequence[ItemResult]
    ) -> BrokenItems:
        """Its standing on all items that both ran, once one is broken or none is left to run again."""
        old, known = count_passes(before), list(after)
        tried: set[str] = set()
        while True:
            now = count_passes(known)
            found = broken_items(old, now)
            left = [one for one in to_run_again(old, now, self._repeats) if one not in tried]
            if found.of(Standing.BROKEN) or not left:
                return found
            items = tuple(left[:AT_ONCE])
            tried.update(items)
            known += await self._confirmer.run_again(candidate, items, repeats=self._repeats)
