"""The search for the largest set of cuts that regress nothing.

It is replayed from the start with all that is known, and stops at the first thing that is not: so it
keeps no state, and a resumed run does the same.

1. Each section's edits alone, on a few items; one that regresses gives way to the next weaker.
2. All together. Where that breaks an item, bisecting on this item alone finds the few cuts that do it;
   where only the failures of all items together are too many, bisecting on those that failed. From
   then on the largest set is taken that has no such combination. Where more cuts never mend what
   fewer broke, nothing that regresses nothing is larger.
3. The same for the lines of all sections, and for single examples.

What passed under more cuts is not run again for fewer, until the end: what is accepted has passed the
whole gate itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from burnish.domain import Configuration
from burnish.optimizers.compress.cuts import Cut, MayGo, build, unit_cuts
from burnish.optimizers.compress.verdicts import Ask, Unknown, Verdicts

# Beyond so many branches the best so far is taken; combinations are few and small in practice.
_MOST_BRANCHES = 5_000
_LAST_LEFT = "it is all that is left of its section, and an empty section is not tried"
Cuts = tuple[Cut, ...]
Made = dict[frozenset[str], Configuration | None]


class CompressSearch:
    """One replay. Raises Unknown where results are missing."""

    def __init__(
        self,
        baseline: Configuration,
        choices: Mapping[str, Sequence[Cut]],
        verdicts: Verdicts,
        *,
        screened: int,
        made: Made | None = None,
        may_go: MayGo = lambda line: True,
    ) -> None:
        self._baseline = baseline
        self._choices = choices
        self._verdicts = verdicts
        self._may_go = may_go
        self._screen = verdicts.gate[:screened]
        self._conflicts: list[Conflict] = []
        # Configurations that earlier replays have made.
        self._made: Made = {} if made is None else made
        # Sets of cuts that were looked at, by name.
        self._known: dict[frozenset[str], tuple[Cuts, str]] = {}
        # Everything that was looked at, by hash, with what it is made of in words.
        self.built: dict[str, tuple[Configuration, str]] = {
            baseline.hash: (baseline, "the baseline once more")
        }

    # --- phases -------------------------------------------------------------------------------

    def sections(self) -> Solution:
        """Whole sections."""
        self._alone()
        return self._solve((), [cuts for cuts in self._choices.values() if cuts])

    def lines(self, start: Solution) -> Solution:
        """Lines of all sections and single examples, on top of what was accepted."""
        taken = {cut.path: cut.name for cut in start.accepted}
        cuts = [
            cut
            for path in self._choices
            for cut in unit_cuts(start.configuration, path, taken.get(path, ""), self._may_go)
        ]
        found = self._solve(start.accepted, [[cut] for cut in cuts])
        refusals = {**start.refusals, **found.refusals}
        return Solution(
            accepted=found.accepted, configuration=found.configuration, refusals=refusals
        )

    def _alone(self) -> None:
        """Find the edits that break one of a few items by themselves, sections side by side."""
        asks: list[Ask] = []
        for cuts in self._choices.values():
            for cut in cuts:
                try:
                    item = self._broken((cut,), self._screen)
                except Unknown as unknown:
                    asks += unknown.asks
                    break
                if item is None:
                    break
                self._conflicts.append(Conflict((cut,), (item,)))
        if asks:
            raise Unknown(asks)

    def _solve(self, base: Cuts, options: Sequence[Sequence[Cut]]) -> Solution:
        """The largest choice beside `base` that passes the whole gate."""
        while True:
            chosen = self._viable(base, best_choice(options, self._conflicts))
            cuts = (*base, *chosen)
            conflict = self._conflict(base, chosen) if chosen else None
            if conflict is None:
                break
            self._conflicts.append(conflict)
        configuration = self._build(cuts)
        assert configuration is not None
        return Solution(
            accepted=cuts, configuration=configuration, refusals=self._refusals(cuts, options)
        )

    def _conflict(self, base: Cuts, chosen: Cuts) -> Conflict | None:
        """What breaks items among the chosen cuts: one item by itself, or all taken together."""
        cuts, verdicts = (*base, *chosen), self._verdicts
        witnesses = verdicts.witnesses
        order = (*witnesses, *(item for item in verdicts.gate if item not in witnesses))
        item = self._broken(cuts, order, infer=True)
        for wanted in sorted({1, verdicts.eval_runs}):
            item = item or self._broken(cuts, order, wanted=wanted)
        if item is not None:
            single = item
            return Conflict(
                self._culprits(base, chosen, lambda some: self._breaks(some, single)), (item,)
            )
        items = verdicts.more_failures(self._look(cuts))
        if not items:
            return None
        # With at least half of what was seen beyond the baseline's own failures, a part is to blame.
        of_baseline = verdicts.failures(verdicts.baseline, items, further=True)
        half = (verdicts.failures(self._look(cuts), items) + of_baseline) / 2
        culprits = self._culprits(base, chosen, lambda some: self._fails(some, items) >= half)
        return Conflict(culprits, items)

    def _culprits(self, base: Cuts, chosen: Cuts, breaks: Callable[[Cuts], bool]) -> Cuts:
        """A smallest part of the choice that breaks what the whole of it does, by halving."""
        found: Cuts = ()
        rest = chosen
        while not found or not breaks((*base, *found)):
            low, high = 0, len(rest)
            # With `high` of the rest it breaks, with `low` it does not.
            while high - low > 1:
                middle = (low + high) // 2
                if breaks((*base, *found, *rest[:middle])):
                    high = middle
                else:
                    low = middle
            if not rest:
                break
            found, rest = (*found, rest[high - 1]), rest[: high - 1]
        return found

    def _viable(self, base: Cuts, chosen: Cuts) -> Cuts:
        """Without the smallest cut of each section of which nothing would be left."""
        for path in {cut.path for cut in chosen if cut.unit is not None}:
            own = tuple(cut for cut in (*base, *chosen) if cut.path == path)
            if self._build(own) is None:
                least = min((cut for cut in chosen if cut.path == path), key=lambda cut: cut.saving)
                chosen = tuple(cut for cut in chosen if cut is not least)
        return chosen

    def _refusals(self, accepted: Cuts, options: Sequence[Sequence[Cut]]) -> dict[str, Refusal]:
        """Why each cut that would save more than what was accepted in its place is not there."""
        taken = {place(cut): cut.saving for cut in accepted}
        found: dict[str, Refusal] = {}
        for cut in (one for cuts in options for one in cuts):
            if cut.saving <= taken.get(place(cut), 0):
                continue
            reasons = [
                one
                for one in self._conflicts
                if any(place(part) == place(cut) and at_least(cut, part) for part in one.cuts)
            ]
            others = {part.path for one in reasons for part in one.cuts} - {cut.path}
            alone = any(len(one.cuts) == 1 for one in reasons)
            reason = "regresses alone"
            if not alone:
                reason = f"regresses together with {', '.join(sorted(others)) or 'other cuts'}"
            items = tuple(dict.fromkeys(item for one in reasons for item in one.item_ids))
            found[cut.name] = Refusal(
                cut=cut, reason=reason if reasons else _LAST_LEFT, item_ids=items
            )
        return found

    # --- what is known ------------------------------------------------------------------------

    def _broken(
        self, cuts: Cuts, items: Sequence[str], *, wanted: int = 1, infer: bool = False
    ) -> str | None:
        """An item that regresses under the cuts; Unknown while that is open."""
        digest = self._look(cuts)
        if regressions := self._verdicts.regressions(digest):
            return regressions[0]
        if infer:
            passed = self._passed_with_more(cuts)
            items = [item for item in items if item not in passed]
        ask = self._verdicts.next_ask(digest, items, wanted)
        if ask is not None:
            raise Unknown([ask])
        return None

    def _breaks(self, cuts: Cuts, item: str) -> bool:
        """Whether one item regresses under the cuts."""
        digest = self._look(cuts)
        if item in self._verdicts.regressions(digest):
            return True
        if item in self._passed_with_more(cuts):
            return False
        ask = self._verdicts.next_ask(digest, (item,), 1, alone=True)
        if ask is not None:
            raise Unknown([ask])
        return False

    def _fails(self, cuts: Cuts, items: Sequence[str]) -> int:
        """How often items fail under the cuts."""
        digest = self._look(cuts)
        ask = self._verdicts.ask(digest, items, self._verdicts.eval_runs)
        if ask is not None:
            raise Unknown([ask])
        return self._verdicts.failures(digest, items)

    def _look(self, cuts: Cuts) -> str:
        configuration = self._build(cuts)
        assert configuration is not None
        names = frozenset(cut.name for cut in cuts)
        self._known[names] = cuts, configuration.hash
        if configuration.hash not in self.built:
            words = "; ".join(cut.describe() for cut in cuts)
            self.built[configuration.hash] = configuration, words
        return configuration.hash

    def _build(self, cuts: Cuts) -> Configuration | None:
        names = frozenset(cut.name for cut in cuts)
        if names not in self._made:
            self._made[names] = build(self._baseline, cuts)
        return self._made[names]

    def _passed_with_more(self, cuts: Cuts) -> set[str]:
        """The items that pass under cuts which take away as much as these or more."""
        found: set[str] = set()
        for more, digest in self._known.values():
            there = {place(cut): cut for cut in more}
            if len(more) >= len(cuts) and all(
                (other := there.get(place(cut))) is not None and at_least(other, cut)
                for cut in cuts
            ):
                found |= self._verdicts.passed(digest)
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """What a phase arrived at, verified on the whole gate."""

    accepted: Cuts
    configuration: Configuration
    refusals: Mapping[str, Refusal] = field(default_factory=dict)

    @property
    def saving(self) -> int:
        """Tokens, as the cuts promise them."""
        return sum(cut.saving for cut in self.accepted)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A cut that was not accepted, with the items that it would break."""

    cut: Cut
    reason: str
    item_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conflict:
    """Cuts that break items together, none of which could be left out."""

    cuts: Cuts
    item_ids: tuple[str, ...]

    def within(self, chosen: Mapping[tuple[str, int | None], Cut]) -> bool:
        """Whether a choice has all of them, or stronger ones in their places."""
        return all(
            (other := chosen.get(place(cut))) is not None and at_least(other, cut)
            for cut in self.cuts
        )


