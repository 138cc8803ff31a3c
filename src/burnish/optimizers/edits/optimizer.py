"""The `edits` optimizer: mechanical edits of sections, steered by an estimated gradient.

A candidate is a set of named edits of the baseline, applied in a fixed order. Its metadata holds the
names, so that every later call can read from the history what was tried: the state holds
nothing but the facts of the run and how it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from burnish.domain import (
    CandidateProposal,
    OptimizerState,
    StopDecision,
    StopReason,
    TrialHistory,
)
from burnish.domain.configuration import MODEL
from burnish.optimizers.edits.edit_catalog import EditCatalog, EditSet
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.gradient import Gradient, Prior
from burnish.optimizers.shared.search_status import HistorySearch, stop, tried_hashes
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.trial_reading import (
    ReadTrial,
    baseline_luck,
    read_trials,
    score_scale,
)
from burnish.support.number_checks import require_fraction, require_target, require_whole

# For labelled answers the frame of the input and the words for the labels matter most.
_FIRST = (
    ("frame", "cue"),
    ("format",),
    ("frame", "cue", "format"),
    ("words",),
    ("options", "frame", "cue", "format"),
    ("definitions",),
    ("task",),
)
Value = Callable[[Sequence[str]], float]
_PARENTS = 3
_MOVES = 3
_TRIES = 50
_SCREENED = 4
# How far proposals stray from the means, in turn: the first of four takes what looks best.
_SPREADS = (0.0, 0.5, 1.0, 1.0)


class Edits(HistorySearch):
    """Tries edits of sections and prefers what helped.

    `target` ends the search (without it, a perfect 1.0 does), and so do `patience` generations without
    a better candidate. A candidate has at most `max_edits` edits, of which each must earn `edit_cost`.
    Candidates that answer everything alike count as `collapse_penalty` worse than they scored.
    """

    name = "edits"

    def __init__(
        self,
        *,
        target: float | None = None,
        patience: int = 8,
        max_edits: int = 6,
        edit_cost: float = 0.004,
        collapse_penalty: float = 0.05,
    ) -> None:
        self.target = require_target("edits", target)
        self.patience = require_whole("edits", "patience", patience, least=1)
        self.max_edits = require_whole("edits", "max_edits", max_edits, least=1)
        self.edit_cost = require_fraction("edits", "edit_cost", edit_cost)
        self.collapse_penalty = require_fraction("edits", "collapse_penalty", collapse_penalty)

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """Sets of edits that were not tried yet."""
        catalog = self._catalog(state)
        return [
            CandidateProposal(
                configuration=pick.edits.configuration,
                parent_candidate_ids=pick.parents,
                rationale=catalog.describe(pick.edits.names),
                metadata=pick.edits.metadata,
            )
            for pick in self._picks(catalog, state, history, max_candidates)
        ]

    def _exhausted(self, state: OptimizerState, history: TrialHistory) -> StopDecision | None:
        """When all that the edits can make was tried."""
        catalog = self._catalog(state)
        # While fewer sets were tried than there are edits alone, something is left.
        tried = len(history.tried)  # the baseline's is among them
        alone = len(list(islice(catalog.singles(), tried)))
        if alone < tried and not self._picks(catalog, state, history, 1):
            return stop(
                f"all that {len(catalog.edits)} edits can make was tried", StopReason.CONVERGENCE
            )
        return None

    def _catalog(self, state: OptimizerState) -> EditCatalog:
        """The edits of this run."""
        return EditCatalog.of(RunFacts.within(state))

    def _picks(
        self, catalog: EditCatalog, state: OptimizerState, history: TrialHistory, count: int
    ) -> list[Pick]:
        trials = _trials(catalog, history)
        queue = screening_queue(catalog)
        skipped = catalog.facts.in_flight(count) % max(len(queue), 1)
        search = EditSearch(
            catalog,
            trials,
            fit(
                catalog,
                trials,
                luck=baseline_luck(history, catalog.facts),
                collapse_penalty=self.collapse_penalty,
            ),
            generation=state.generation,
            turn=state.algorithm_data["results"] + catalog.facts.in_flight(count),
            max_edits=self.max_edits,
            cost=self.edit_cost,
            tried=tried_hashes(history) | {catalog.facts.baseline.hash},
            leaders=self._leaders(catalog, state, history),
        )
        untried = search.untried(queue)
        return search.picks([*untried[skipped:], *untried[:skipped]], count)

    def _leaders(
        self, catalog: EditCatalog, state: OptimizerState, history: TrialHistory
    ) -> Sequence[str]:
        """Candidates to start from besides those with the best prospects."""
        return ()


def _trials(catalog: EditCatalog, history: TrialHistory) -> list[ReadTrial]:
    return read_trials(
        history,
        catalog.facts,
        lambda candidate_id: catalog.names_of(history.candidate(candidate_id)),
    )


def screening_queue(catalog: EditCatalog) -> list[tuple[str, ...]]:
    """Sets of edits in the order they should be screened; the order within a rank is seeded."""
    by_family: dict[str, list[str]] = {}
    for name, edit in catalog.edits.items():
        by_family.setdefault(edit.family, []).append(name)
    chance = generator(catalog.facts.seed, "screening")
    for names in by_family.values():
        chance.shuffle(names)
        names.sort(key=lambda name: -catalog.edits[name].promise)
    # Whoever lists models wants each of them tried, and none differs by more.
    models = [(name,) for name, edit in catalog.edits.items() if edit.group == f"parameter:{MODEL}"]
    queue = [
        *models,
        *(
            tuple(by_family[family][0] for family in families if family in by_family)
            for families in _FIRST
        ),
    ]
    seen = {name for names in queue for name in names}
    rest = [names[0] for family, names in by_family.items() if names[0] not in seen]
    queue += [(name,) for name in rest]
    return list(dict.fromkeys(names for names in queue if names))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pick:
    """A set of edits to try, and the candidates that it was made from."""

    edits: EditSet
    parents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """A tried set to change a little."""

    names: tuple[str, ...]
    parents: tuple[str, ...]


def fit(
    catalog: EditCatalog, trials: Sequence[ReadTrial], *, luck: float, collapse_penalty: float
) -> Gradient:
    """The effects of edits by all trials so far."""
    scale = score_scale(catalog.facts, trials)
    prior = Prior(
        scale=scale,
        luck=luck / scale,
        means={name: edit.promise for name, edit in catalog.edits.items() if edit.promise},
    )
    penalty = collapse_penalty * scale
    return Gradient([trial.observation(penalty=penalty) for trial in trials], prior)


class EditSearch:
    """One generation's choice. Everything it draws is named by seed, generation and place."""

    def __init__(
        self,
        catalog: EditCatalog,
        trials: Sequence[ReadTrial],
        gradient: Gradient,
        *,
        generation: int,
        turn: int,
        max_edits: int,
        cost: float,
        tried: frozenset[str],
        leaders: Sequence[str] = (),
    ) -> None:
        self._leaders = frozenset(leaders)
        self._catalog = catalog
        self._trials = trials
        self._gradient = gradient
        self._generation = generation
        self._turn = turn
        self._max_edits = max_edits
        self._cost = cost * score_scale(catalog.facts, trials)
        self._taken = set(tried)
        self._built: dict[tuple[str, ...], EditSet | None] = {}
        self._near: dict[tuple[str, ...], list[tuple[str, ...]]] = {}

    def untried(self, queue: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """What is left of a queue."""
        return [names for names in queue if self._fresh(names)]

    def picks(self, queue: Sequence[tuple[str, ...]], count: int) -> list[Pick]:
        """Up to `count` sets that were never tried; `queue` is what must be screened first."""
        found: list[Pick] = []
        waiting = iter(queue)
        for place in range(count):
            pick = None
            if self._screens(place):
                pick = self._from_queue(waiting)
            pick = (
                pick or self._by_draw(place) or self._from_queue(waiting) or self._anything(place)
            )
            if pick is None:
                break
            self._taken.add(pick.edits.configuration.hash)
            found.append(pick)
        return found

    def _screens(self, place: int) -> bool:
        """Until something is known, and for a few candidates more."""
        return not self._trials or self._turn + place < _SCREENED

    def _from_queue(self, waiting: Iterator[tuple[str, ...]]) -> Pick | None:
        for names in waiting:
            made = self._fresh(names)
            if made:
                return Pick(edits=made, parents=(self._catalog.facts.baseline_candidate_id,))
        return None

    def _by_draw(self, place: int) -> Pick | None:
        """The best set near a tried one, in a world drawn from what is believed now."""
        if not self._trials:
            return None
        drawn = self._gradient.draw(
            self._catalog.facts.seed,
            "draw",
            self._generation,
            place,
            spread=_SPREADS[(self._turn + place) % len(_SPREADS)],
        )

        def value(names: Sequence[str]) -> float:
            return drawn(names) - self._cost * len(names)

        near = {
            names: start.parents
            for start in reversed(self._starts)
            for names in self._climb(start.names, value)
        }
        for names in sorted(near, key=lambda one: (-value(one), one)):
            made = self._fresh(names)
            if made:
                return Pick(edits=made, parents=near[names])
        return None

    @cached_property
    def _starts(self) -> list[Start]:
        """The baseline, the tried sets with the best prospects, leaders, and the two best joined."""
        root = self._catalog.facts.baseline_candidate_id
        ranked = sorted(
            self._trials,
            key=lambda trial: (-self._gradient.mean(trial.features), trial.number),
        )
        parents = ranked[:_PARENTS]
        parents += [one for one in ranked[_PARENTS:] if one.candidate_id in self._leaders]
        found = [Start(names=(), parents=(root,))]
        found += [Start(names=one.features, parents=(one.candidate_id,)) for one in parents]
        if len(parents) > 1:
            first, second = parents[:2]
            found.append(
                Start(
                    names=self._joined(first.features, second.features),
                    parents=(first.candidate_id, second.candidate_id),
                )
            )
        return found

    def _joined(self, first: Sequence[str], second: Sequence[str]) -> tuple[str, ...]:
        """Both sets in one; where they exclude each other the first one's edit stays."""
        groups = {self._catalog.edits[name].group for name in first}
        more = [name for name in second if self._catalog.edits[name].group not in groups]
        return (*first, *more)[: self._max_edits]

    def _climb(self, names: Sequence[str], value: Value) -> Iterator[tuple[str, ...]]:
        """The start and the best of its neighbours' neighbours, a few moves far."""
        here = tuple(names)
        yield here
        for _ in range(_MOVES):
            ranked = sorted(self._neighbours(here), key=lambda one: (-value(one), one))
            if not ranked:
                return
            yield from ranked[:4]
            if value(ranked[0]) <= value(here):
                return
            here = ranked[0]

    def _neighbours(self, names: tuple[str, ...]) -> list[tuple[str, ...]]:
        """One edit more, one less, or one for another. Draws start alike, so they are kept."""
        if names not in self._near:
            less = [tuple(one for one in names if one != name) for name in names]
            others = [name for name in self._catalog.edits if name not in names]
            more = (self._catalog.with_edit(names, name) for name in others)
            self._near[names] = less + [one for one in more if len(one) <= self._max_edits]
        return self._near[names]

    def _anything(self, place: int) -> Pick | None:
        """When nothing near is left: every edit alone, then random sets, until tries bring nothing."""
        chance = generator(self._catalog.facts.seed, "anything", self._generation, place)
        names = list(self._catalog.edits)
        alone = [(name,) for name in chance.sample(names, len(names))]
        sizes = [min(chance.randint(2, max(self._max_edits, 2)), len(names)) for _ in range(_TRIES)]
        for one in (*alone, *(tuple(chance.sample(names, size)) for size in sizes)):
            made = self._fresh(one)
            if made and len(made.names) <= self._max_edits:
                return Pick(edits=made, parents=(self._catalog.facts.baseline_candidate_id,))
        return None

    def _fresh(self, names: Sequence[str]) -> EditSet | None:
        key = tuple(names)
        if key not in self._built:
            self._built[key] = self._catalog.build(key) if key else None
        made = self._built[key]
        return made if made and made.configuration.hash not in self._taken else None
