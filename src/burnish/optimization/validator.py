"""Candidate validator: which proposals may be run, and in words why the others may not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import (
    BurnishError,
    Configuration,
    Json,
    SearchSpace,
    UsageError,
    require_json,
)
from burnish.domain.optimizations.optimizer import CandidateProposal, ReasonCode
from burnish.domain.optimizations.proposal_rules import first_violation
from burnish.domain.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """A proposal that may run, with its checked configuration."""

    index: int
    configuration: Configuration
    parent_candidate_ids: tuple[str, ...]
    rationale: str | None
    item_ids: tuple[str, ...] | None
    repeats: int | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)

    @property
    def run_key(self) -> tuple[str, ...] | None:
        """What tells its runs from others of the same configuration."""
        if self.item_ids is None or self.repeats is None:
            return self.item_ids
        return (*self.item_ids, f"repeats={self.repeats}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A proposal that may not run."""

    index: int
    reason: ReasonCode
    message: str
    configuration_hash: str | None = None


class _Refusal(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, reason: ReasonCode, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class CandidateValidator:
    """Checks proposals against the baseline, the search space and what was run before."""

    def __init__(
        self, *, baseline: Configuration, space: SearchSpace, item_ids: Collection[str]
    ) -> None:
        self._baseline = baseline
        self._space = space
        self._item_ids = frozenset(item_ids)

    async def validate(
        self,
        proposals: Sequence[CandidateProposal],
        *,
        known_candidates: Collection[str],
        is_seen: Callable[[str, tuple[str, ...] | None], bool],
        limit: int,
    ) -> tuple[list[Accepted], list[Refused]]:
        """Accepted and refused proposals, each in order; they are checked side by side.

        `is_seen` tells whether a configuration hash was run on a set of items (None is all); equal
        proposals among these are duplicates too. Past `limit` proposals the rest is refused as one.
        """
        known = frozenset(known_candidates)
        checked = await asyncio.gather(
            *(
                asyncio.to_thread(self._check, index, proposal, known)
                for index, proposal in enumerate(proposals[:limit])
            )
        )
        accepted, refused = _without_duplicates(checked, is_seen)
        if len(proposals) > limit:
            past = len(proposals) - limit
            many = counted(past, "proposal")
            message = f"{many} past the limit of {limit} {'was' if past == 1 else 'were'} not read"
            refused.append(
                Refused(index=limit, reason=ReasonCode.TOO_MANY_CANDIDATES, message=message)
            )
        return accepted, refused

    def _check(
        self, index: int, proposal: CandidateProposal, known_candidates: Collection[str]
    ) -> Accepted | Refused:
        try:
            configuration = _configuration(proposal)
            broken = first_violation(configuration, baseline=self._baseline, space=self._space)
            if broken is not None:
                raise _Refusal(broken.reason, broken.message)
            parents = _checked_ids("parent_candidate_ids", proposal.parent_candidate_ids)
            for parent in parents:
                if parent not in known_candidates:
                    raise _Refusal(
                        ReasonCode.UNKNOWN_PARENT, f"its parent {parent!r} is no accepted candidate"
                    )
            return Accepted(
                index=index,
                configuration=configuration,
                parent_candidate_ids=tuple(dict.fromkeys(parents)),
                rationale=_checked_rationale(proposal),
                item_ids=self._checked_items(proposal.item_ids),
                repeats=_checked_repeats(proposal),
                metadata=_checked_metadata(proposal),
            )
        except _Refusal as refusal:
            return Refused(
                index=index,
                reason=refusal.reason,
                message=str(refusal),
                configuration_hash=_hash_of(proposal),
            )

    def _checked_items(self, item_ids: Sequence[str] | None) -> tuple[str, ...] | None:
        if item_ids is None:
            return None
        checked = _checked_ids("item_ids", item_ids)
        unknown = [item for item in checked if item not in self._item_ids]
        if unknown or not checked:
            raise _Refusal(
                ReasonCode.UNKNOWN_ITEM,
                f"the item {unknown[0]!r} is in neither the train nor the validation split"
                if unknown
                else "its list of items is empty",
            )
        return tuple(sorted(set(checked)))


def _without_duplicates(
    checked: Sequence[Accepted | Refused],
    is_seen: Callable[[str, tuple[str, ...] | None], bool],
) -> tuple[list[Accepted], list[Refused]]:
    accepted: list[Accepted] = []
    refused: list[Refused] = []
    taken: set[tuple[str, tuple[str, ...] | None]] = set()
    for one in checked:
        if isinstance(one, Refused):
            refused.append(one)
            continue
        key = (one.configuration.hash, one.run_key)
        if key in taken or is_seen(*key):
            message = "the same configuration was already run on the same items"
            refused.append(
                Refused(
                    index=one.index,
                    reason=ReasonCode.DUPLICATE,
                    message=message,
                    configuration_hash=one.configuration.hash,
                )
            )
        else:
            taken.add(key)
            accepted.append(one)
    return accepted, refused


def _checked_ids(name: str, value: Any) -> tuple[str, ...]:
    listed = isinstance(value, Collection) and not isinstance(value, (str, bytes, Mapping))
    if not listed or not all(isinstance(one, str) for one in value):
        raise _Refusal(
            ReasonCode.INVALID_CONFIGURATION, f"its {name} are {value!r}, not a list of ids"
        )
    return tuple(value)


def _checked_rationale(proposal: CandidateProposal) -> str | None:
    value: Any = proposal.rationale
    if value is not None and not isinstance(value, str):
        raise _Refusal(
            ReasonCode.INVALID_CONFIGURATION,
            f"its rationale is a {type(value).__name__}, not text",
        )
    return value


def _checked_repeats(proposal: CandidateProposal) -> int | None:
    repeats = proposal.repeats
    if repeats is None:
        return None
    whole = isinstance(repeats, int) and not isinstance(repeats, bool)
    if proposal.item_ids is None or not whole or repeats < 1:
        raise _Refusal(
            ReasonCode.INVALID_CONFIGURATION,
            f"it asks for {repeats!r} repeats; only a mini-batch may, for a whole number from 1 up",
        )
    return repeats


def _checked_metadata(proposal: CandidateProposal) -> dict[str, Json]:
    value: Any = proposal.metadata
    try:
        checked = require_json(value, where="metadata")
    except (UsageError, RecursionError) as error:
        why = error.why if isinstance(error, UsageError) else "it is nested too deeply"
        raise _Refusal(
            ReasonCode.INVALID_CONFIGURATION, f"its metadata is not JSON: {why}"
        ) from error
    if not isinstance(checked, dict):
        raise _Refusal(
            ReasonCode.INVALID_CONFIGURATION,
            f"its metadata is a {type(value).__name__}, not an object",
        )
    return checked


def _configuration(proposal: CandidateProposal) -> Configuration:
    value: Any = proposal.configuration
    try:
        configuration = Configuration.of(value)
        _ = configuration.hash  # hashed here, off the loop, and refused where it cannot be stored
    except RecursionError as error:
        raise _Refusal(
            ReasonCode.INVALID_CONFIGURATION, "its configuration is nested too deeply"
        ) from error
    except UsageError as error:
        known = {code.value for code in ReasonCode}
        reason = ReasonCode(error.code) if error.code in known else ReasonCode.INVALID_CONFIGURATION
        raise _Refusal(reason, f"{error.what}: {error.why}") from error
    return configuration


def _hash_of(proposal: CandidateProposal) -> str | None:
    value = proposal.configuration
    try:
        return Configuration.of(value).hash if isinstance(value, (Configuration, Mapping)) else None
    except (BurnishError, RecursionError):
        return None
