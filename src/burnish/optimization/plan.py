"""Accepted proposals turned into numbered candidates with an experiment each."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence

from burnish.domain import Candidate, Configuration, StepCandidate
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.optimization.validator import Accepted

# Any fixed value: it only keeps our ids apart from other uses of UUIDv5.
_NAMESPACE = uuid.UUID("6f2b5f0e-6a0c-4b57-9a86-9f7f6e1d5b1e")


def candidate_id(optimization_id: str, number: int) -> str:
    """Unique everywhere, short enough to type, and the same in a resumed run."""
    return f"{optimization_id[-8:]}-{number}"


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
