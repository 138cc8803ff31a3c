"""The `edits` optimizer: mechanical edits of sections, steered by an estimated gradient.

A candidate is a set of named edits of the baseline, applied in a fixed order. Its metadata holds the
names, so that every later call can read from the history what was tried: the state holds
nothing but the facts of the run and how it stands.
"""

from __future__ import annotations

from collections.abc import Sequence

from burnish.domain import (
    CandidateProposal,
    OptimizerState,
    RunContext,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
)
from burnish.optimizers.edits.edit_catalog import Library
from burnish.optimizers.edits.screening import screening_queue
from burnish.optimizers.edits.search import EditSearch, Pick, fit
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import (
    GOING_ON,
    first_state,
    next_state,
    reached,
    stale,
    tried_hashes,
)
from burnish.optimizers.shared.trial_reading import ReadTrial, baseline_luck, read_trials
from burnish.support.number_checks import require_fraction, require_target, require_whole


class Edits:
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

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts."""
        return first_state(context)

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """Sets of edits that were not tried yet."""
        library = self._library(state)
        return [
            CandidateProposal(
                configuration=pick.edits.configuration,
                parent_candidate_ids=pick.parents,
                rationale=library.describe(pick.edits.names),
                metadata=pick.edits.metadata,
            )
            for pick in self._picks(library, state, history, max_candidates)
        ]

    def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """One generation on; what was tried stands in the history."""
        return next_state(state, trial_results)

    def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """At the target, after long without improvement, or when nothing is left to try."""
        enough = reached(state, self.target) or stale(state, self.patience)
        if enough:
            return enough
        library = self._library(state)
        # While fewer sets were tried than there are edits alone, something is left.
        many_left = len(history.trials) <= len(library.singles)  # the baseline's is among them
        if not many_left and not self._picks(library, state, history, 1):
            return StopDecision(
                should_stop=True,
                reason=StopReason.CONVERGENCE,
                message=f"all that {len(library.edits)} edits can make was tried",
            )
        return GOING_ON

    def _library(self, state: OptimizerState) -> Library:
        """The edits of this run."""
        return Library.of(RunFacts.within(state))

    def _picks(
        self, library: Library, state: OptimizerState, history: TrialHistory, count: int
    ) -> list[Pick]:
        trials = _trials(library, history)
        queue = screening_queue(library)
        skipped = library.facts.in_flight(count) % max(len(queue), 1)
        search = EditSearch(
            library,
            trials,
            fit(
                library,
                trials,
                luck=baseline_luck(history, library.facts),
                collapse_penalty=self.collapse_penalty,
            ),
            generation=state.generation,
            turn=state.algorithm_data["results"] + library.facts.in_flight(count),
            max_edits=self.max_edits,
            cost=self.edit_cost,
            tried=tried_hashes(history) | {library.facts.baseline.hash},
            leaders=self._leaders(library, state, history),
        )
        untried = search.untried(queue)
        return search.picks([*untried[skipped:], *untried[:skipped]], count)

    def _leaders(
        self, library: Library, state: OptimizerState, history: TrialHistory
    ) -> Sequence[str]:
        """Candidates to start from besides those with the best prospects."""
        return ()


def _trials(library: Library, history: TrialHistory) -> list[ReadTrial]:
    return read_trials(
        history,
        library.facts,
        lambda candidate_id: library.names_of(history.candidate(candidate_id)),
    )
