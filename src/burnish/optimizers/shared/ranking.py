"""Trials in the order of their scores."""

from __future__ import annotations

from burnish.domain import TrialHistory, TrialResult


def ranked(history: TrialHistory) -> list[TrialResult]:
    """Trials that ran to their end, best first; of equal ones the earlier first."""
    scored = [one for one in history.trials if one.counts and one.objective_score is not None]
    number = {one.candidate_id: history.candidate(one.candidate_id).number for one in scored}
    return sorted(scored, key=lambda one: (-(one.objective_score or 0.0), number[one.candidate_id]))
