"""The `random` optimizer: edits and parameters drawn blindly, an honest baseline for the others."""

from __future__ import annotations

import random

from burnish.domain import (
    CandidateProposal,
    Configuration,
    OptimizerState,
    StopDecision,
    StopReason,
    TrialHistory,
)
from burnish.optimizers.edits.edit_catalog import EditCatalog
from burnish.optimizers.parameters.axes import draw_value, is_bounded
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import HistorySearch, stop, tried_hashes
from burnish.optimizers.shared.seeded_random import generator
from burnish.support.number_checks import require_target, require_whole

_ATTEMPTS = 200


class RandomSearch(HistorySearch):
    """Draws sets of up to `max_edits` edits and a value for each declared parameter.

    Learns nothing from results. Ends at `target` (without it, at a perfect 1.0), or when `patience`
    generations brought nothing better; without patience it goes on until the budget ends.
    """

    name = "random"

    def __init__(
        self, *, target: float | None = None, patience: int | None = None, max_edits: int = 4
    ) -> None:
        self.target = require_target("random", target)
        self.patience = (
            None if patience is None else require_whole("random", "patience", patience, least=1)
        )
        self.max_edits = require_whole("random", "max_edits", max_edits, least=1)

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """Configurations that were not tried yet, children of the baseline."""
        catalog = EditCatalog.of(RunFacts.within(state))
        taken = {catalog.facts.baseline.hash, *tried_hashes(history)}
        chance = generator(catalog.facts.seed, "random", state.generation)
        found: list[CandidateProposal] = []
        for _ in range(_ATTEMPTS):
            if len(found) >= max_candidates:
                break
            proposal = self._draw(catalog, chance)
            if proposal is None:
                continue
            digest = Configuration.of(proposal.configuration).hash
            if digest not in taken:
                taken.add(digest)
                found.append(proposal)
        return found

    def _exhausted(self, state: OptimizerState, history: TrialHistory) -> StopDecision | None:
        """When no draw is new."""
        if self.propose(state, history, 1):
            return None
        return stop(f"{_ATTEMPTS} draws brought nothing that was not tried", StopReason.CONVERGENCE)

    def _draw(self, catalog: EditCatalog, chance: random.Random) -> CandidateProposal | None:
        names = [name for name in catalog.edits if not name.startswith("parameter:")]
        count = min(chance.randint(1, self.max_edits), len(names))
        made = catalog.build(chance.sample(names, count))
        configuration = made.configuration if made else catalog.facts.baseline
        space = catalog.facts.space.parameters
        drawn = {
            name: draw_value(space[name], chance)
            for name in sorted(space)
            if is_bounded(space[name])
        }
        changed = Configuration.of(
            {**configuration.to_json(), "parameters": {**configuration.parameters, **drawn}}
        )
        if changed.hash == catalog.facts.baseline.hash:
            return None
        said = catalog.describe(made.names) if made else "Other values of parameters."
        return CandidateProposal(
            configuration=changed,
            parent_candidate_ids=(catalog.facts.baseline_candidate_id,),
            rationale=said,
        )
