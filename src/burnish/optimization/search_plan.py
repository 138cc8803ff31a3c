"""Search plan of one optimization: what is fixed for it, and the ids of candidates and experiments."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from burnish.domain import (
    Candidate,
    Configuration,
    Json,
    RunContext,
    SearchSpace,
    StepCandidate,
    TrialResult,
)
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.optimization.objective import Objective
from burnish.optimization.validator import Accepted


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPlan:
    """Where the search starts, what it may change, and on which items it is judged."""

    optimization_id: str
    suite_id: str
    objective_name: str
    baseline: Configuration
    space: SearchSpace
    splits: Mapping[str, tuple[str, ...]]
    seed: int
    labels: tuple[str, ...] = ()
    criteria: tuple[str, ...] = ()
    output_schema: Mapping[str, Json] | None = None
    answer_fields: tuple[str, ...] = ()
    max_candidates_per_step: int = 4
    max_trials: int | None = None
    asynchronous: bool = False
    keep_passing: bool = False
    repeats: int = 1
    objective: Objective = field(default_factory=Objective)
    # What has to be said about how it is run.
    notes: tuple[str, ...] = ()

    @property
    def trial_items(self) -> tuple[str, ...]:
        """The items that a trial runs on."""
        return self.splits["validation"]

    @property
    def search_splits(self) -> dict[str, tuple[str, ...]]:
        """The splits that an optimizer may know: those that it is not judged by in the end."""
        return {name: self.splits[name] for name in ("train", "validation")}

    @property
    def search_items(self) -> frozenset[str]:
        """The items of those splits."""
        return frozenset(item for ids in self.search_splits.values() for item in ids)

    def context(self, baseline: TrialResult, *, evaluations_left: int | None = None) -> RunContext:
        """What the optimizer is told, once the baseline has a score."""
        return RunContext(
            optimization_id=self.optimization_id,
            evaluation_suite_id=self.suite_id,
            objective_name=self.objective_name,
            baseline_candidate_id=baseline.candidate_id,
            baseline_score=baseline.objective_score or 0.0,
            max_candidates_per_step=self.max_candidates_per_step,
            baseline=self.baseline,
            space=self.space,
            splits=self.search_splits,
            seed=self.seed,
            labels=self.labels,
            placeholders=self.baseline.placeholders,
            perfect_score=self.objective.perfect_score,
            evaluations_left=evaluations_left,
            criteria=self.criteria,
            output_schema=self.output_schema,
            answer_fields=self.answer_fields,
            held_out=bool(self.splits.get("test")),
        )


# Any fixed value: it only keeps our ids apart from other uses of UUIDv5.
_NAMESPACE = uuid.UUID("6f2b5f0e-6a0c-4b57-9a86-9f7f6e1d5b1e")


def candidate_id(optimization_id: str, number: int) -> str:
    """A UUID, unique everywhere and the same in a resumed run; people type the number."""
    return str(uuid.uuid5(_NAMESPACE, f"{optimization_id}\x1e{number}"))


def is_baseline_id(optimization_id: str, identity: str | None) -> bool:
    """Whether this is candidate 0 of a run, also of one that an earlier version began."""
    return identity in (candidate_id(optimization_id, 0), f"{optimization_id[-8:]}-0")


def experiment_id(optimization_id: str, candidate: str, item_ids: Sequence[str] | None) -> str:
    """One experiment for a candidate on a set of items: planned twice, it is still the same."""
    which = "all" if item_ids is None else "\x1f".join(item_ids)
    return str(uuid.uuid5(_NAMESPACE, f"{optimization_id}\x1e{candidate}\x1e{which}"))


def baseline_candidate(optimization_id: str, configuration: Configuration) -> Candidate:
    """Candidate 0 at step 0."""
    return Candidate(
        id=candidate_id(optimization_id, 0),
        optimization_id=optimization_id,
        number=0,
        step_index=0,
        configuration=configuration,
        rationale="the configuration as it was given",
        mask_id=CandidateMaterializer.mask_id(optimization_id, 0),
    )


def plan_step(
    optimization_id: str, accepted: Sequence[Accepted], candidates: Mapping[str, Candidate]
) -> list[StepCandidate]:
    """What a step runs. A configuration that is a candidate already keeps its id."""
    by_hash = {one.configuration.hash: one for one in candidates.values()}
    number = max((one.number for one in candidates.values()), default=-1) + 1
    planned: list[StepCandidate] = []
    for proposal in accepted:
        candidate = by_hash.get(proposal.configuration.hash)
        if candidate is None:
            candidate = _new(optimization_id, number, proposal, candidates)
            by_hash[candidate.configuration.hash] = candidate
            number += 1
        planned.append(
            StepCandidate(
                candidate=candidate,
                experiment_id=experiment_id(optimization_id, candidate.id, proposal.run_key),
                item_ids=proposal.item_ids,
                repeats=proposal.repeats,
            )
        )
    return planned


def _new(
    optimization_id: str, number: int, proposal: Accepted, candidates: Mapping[str, Candidate]
) -> Candidate:
    steps = [candidates[parent].step_index for parent in proposal.parent_candidate_ids]
    return Candidate(
        id=candidate_id(optimization_id, number),
        optimization_id=optimization_id,
        number=number,
        step_index=max(steps, default=0) + 1,
        configuration=proposal.configuration,
        parent_candidate_ids=proposal.parent_candidate_ids,
        rationale=proposal.rationale,
        metadata=proposal.metadata,
        mask_id=CandidateMaterializer.mask_id(optimization_id, number),
    )
