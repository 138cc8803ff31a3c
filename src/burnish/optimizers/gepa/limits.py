"""When a `gepa` search has had enough, apart from its target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from burnish.domain import OptimizerState, StopDecision, StopReason
from burnish.optimizers.gepa.moves import Move

_STEPS_A_TRIAL = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many trials a search may take: all in all, and in a row without a better one."""

    max_iterations: int | None = None
    stop_no_improve: int | None = None

    def trials_left(self, state: OptimizerState) -> int | None:
        """Until `max_iterations`; None without one."""
        if self.max_iterations is None:
            return None
        trials: int = state.algorithm_data["trials"]
        return max(self.max_iterations - trials, 0)

    def within(self, moves: Sequence[Move], state: OptimizerState) -> list[Move]:
        """The moves without the trials that would be too many."""
        left = self.trials_left(state)
        found = []
        for move in moves:
            if move.items is None and left is not None:
                left -= 1
                if left < 0:
                    continue
            found.append(move)
        return found

    def had_enough(self, state: OptimizerState, patience: int | None) -> StopDecision | None:
        """`patience` stands in for `stop_no_improve` where that is not set; None has no end.

        Steps without any trial use it up too, if slowly.
        """
        data = state.algorithm_data
        if self.trials_left(state) == 0:
            return StopDecision(
                should_stop=True,
                reason=StopReason.ALGORITHM_SPECIFIC,
                message=f"max_iterations is reached: {data['trials']} trials",
            )
        patience = self.stop_no_improve or patience
        idle = data["trials"] - data["best_trial"]
        steps = state.generation - data["best_generation"]
        if patience is None or (idle < patience and steps < _STEPS_A_TRIAL * patience):
            return None
        return StopDecision(
            should_stop=True,
            reason=StopReason.NO_IMPROVEMENT,
            message=f"{idle} trials in {steps} steps brought nothing better "
            f"than {state.best_score:g}",
        )
