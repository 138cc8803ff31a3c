"""Run facts that an optimizer keeps in its state, because no later call repeats them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnish.domain import Configuration, OptimizerState, RunContext, SearchSpace

_KEY = "facts"


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """The part of a RunContext that proposals depend on, and its JSON form.

    Sections are stored as pairs: a database may reorder the keys of an object.
    """

    seed: int
    baseline_candidate_id: str
    baseline_score: float
    baseline: Configuration
    space: SearchSpace
    labels: tuple[str, ...]
    places: int
    perfect_score: float | None = 1.0

    @classmethod
    def of(cls, context: RunContext) -> RunFacts:
        """From the context that `initialize` gets."""
        return cls(
            seed=context.seed,
            baseline_candidate_id=context.baseline_candidate_id,
            baseline_score=context.baseline_score,
            baseline=context.baseline,
            space=context.space,
            labels=tuple(context.labels),
            places=context.max_candidates_per_step,
            perfect_score=context.perfect_score,
        )

    @classmethod
    def within(cls, state: OptimizerState) -> RunFacts:
        """From a state that `to_json` went into."""
        value: Mapping[str, Any] = state.algorithm_data[_KEY]
        return cls(
            seed=value["seed"],
            baseline_candidate_id=value["baseline_candidate_id"],
            baseline_score=value["baseline_score"],
            baseline=Configuration.of(
                {**value["baseline"], "sections": dict(value["baseline"]["sections"])}
            ),
            space=SearchSpace.of(value["space"]),
            labels=tuple(value["labels"]),
            places=value["places"],
            perfect_score=perfect_score_in(state),
        )

    def to_json(self) -> dict[str, Any]:
        """For `algorithm_data`."""
        baseline = self.baseline.to_json()
        return {
            _KEY: {
                "seed": self.seed,
                "baseline_candidate_id": self.baseline_candidate_id,
                "baseline_score": self.baseline_score,
                "baseline": {
                    **baseline,
                    "sections": [list(one) for one in baseline["sections"].items()],
                },
                "space": self.space.to_json(),
                "labels": list(self.labels),
                "places": self.places,
                "perfect_score": self.perfect_score,
            }
        }

    def in_flight(self, max_candidates: int) -> int:
        """How many candidates may be running now: the places of a step that are not offered."""
        return max(self.places - max_candidates, 0)


def perfect_score_in(state: OptimizerState) -> float | None:
    """What nothing can be better than; 1 where a state does not say."""
    score: float | None = state.algorithm_data.get(_KEY, {}).get("perfect_score", 1.0)
    return score
