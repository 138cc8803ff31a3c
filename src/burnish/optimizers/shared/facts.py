"""Run facts that an optimizer keeps in its state, because no later call repeats them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from burnish.domain import (
    Configuration,
    Item,
    Json,
    OptimizerState,
    RunContext,
    SearchSpace,
    UsageError,
    lookup,
    placeholders,
)

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
    criteria: tuple[str, ...] = ()
    output_schema: Mapping[str, Json] | None = None
    answer_fields: tuple[str, ...] = ()

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
            criteria=tuple(context.criteria),
            output_schema=context.output_schema,
            answer_fields=tuple(context.answer_fields),
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
            criteria=tuple(value.get("criteria", ())),
            output_schema=value.get("output_schema"),
            answer_fields=tuple(value.get("answer_fields", ())),
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
                "criteria": list(self.criteria),
                "output_schema": None if self.output_schema is None else dict(self.output_schema),
                "answer_fields": list(self.answer_fields),
            }
        }

    def inputs(self, item: Item) -> dict[str, Json]:
        """The fields that the agent's prompt shows, in its order.

        Where it has no placeholders, all but those that the scorers compare the output with.
        """
        names = [name for text in self.baseline.sections.values() for name in placeholders(text)]
        if not names:
            return _without(item.data, self.answer_fields)
        found = {}
        for name in names:
            with suppress(UsageError):
                found[name] = lookup(item.row, name)
        return found

    def in_flight(self, max_candidates: int) -> int:
        """How many candidates may be running now: the places of a step that are not offered."""
        return max(self.places - max_candidates, 0)


def _without(data: Mapping[str, Json], paths: Sequence[str]) -> dict[str, Json]:
    """The fields but for some, each named by itself or by a dotted path into nested objects."""
    found: dict[str, Json] = {}
    for name, value in data.items():
        if name in paths:
            continue
        inner = [path.removeprefix(f"{name}.") for path in paths if path.startswith(f"{name}.")]
        found[name] = _without(value, inner) if inner and isinstance(value, Mapping) else value
    return found


def perfect_score_in(state: OptimizerState) -> float | None:
    """What nothing can be better than; 1 where a state does not say."""
    score: float | None = state.algorithm_data.get(_KEY, {}).get("perfect_score", 1.0)
    return score
