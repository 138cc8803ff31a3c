"""One step of `gepa` with a meta-model: look, reflect, gate lines, join, race, prune, explore.

Everything is read from the history, so a resumed run goes on alike:

- *look*: the tip (the most promising candidate) runs a window of training items;
- *reflect*: the meta-model sees its failures in small groups; its rewrites are taken apart into lines;
- *gate*: each line alone runs the failures that it is about; a vague one an item that passed, too;
- *join*: the lines that mended something become one child, which runs the window's failures and some
  passes; if it is no better than its parent, halves of it are tried (bisecting);
- *trial*: the whole validation split, for finalists only;
- what is left of the budget goes to pruning lines that earn nothing, to merging lineages and putting
  their lines together anew, and to whole rewrites of parents from the per-item Pareto front.
"""

from __future__ import annotations

from collections.abc import Sequence

from burnish.optimizers.evidence import Known
from burnish.optimizers.gepa_climb import Climb
from burnish.optimizers.gepa_desk import CLOSE, Desk
from burnish.optimizers.gepa_explore import Explore
from burnish.optimizers.gepa_moves import Move


class GepaSearch:
    """The choice of one step."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def moves(self, count: int) -> list[Move]:
        """Up to `count` candidates to run side by side."""
        desk, tip = self._desk, self._desk.tip
        plan = [desk.trial(tip)] if self._trial_is_due(tip) else []
        found = await Climb(desk).moves(tip, count - len(plan))
        if not plan and not found and desk.is_ahead(tip, by=CLOSE):
            plan.append(desk.trial(tip))
        if not found:
            found = await Explore(desk).moves(tip, count - len(plan))
        return self._affordable([*plan, *found])[:count]

    def _trial_is_due(self, tip: Known) -> bool:
        if not self._desk.is_ahead(tip):
            return False
        window = [item for item in self._desk.window if item in tip.results]
        failing = sum(1 for item in window if tip.weak(item))
        if failing <= self._desk.settings.few_failures * len(
            self._desk.window
        ) and not self._desk.missing(tip):
            return True
        trial = len(self._desk.items.validation)
        return (
            self._searched_since_trial() >= self._desk.settings.trial_share * trial
            or self._desk.left < 2 * trial * self._desk.items.repeats
        )

    def _searched_since_trial(self) -> int:
        """Evaluations of training items since the last trial began, about."""
        last = max(one.candidate.number for one in self._desk.evidence.trialed)
        validation = set(self._desk.items.validation)
        return sum(
            1
            for one in self._desk.evidence.known.values()
            if one.candidate.number >= last
            for item in one.results
            if item not in validation
        )

    def _affordable(self, plan: Sequence[Move]) -> list[Move]:
        """What the budget allows such that a last trial stays possible."""
        trial = len(self._desk.items.validation) * self._desk.items.repeats
        left = self._desk.left
        kept: list[Move] = []
        for move in plan:
            reserve = 0 if move.items is None else trial
            if move.cost + reserve <= left:
                kept.append(move)
                left -= move.cost
        if not kept and self._desk.is_ahead(self._desk.tip):
            kept = [
                move for move in [self._desk.trial(self._desk.tip)] if move.cost <= self._desk.left
            ]
        return kept
