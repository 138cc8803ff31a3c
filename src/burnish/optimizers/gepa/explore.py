"""Exploring moves of gepa: recombine, prune, merge and rewrite candidates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from burnish.domain import Configuration, placeholders
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
from burnish.optimizers.gepa.step_context import CLOSE, StepContext
from burnish.optimizers.shared.evidence import Evidence, Known
from burnish.optimizers.shared.failure_matching import words_of
from burnish.optimizers.shared.gradient import Gradient, Observation, Prior
from burnish.optimizers.shared.pareto import draw_leaders
from burnish.optimizers.shared.seeded_random import generator

# A word of this share of all lines belongs to their way of speaking.
_COMMON = 0.2
_FEW_LINES = 6
_MOST_LINES = 60
_MOST_TRIALS = 64
_MENDED = 0.03
_LINE_COST = 0.001
_MOVES = 12
_SPREADS = (0.0, 0.5, 1.0, 1.0)
_PRUNES = 2
_EXPLORERS = (Kind.REWRITE, Kind.MERGE, Kind.PRUNE)


class Explore:
    """Moves that look elsewhere than at the tip's failures."""

    def __init__(self, context: StepContext) -> None:
        self._context = context

    async def moves(self, tip: Known, places: int) -> list[Move]:
        """What to do with the rest: look further, prune, merge, explore."""
        found = [*self._explorers(), *self._prunes(tip), *self._merges(), *self._recombined()]
        if len(found) < places:
            found += await self._rewrites(places - len(found))
        return [move for move in found if self._context.is_new(move)]

    def _recombined(self) -> list[Move]:
        """The best set of lines in a drawn world, tried in full: parts of the items tell too little."""
        made = Recombination(self._context.evidence).sets(
            1,
            seed=self._context.facts.seed,
            generation=self._context.generation,
            tried=self._context.tried,
            allowed=self._context.ideas.allows,
        )
        found = []
        for one in made:
            parents = [self._context.evidence.known[parent] for parent in one.parents]
            said = f"Lines put together anew. {said_of(one.edits)}"
            reason = Reason(kind=Kind.MERGE, said=said)
            found.append(
                self._context.move(one.configuration, parents[0], reason, None, *parents[1:])
            )
        return found

    def _explorers(self) -> list[Move]:
        """The trial of the most promising one that was no worse than its parent on what it ran."""
        found = []
        for one in self._context.evidence.known.values():
            parent, kind = self._context.parent(one), kind_of(one.candidate)
            untried = one.candidate.configuration.hash not in self._context.tried
            if untried and parent is not None and kind in _EXPLORERS:
                gain = self._context.evidence.gain(one, parent)
                if gain > CLOSE or (kind is Kind.PRUNE and gain > -CLOSE):
                    found.append(one)
        best = max(
            found,
            key=lambda one: self._context.evidence.estimated_gain(one.candidate.id),
            default=None,
        )
        return [] if best is None else [self._context.trial(best)]

    def _prunes(self, tip: Known) -> list[Move]:
        """The tip without lines that do not seem to earn anything: all of them, then halves."""
        configuration = tip.candidate.configuration
        baseline = self._context.evidence.baseline.candidate.configuration
        earned = self._context.ideas.edit_history.earning(edits_between(baseline, configuration))
        idle = [
            LineEdit(section, unit.text, "")
            for section in self._context.ideas.sections
            for unit in split_units(configuration.sections[section])
            if (section, unit.key) not in earned and not placeholders(unit.text)
        ]
        failures = [item for item in self._context.window if item in tip.results and tip.weak(item)]
        items = [
            *failures,
            *self._context.passes(tip, 2 * self._context.settings.join_passed, "prune"),
        ]
        waiting = [idle]
        found: list[Move] = []
        while waiting and len(found) < _PRUNES:
            drops = waiting.pop(0)
            if not drops:
                continue
            pruned = edited(configuration, drops)
            known = self._context.by_hash.get(pruned.hash)
            ran = known is not None and self._context.evidence.verified(known, tip)
            if ran or not self._context.ideas.allows(pruned):
                middle = len(drops) // 2
                waiting += [drops[:middle], drops[middle:]] if middle else []
            else:
                said = f"Without what seems to earn nothing. {said_of(drops)}"
                reason = Reason(kind=Kind.PRUNE, said=said)
                found.append(self._context.move(pruned, tip, reason, items))
        return found

    def _merges(self) -> list[Move]:
        """Two leaders in one: the first with the lines that only the second has."""
        leads = self._context.evidence.leads(self._context.items.validation)
        ranked = sorted(leads, key=lambda one: (-leads[one], self._number(one)))[:4]
        root = self._context.evidence.baseline.candidate.configuration
        for number, first_id in enumerate(ranked):
            for second_id in ranked[number + 1 :]:
                first, second = (self._context.evidence.known[one] for one in (first_id, second_id))
                edits = edits_between(root, second.candidate.configuration)
                configuration = edited(first.candidate.configuration, edits)
                items = self._contested(first, second)
                known = configuration.hash in self._context.by_hash
                if items and not known and self._context.ideas.allows(configuration):
                    said = "Joined two candidates that lead on other items."
                    reason = Reason(kind=Kind.MERGE, said=said)
                    return [self._context.move(configuration, first, reason, items, second)]
        return []

    def _contested(self, first: Known, second: Known) -> list[str]:
        shared = [
            item
            for item in self._context.items.validation
            if item in first.results and item in second.results
        ]
        lost = [one for one in shared if first.weak(one) and not second.weak(one)]
        won = [one for one in shared if not first.weak(one)]
        won.sort(key=lambda item: self._context.draw("merge", item))
        return [*lost[:12], *won[: len(lost[:12])]] if lost else []

    async def _rewrites(self, places: int) -> list[Move]:
        """Whole rewrites of a parent drawn from the per-item front."""
        leads = self._context.evidence.leads(self._context.items.validation)
        order = sorted(leads, key=self._number)
        chance = generator(self._context.facts.seed, "parent", self._context.generation)
        temperature = self._context.settings.temperature
        drawn = draw_leaders(chance, leads, order, temperature=temperature, count=1)
        parent = self._context.evidence.known[drawn[0]]
        pool = self._context.items.pool
        known = [item for item in pool if item in parent.results]
        failed = [item for item in known if parent.weak(item)]
        if len(known) < min(self._context.settings.look, len(pool)):
            missing = [item for item in pool if item not in parent.results]
            chosen = chance.sample(missing, min(self._context.settings.look // 2, len(missing)))
            return self._context.look(parent, chosen)
        if not failed:
            return []
        chance.shuffle(failed)
        passed = [item for item in known if not parent.weak(item)]
        chance.shuffle(passed)
        ideas = await self._context.ideas.of(
            parent,
            failed[: self._context.settings.group * 2],
            passed[:1],
            places=places,
            whole=True,
        )
        found = []
        for idea in ideas:
            configuration = idea.whole
            if configuration is None and idea.edit is not None:
                configuration = edited(parent.candidate.configuration, [idea.edit])
            if configuration is not None:
                reason = Reason(kind=Kind.REWRITE, said=idea.said or "Written anew.")
                items = [*failed[:6], *passed[:6]]
                found.append(self._context.move(configuration, parent, reason, items))
        return found

    def _number(self, candidate_id: str) -> int:
        """What orders candidates alike in every run: ids differ."""
        return self._context.evidence.known[candidate_id].candidate.number


@dataclass(frozen=True, slots=True, kw_only=True)
class Recombined:
    """A set of lines over the baseline, and the candidates that it comes nearest to."""

    configuration: Configuration
    parents: tuple[str, ...]
    edits: tuple[LineEdit, ...]


class Recombination:
    """What is believed about each line, and sets of them that were not tried."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._root = evidence.baseline.candidate.configuration
        pool = _pool(evidence, self._root)
        names = _names(pool)
        self._names = {edit.key: names[edit] for edit in pool}
        self.lines: dict[str, LineEdit] = {}
        for edit in pool:
            self.lines.setdefault(names[edit], edit)
        self._sets = {
            one.candidate.id: self._features(one)
            for one in evidence.trialed
            if one is not evidence.baseline
        }
        self._gradient = self._fit()

    def sets(
        self,
        count: int,
        *,
        seed: int,
        generation: int,
        tried: Iterable[str],
        allowed: Callable[[Configuration], bool],
    ) -> list[Recombined]:
        """Up to `count` configurations that were not tried, each the best of a drawn world."""
        taken = set(tried)
        found: list[Recombined] = []
        for place in range(count):
            spread = _SPREADS[(generation + place) % len(_SPREADS)]
            value = self._gradient.draw(seed, "recombine", generation, place, spread=spread)
            for names in self._ranked(value):
                made = self._made(names)
                if made is not None and made.hash not in taken and allowed(made):
                    taken.add(made.hash)
                    edits = tuple(self.lines[name] for name in names)
                    found.append(
                        Recombined(configuration=made, parents=self._nearest(names), edits=edits)
                    )
                    break
        return found

    def _ranked(self, value: Callable[[Iterable[str]], float]) -> list[tuple[str, ...]]:
        """Sets on the way up from the best trials, the most promising first."""

        def worth(names: Sequence[str]) -> float:
            return value(names) - _LINE_COST * len(names)

        starts = sorted(self._sets.values(), key=lambda names: -worth(names))[:3] or [()]
        seen = {names: worth(names) for start in starts for names in self._climb(start, worth)}
        return sorted(seen, key=lambda names: (-seen[names], names))

    def _climb(
        self, start: Sequence[str], worth: Callable[[Sequence[str]], float]
    ) -> Iterator[tuple[str, ...]]:
        here = tuple(sorted(start))
        for _ in range(_MOVES):
            near = sorted(self._neighbours(here), key=lambda names: (-worth(names), names))
            yield from near[:3]
            if not near or worth(near[0]) <= worth(here):
                return
            here = near[0]

    def _neighbours(self, names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        inside = set(names)
        for name in self.lines:
            changed = inside - {name} if name in inside else inside | {name}
            yield tuple(sorted(changed))

    def _made(self, names: Sequence[str]) -> Configuration | None:
        chosen = set(names)
        edits = [edit for name, edit in self.lines.items() if name in chosen]
        return edited(self._root, edits) if edits else None

    def _nearest(self, names: Sequence[str]) -> tuple[str, ...]:
        """The tried candidates that share most of it."""
        wanted = set(names)
        numbers = {one.candidate.id: one.candidate.number for one in self._evidence.trialed}

        def distance(one: str) -> tuple[int, int]:
            return len(wanted.symmetric_difference(self._sets[one])), numbers[one]

        ranked = sorted(self._sets, key=distance)
        return tuple(ranked[:2]) or (self._evidence.baseline.candidate.id,)

    def _features(self, one: Known) -> tuple[str, ...]:
        edits = edits_between(self._root, one.candidate.configuration)
        return tuple(sorted({self._names[edit.key] for edit in edits if edit.key in self._names}))

    def _fit(self) -> Gradient:
        base = self._evidence.baseline.trial_score or 0.0
        observations = []
        for one in self._evidence.trialed[-_MOST_TRIALS:]:
            names = self._sets.get(one.candidate.id)
            if names and one.trial_score is not None:
                score = one.trial_score
                spread = max(0.5 * score * (1 - score), 0.02) if 0 <= score <= 1 else 0.25
                observations.append(
                    Observation(
                        features=names,
                        difference=score - base,
                        variance=spread / max(len(self._evidence.baseline.results), 1),
                    )
                )
        means = dict.fromkeys(self.lines, _MENDED)
        return Gradient(observations, Prior(name=0.06, prefix=0.02, pair=0.01, means=means))


def _pool(evidence: Evidence, root: Configuration) -> list[LineEdit]:
    """Edits of the baseline that mended something once, the oldest first."""
    found: dict[tuple[str, str, str], LineEdit] = {}
    for one in evidence.known.values():
        parents = one.candidate.parent_candidate_ids
        parent = evidence.known.get(parents[0]) if parents else None
        if parent is None or kind_of(one.candidate) is None:
            continue
        if one.trial_score is not None or evidence.gain(one, parent) > 0:
            for edit in edits_between(root, one.candidate.configuration):
                found.setdefault(edit.key, edit)
    return list(found.values())[-_MOST_LINES:]


def _names(edits: Sequence[LineEdit]) -> Mapping[LineEdit, str]:
    """Names by the telling words of a line, so that two wordings of one rule are one."""
    words = {edit: words_of(edit.new or edit.old) for edit in edits}
    common = Counter(word for one in words.values() for word in one)
    most = max(_COMMON * len(edits), 2)
    found = {}
    for edit in edits:
        telling = sorted(word for word in words[edit] if common[word] <= most)
        plain = len(edits) < _FEW_LINES or not telling or bool(edit.old)
        key = " > ".join(edit.key[1:]) if plain else " ".join(telling)
        found[edit] = f"{edit.section} {key}".replace(":", " ")
    return found
