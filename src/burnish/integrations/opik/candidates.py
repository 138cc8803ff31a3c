"""Which candidate an Opik experiment is of: as the client says, or else by its configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from burnish.domain import Candidate, Configuration, ExperimentType, TrialResult
from burnish.optimization.experiments.masks import CandidateMaterializer
from burnish.optimization.plan import candidate_id

_PARENTS = ("parent_candidate_ids", "parent_ids")
_LONGEST_ID = 100
_MOST_PARENTS = 20


def candidate_of(
    optimization_id: str,
    configuration: Configuration,
    metadata: Mapping[str, Any],
    kind: ExperimentType,
    *,
    candidates: Sequence[Candidate],
    trials: Sequence[TrialResult],
) -> Candidate:
    """A known candidate or the next one. Lineage is what the client sent: none is made up.

    Without an id of the client's, a mini-batch belongs to the candidate of the same configuration.
    So does a trial, unless that one had its trial: clients evaluate a prompt twice and show both.
    """
    sent = _identity(metadata.get("candidate_id"))
    if sent is not None:
        known = next((one for one in candidates if one.id == sent), None)
    else:
        alike = [one for one in candidates if one.configuration.hash == configuration.hash]
        tried = {one.candidate_id for one in trials if one.type is ExperimentType.TRIAL}
        if kind is ExperimentType.TRIAL:
            alike = [one for one in alike if one.id not in tried]
        known = alike[0] if alike else None
    if known is not None:
        return known
    number = _number(metadata, {one.number for one in candidates})
    parents = parents_of(metadata)
    return Candidate(
        id=sent or candidate_id(optimization_id, number),
        optimization_id=optimization_id,
        number=number,
        step_index=_step(metadata, number, parents, candidates),
        configuration=configuration,
        parent_candidate_ids=parents,
        rationale=_rationale(metadata),
        mask_id=_identity(metadata.get("mask_id"))
        or CandidateMaterializer.mask_id(optimization_id, number),
    )


def parents_of(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    """The parents that were sent."""
    for name in _PARENTS:
        given = metadata.get(name)
        if isinstance(given, Sequence) and not isinstance(given, str):
            found = [one for one in map(_identity, given[:_MOST_PARENTS]) if one is not None]
            return tuple(dict.fromkeys(found))
    return ()


def _number(metadata: Mapping[str, Any], taken: set[int]) -> int:
    """As it was sent, where it is free: a mirror sends candidates in the order they end."""
    sent = metadata.get("candidate_number")
    if isinstance(sent, int) and 0 <= sent < 2**31 and sent not in taken:
        return int(sent)
    return max(taken, default=-1) + 1


def _step(
    metadata: Mapping[str, Any],
    number: int,
    parents: Sequence[str],
    candidates: Sequence[Candidate],
) -> int:
    sent = metadata.get("step_index")
    if isinstance(sent, int) and not isinstance(sent, bool) and 0 <= sent < 2**31:
        return sent
    if number == 0:
        return 0
    return max((one.step_index for one in candidates if one.id in parents), default=0) + 1


def _identity(value: Any) -> str | None:
    usable = isinstance(value, str) and 0 < len(value) <= _LONGEST_ID and value.isprintable()
    return value if usable else None


def _rationale(metadata: Mapping[str, Any]) -> str | None:
    value = metadata.get("rationale")
    return value if isinstance(value, str) else None