def place(cut: Cut) -> tuple[str, int | None]:
    """Where a cut is made: one can be chosen for each place."""
    return cut.path, cut.unit


def at_least(one: Cut, other: Cut) -> bool:
    """Whether a cut at the same place takes as much away as another, or more."""
    return one.name == other.name or one.saving > other.saving


def best_choice(options: Sequence[Sequence[Cut]], conflicts: Sequence[Conflict]) -> Cuts:
    """At most one of each place's options, given strongest first, without any conflict.

    Each conflict is undone by weakening one of its cuts; which ones is searched by branch and bound.
    """
    return _Choice(options, conflicts).best()


class _Choice:
    def __init__(self, options: Sequence[Sequence[Cut]], conflicts: Sequence[Conflict]) -> None:
        self._options = {place(cuts[0]): tuple(cuts) for cuts in options if cuts}
        # Single cuts leave no choice, so they come first.
        self._conflicts = sorted(conflicts, key=lambda one: len(one.cuts))
        self._branches = 0
        self._found: dict[tuple[str, int | None], Cut] = {}
        self._most = -1

    def best(self) -> Cuts:
        self._search({where: cuts[0] for where, cuts in self._options.items()})
        return tuple(sorted(self._found.values(), key=lambda cut: (-cut.saving, cut.name)))

    def _search(self, chosen: dict[tuple[str, int | None], Cut]) -> None:
        total = sum(cut.saving for cut in chosen.values())
        if total <= self._most:
            return
        conflict = next((one for one in self._conflicts if one.within(chosen)), None)
        if conflict is None:
            self._found, self._most = chosen, total
            return
        ways = [self._weakened(chosen, cut) for cut in conflict.cuts]
        ways.sort(key=lambda way: -sum(cut.saving for cut in way.values()))
        for way in ways:
            if self._branches >= _MOST_BRANCHES and self._most >= 0:
                return
            self._branches += 1
            self._search(way)

    def _weakened(
        self, chosen: dict[tuple[str, int | None], Cut], cut: Cut
    ) -> dict[tuple[str, int | None], Cut]:
        """Without the cut and anything as strong, but with the next weaker one."""
        where = place(cut)
        weaker = next((one for one in self._options[where] if not at_least(one, cut)), None)
        left = {key: one for key, one in chosen.items() if key != where}
        return left if weaker is None else {**left, where: weaker}
