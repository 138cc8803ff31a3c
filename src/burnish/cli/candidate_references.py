"""How people name a candidate: its id, its number, `baseline` or `best`."""

from __future__ import annotations

from collections.abc import Sequence

from burnish.domain import Candidate, OptimizationRecord, UsageError

BASELINE = "baseline"
BEST = "best"


def find_candidate(
    record: OptimizationRecord, candidates: Sequence[Candidate], reference: str
) -> Candidate:
    """The candidate that is meant; UsageError when there is none."""
    wanted = reference.strip().lower()
    if not candidates:
        raise _unknown("the optimization has no candidates yet", f"`burnish resume {record.id}`")
    if wanted == BASELINE:
        return candidates[0]
    if wanted == BEST:
        return _best(record, candidates)
    for candidate in candidates:
        if wanted in (candidate.id, str(candidate.number), f"#{candidate.number}"):
            return candidate
    raise _unknown(
        f"{reference!r} is none of its candidates",
        f"use baseline, best, or a number from 0 to {candidates[-1].number}; "
        f"`burnish show {record.id} --trials` lists them",
    )


def _best(record: OptimizationRecord, candidates: Sequence[Candidate]) -> Candidate:
    for candidate in candidates:
        if candidate.id == record.best_candidate_id:
            return candidate
    raise _unknown("no trial has been scored yet", "wait for the baseline, or name one by number")


def _unknown(why: str, fix: str) -> UsageError:
    return UsageError(what="the candidate cannot be found", why=why, fix=fix, code="not_found")
