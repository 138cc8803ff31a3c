"""When an output is refined no further: pure rules over its latest round."""

from __future__ import annotations

from burnish.domain import Round, RoundEnd
from burnish.domain.refinement import PERFECT_SCORE, SLACK
from burnish.evaluation.refine.policy import RefinePolicy
from burnish.evaluation.scorers import JUDGE_UNAVAILABLE

Ending = tuple[RoundEnd, str]


def ending_of(latest: Round, policy: RefinePolicy) -> Ending | None:
    """Why the round is the last one; None when another may follow.

    The threshold is looked at after every evaluation, the first included, and before the limit: an
    output that became good enough in its last round ended because of that.
    """
    if not latest.judged:
        return _without_verdict(latest)
    score, threshold = latest.score, policy.threshold
    if threshold is not None and score >= threshold - SLACK:
        return RoundEnd.THRESHOLD, f"{score:g} is at least the threshold {threshold:g}"
    if score >= PERFECT_SCORE - SLACK:
        return RoundEnd.PERFECT, f"{score:g} is a perfect score"
    if latest.number >= policy.limit:
        times = "once" if policy.limit == 1 else f"{policy.limit} times"
        return RoundEnd.LIMIT, f"it was refined {times}, which is the limit"
    return None


def _without_verdict(latest: Round) -> Ending:
    outside = any((one.error or "").startswith(JUDGE_UNAVAILABLE) for one in latest.scores)
    end = RoundEnd.JUDGE_UNAVAILABLE if outside else RoundEnd.EVALUATION_FAILED
    return end, latest.error or ""
