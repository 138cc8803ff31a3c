"""Search of `gepa` with a meta-model: what one step does, by what all earlier ones showed."""

from __future__ import annotations

import math

from burnish.optimizers.gepa.joining import Joining
from burnish.optimizers.gepa.parents import ParentSelection
from burnish.optimizers.gepa.reflecting import Reflection
from burnish.optimizers.gepa.step_view import Move, StepView
from burnish.optimizers.gepa.winner import Finals

# Two thirds of the budget are for the search, a third for trials.
_SEARCH_PER_TRIAL = 2


class Search:
    """Finals at the end; else what is open is joined, tried in full, or reflected on.

    `evaluations_at_trial` is what had been spent when the last trial was planned. Everything else is
    read from the history, so a resumed run goes on alike.
    """

    def __init__(
        self,
        view: StepView,
        reflection: Reflection,
        finals: Finals,
        *,
        evaluations_at_trial: int,
    ) -> None:
        self._view = view
        self._reflection = reflection
        self._finals = finals
        self._evaluations_at_trial = evaluations_at_trial

    async def moves(self, places: int) -> list[Move]:
        """What to run next; nothing where all was tried."""
        view, finals = self._view, self._finals
        if finals.is_due() and (again := self._untried_tip() or finals.moves()):
            return again[:places]
        asked = self._reflection.tally.asked
        found = Joining(view).moves() or self._trials() or await self._new_ones(places)
        if not found and self._reflection.tally.asked > asked:
            return []
        found = found or self._untried_tip()
        if not found and (again := finals.moves()):
            # Meanwhile the leaders are run again, which shows who really leads.
            return again[:1]
        found = found or await self._reflections(places, ahead=True)
        return view.affordable(found, places)

    async def _new_ones(self, places: int) -> list[Move]:
        """Looks where failures are few, rewrites, and, of a tip that gets no better, parts of it."""
        view, parents, joining = self._view, ParentSelection(self._view), Joining(self._view)
        looks = parents.looks(parents.chosen(), more=self._paid_reflections() < 1)
        found = looks or await self._reflections(places)
        if parents.is_stalled(view.tip) and not self._paid_reflections():
            found = [*found, *joining.prunes(view.tip, 2), *joining.lineages()]
        return found

    async def _reflections(self, places: int, *, ahead: bool = False) -> list[Move]:
        """Rewrites, as many as are paid for."""
        parents, view = ParentSelection(self._view), self._view
        to_come = view.left if ahead and not math.isinf(view.left) else 0.0
        count = min(places, self._paid_reflections(to_come))
        return await self._reflection.moves(parents.tasks(parents.chosen(), count))

    def _paid_reflections(self, to_come: float = 0.0) -> int:
        """How many reflections are paid for by what was run so far and by what is `to_come`.

        A population is free, and half of one for each rewrite or join that was accepted: while the
        search goes well, reflections may run ahead of what pays for them.
        """
        view = self._view
        population, price = view.settings.population, view.settings.evaluations_per_reflection
        spent = view.evidence.evaluations
        accepted = sum(
            one.kind in ("rewrite", "join") and view.is_accepted(one)
            for one in view.evidence.known.values()
        )
        free = population * (1 + accepted / 2)
        most = math.inf if math.isinf(view.left) else (spent + view.left) / price + population
        paid = min((spent + to_come) / price + free, most)
        return max(int(paid) - self._reflection.tally.asked, 0)

    def _untried_tip(self) -> list[Move]:
        trial = self._view.trial(self._view.tip)
        return [trial] if self._view.is_new(trial) and trial.cost <= self._view.left else []

    def _trials(self) -> list[Move]:
        """The tip's, once the search since the last trial cost twice as much as one."""
        view, evidence = self._view, self._view.evidence
        found = [view.trial(view.tip)] if self._is_due() else []
        for one in evidence.known.values():
            parent = evidence.parent(one)
            if one.kind == "merge" and parent is not None and evidence.gain(one, parent) > 0:
                found.append(view.trial(one))
        return [move for move in found if view.is_new(move)]

    def _is_due(self) -> bool:
        view, tip = self._view, self._view.tip
        trial = view.items.trial_items * view.items.repeats
        searched = view.evidence.evaluations - self._evaluations_at_trial
        passes_all = not view.failures(tip) and len(view.passes(tip)) >= view.settings.look
        return searched >= _SEARCH_PER_TRIAL * trial or passes_all or view.left < 2 * trial
