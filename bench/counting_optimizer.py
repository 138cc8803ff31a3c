"""An optimizer that costs next to nothing: it numbers its proposals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import burnish

BASELINE = "Answer briefly. {{question}}"


class Counting:
    """Proposes the baseline with a number, each number once."""

    name = "counting"

    def initialize(self, context: burnish.RunContext) -> burnish.OptimizerState:
        """Remember whose children all candidates are."""
        return burnish.OptimizerState(algorithm_data={"root": context.baseline_candidate_id})

    def propose(
        self, state: burnish.OptimizerState, history: Any, max_candidates: int
    ) -> list[burnish.CandidateProposal]:
        """As many as there are places."""
        return [
            burnish.CandidateProposal(
                configuration={"sections": {"system": f"{BASELINE} {state.generation}.{place}"}},
                parent_candidate_ids=[state.algorithm_data["root"]],
                rationale="numbered",
            )
            for place in range(max_candidates)
        ]

    def observe(
        self, state: burnish.OptimizerState, trial_results: Sequence[burnish.TrialResult]
    ) -> burnish.OptimizerState:
        """Go on to the next number."""
        return burnish.OptimizerState(
            generation=state.generation + 1, algorithm_data=state.algorithm_data
        )

    def should_stop(self, state: burnish.OptimizerState, history: Any) -> burnish.StopDecision:
        """Leave it to the budget."""
        return burnish.StopDecision(should_stop=False)
