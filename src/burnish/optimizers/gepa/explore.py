"""What to do with the rest of a budget: trials of finds, pruning, merging, recombining, rewriting."""

from __future__ import annotations

from burnish.domain import placeholders
from burnish.optimizers.gepa.line_edits import LineEdit, split_units
from burnish.optimizers.gepa.moves import (
    Kind,
    Move,
    Reason,
    edited,
    edits_between,
    kind_of,
    said_of,
)
from burnish.optimizers.gepa.recombination import Recombination
from burnish.optimizers.gepa.step_context import CLOSE, Desk
from burnish.optimizers.shared.evidence import Known
from burnish.optimizers.shared.pareto import draw_leaders
from burnish.optimizers.shared.seeded_random import generator

_PRUNES = 2
_EXPLORERS = (Kind.REWRITE, Kind.MERGE, Kind.PRUNE)


class Explore:
    """Moves that look elsewhere than at the tip's failures."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def moves(self, tip: Known, places: int) -> list[Move]:
        """What to do with the rest: look further, prune, merge, explore."""
        found = [*self._explorers(), *self._prunes(tip), *self._merges(), *self._recombined()]
        if len(found) < places:
            found += await self._rewrites(places - len(found))
        return [move for move in found if self._desk.is_new(move)]

    def _recombined(self) -> list[Move]:
        """The best set of lines in a drawn world, tried in full: parts of the items tell too little."""
        made = Recombination(self._desk.evidence).sets(
            1,
            seed=self._desk.facts.seed,
            generation=self._desk.generation,
            tried=self._desk.tried,
            allowed=self._desk.ideas.allows,
        )
        found = []
        for one in made:
            parents = [self._desk.evidence.known[parent] for parent in one.parents]
            said = f"Lines put together anew. {said_of(one.edits)}"
            reason = Reason(kind=Kind.MERGE, said=said)
            found.append(self._desk.move(one.configuration, parents[0], reason, None, *parents[1:]))
        return found

    def _explorers(self) -> list[Move]:
        """The trial of the most promising one that was no worse than its parent on what it ran."""
        found = []
        for one in self._desk.evidence.known.values():
            parent, kind = self._desk.parent(one), kind_of(one.candidate)
            untried = one.candidate.configuration.hash not in self._desk.tried
            if untried and parent is not None and kind in _EXPLORERS:
                gain = self._desk.evidence.gain(one, parent)
                if gain > CLOSE or (kind is Kind.PRUNE and gain > -CLOSE):
                    found.append(one)
        best = max(
            found, key=lambda one: self._desk.evidence.standing(one.candidate.id), default=None
        )
        return [] if best is None else [self._desk.trial(best)]

    def _prunes(self, tip: Known) -> list[Move]:
        """The tip without lines that do not seem to earn anything: all of them, then halves."""
        configuration = tip.candidate.configuration
        baseline = self._desk.evidence.baseline.candidate.configuration
        earned = self._desk.ideas.lessons.earning(edits_between(baseline, configuration))
        idle = [
            LineEdit(section, unit.text, "")
            for section in self._desk.ideas.sections
            for unit in split_units(configuration.sections[section])
            if (section, unit.key) not in earned and not placeholders(unit.text)
        ]
        failures = [item for item in self._desk.window if item in tip.results and tip.weak(item)]
        items = [*failures, *self._desk.passes(tip, 2 * self._desk.settings.join_passed, "prune")]
        waiting = [idle]
        found: list[Move] = []
        while waiting and len(found) < _PRUNES:
            drops = waiting.pop(0)
            if not drops:
                continue
            pruned = edited(configuration, drops)
            known = self._desk.by_hash.get(pruned.hash)
            ran = known is not None and self._desk.evidence.verified(known, tip)
            if ran or not self._desk.ideas.allows(pruned):
                middle = len(drops) // 2
                waiting += [drops[:middle], drops[middle:]] if middle else []
            else:
                said = f"Without what seems to earn nothing. {said_of(drops)}"
                reason = Reason(kind=Kind.PRUNE, said=said)
                found.append(self._desk.move(pruned, tip, reason, items))
        return found

    def _merges(self) -> list[Move]:
        """Two leaders in one: the first with the lines that only the second has."""
        leads = self._desk.evidence.leads(self._desk.items.validation)
        ranked = sorted(leads, key=lambda one: (-leads[one], self._number(one)))[:4]
        root = self._desk.evidence.baseline.candidate.configuration
        for number, first_id in enumerate(ranked):
            for second_id in ranked[number + 1 :]:
                first, second = (self._desk.evidence.known[one] for one in (first_id, second_id))
                edits = edits_between(root, second.candidate.configuration)
                configuration = edited(first.candidate.configuration, edits)
                items = self._contested(first, second)
                known = configuration.hash in self._desk.by_hash
                if items and not known and self._desk.ideas.allows(configuration):
                    said = "Joined two candidates that lead on other items."
                    reason = Reason(kind=Kind.MERGE, said=said)
                    return [self._desk.move(configuration, first, reason, items, second)]
        return []

    def _contested(self, first: Known, second: Known) -> list[str]:
        shared = [
            item
            for item in self._desk.items.validation
            if item in first.results and item in second.results
        ]
        lost = [one for one in shared if first.weak(one) and not second.weak(one)]
        won = [one for one in shared if not first.weak(one)]
        won.sort(key=lambda item: self._desk.draw("merge", item))
        return [*lost[:12], *won[: len(lost[:12])]] if lost else []

    async def _rewrites(self, places: int) -> list[Move]:
        """Whole rewrites of a parent drawn from the per-item front."""
        leads = self._desk.evidence.leads(self._desk.items.validation)
        order = sorted(leads, key=self._number)
        chance = generator(self._desk.facts.seed, "parent", self._desk.generation)
        temperature = self._desk.settings.temperature
        drawn = draw_leaders(chance, leads, order, temperature=temperature, count=1)
        parent = self._desk.evidence.known[drawn[0]]
        pool = self._desk.items.pool
        known = [item for item in pool if item in parent.results]
        failed = [item for item in known if parent.weak(item)]
        if len(known) < min(self._desk.settings.look, len(pool)):
            missing = [item for item in pool if item not in parent.results]
            chosen = chance.sample(missing, min(self._desk.settings.look // 2, len(missing)))
            return self._desk.look(parent, chosen)
        if not failed:
            return []
        chance.shuffle(failed)
        passed = [item for item in known if not parent.weak(item)]
        chance.shuffle(passed)
        ideas = await self._desk.ideas.of(
            parent, failed[: self._desk.settings.group * 2], passed[:1], places=places, whole=True
        )
        found = []
        for idea in ideas:
            configuration = idea.whole
            if configuration is None and idea.edit is not None:
                configuration = edited(parent.candidate.configuration, [idea.edit])
            if configuration is not None:
                reason = Reason(kind=Kind.REWRITE, said=idea.said or "Written anew.")
                items = [*failed[:6], *passed[:6]]
                found.append(self._desk.move(configuration, parent, reason, items))
        return found

    def _number(self, candidate_id: str) -> int:
        """What orders candidates alike in every run: ids differ."""
        return self._desk.evidence.known[candidate_id].candidate.number
