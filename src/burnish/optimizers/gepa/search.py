"""One step of `gepa` with a meta-model: look, reflect, gate lines, join, race, prune, explore.

Everything is read from the history, so a resumed run goes on alike:

- *look*: the tip (the most promising candidate) runs a window of training items;
- *reflect*: the meta-model sees its failures in small groups; its rewrites are taken apart into lines;
- *gate*: each line alone runs the failures that it is about; a vague one an item that passed, too;
  of several that helped together, each is left out in turn until none can be;
- *join*: the lines that mended something become one child, which runs the window's failures and some
  passes; if it is no better than its parent, halves of it are tried (bisecting);
- *trial*: the whole validation split, for finalists only;
- *free*: where a child fails what its lines mended alone, some of them are in the way of others:
  groups of lines are left out in turn to find which;
- *unite*: lines that mended nothing alone are tried together;
- what is left of the budget goes to pruning lines that earn nothing, to merging lineages and putting
  their lines together anew, and to whole rewrites of parents from the per-item Pareto front.
"""

from __future__ import annotations

from collections.abc import Sequence

from burnish.optimizers.gepa.climb import Climb
from burnish.optimizers.gepa.explore import Explore
from burnish.optimizers.gepa.moves import Move
from burnish.optimizers.gepa.noise_search import NoiseMemo, NoiseSearch
from burnish.optimizers.gepa.step_context import CLOSE, StepContext
from burnish.optimizers.shared.evidence import Known, is_weak


class GepaSearch:
    """The choice of one step."""

    def __init__(self, context: StepContext, memo: NoiseMemo) -> None:
        self._context = context
        self._settle = NoiseSearch(context, memo)

    async def moves(self, count: int) -> list[Move]:
        """Up to `count` candidates to run side by side."""
        context, tip = self._context, self._context.tip
        if await self._settle.is_due():
            return self._affordable(await self._settle.moves(count))[:count]
        plan = [context.trial(tip)] if self._trial_is_due(tip) else []
        found = await Climb(context).moves(tip, count - len(plan))
        if not plan and not found and context.is_ahead(tip, by=CLOSE):
            plan.append(context.trial(tip))
        if not found:
            found = await Explore(context).moves(tip, count - len(plan))
        return self._affordable([*plan, *found])[:count]

    def _trial_is_due(self, tip: Known) -> bool:
        if not self._context.is_ahead(tip):
            return False
        if (
            not self._context.missing(tip)
            and self._fresh_failures(tip) <= self._context.settings.few
        ):
            return True
        trial = self._context.items.trial_items
        return (
            self._searched_since_trial() >= self._context.settings.trial_share * trial
            or self._context.left < 2 * trial * self._context.items.repeats
        )

    def _fresh_failures(self, tip: Known) -> float:
        """The share of the window's last chunk that failed when its line first ran it.

        These items were not reflected on before, so this is what new items would do.
        """
        lineage = self._context.evidence.lineage(tip.candidate.id)
        first = [
            next((one.results[item] for one in reversed(lineage) if item in one.results), None)
            for item in self._context.last_chunk
        ]
        ran = [is_weak(result) for result in first if result is not None]
        return sum(ran) / len(ran) if ran else 1.0

    def _searched_since_trial(self) -> int:
        """Evaluations of training items since the last trial began, about."""
        last = max(one.candidate.number for one in self._context.evidence.trialed)
        train = set(self._context.items.train)
        return sum(
            1
            for one in self._context.evidence.known.values()
            if one.candidate.number >= last
            for item in one.results
            if item in train
        )

    def _affordable(self, plan: Sequence[Move]) -> list[Move]:
        """What the budget allows such that a last trial stays possible."""
        trial = self._context.items.trial_items * self._context.items.repeats
        left = self._context.left
        kept: list[Move] = []
        seen: set[str] = set()
        for move in plan:
            if move.configuration.hash in seen:
                # Two runs of one configuration side by side might pay for an item twice.
                continue
            seen.add(move.configuration.hash)
            reserve = 0 if move.items is None else trial
            if move.cost + reserve <= left:
                kept.append(move)
                left -= move.cost
        if not kept and self._context.is_ahead(self._context.tip):
            kept = [
                move
                for move in [self._context.trial(self._context.tip)]
                if move.cost <= self._context.left
            ]
        return kept
