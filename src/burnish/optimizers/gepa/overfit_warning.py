"""Says when what was found seems to be learnt by heart: it mends training items and few others."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from burnish.optimizers.gepa.overfit import overfit_alarm, paired_gains
from burnish.optimizers.gepa.step_context import Desk
from burnish.optimizers.shared.evidence import Known

# Rules that are still missing part train and validation too, so a smaller gap says nothing.
_LOST = 0.5
_LEAST_GAP = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """A candidate that rings, and what the test says."""

    number: int
    message: str

    @property
    def in_full(self) -> str:
        """With the conclusion."""
        return f"overfit alarm for candidate {self.number}: {self.message}"

    @property
    def in_short(self) -> str:
        """The figures alone, as a sentence."""
        return f"Overfit alarm: candidate {self.number}{self.message.partition(':')[0][2:]}."


def overfit(desk: Desk) -> Alarm | None:
    """The alarm of the best trial, else of the latest one."""
    tried = [one for one in desk.evidence.trialed if one is not desk.evidence.baseline]
    if not tried or not desk.items.train:
        return None
    best = max(tried, key=lambda one: (one.trial_score or 0.0, -one.candidate.number))
    for one in dict.fromkeys([best.candidate.id, tried[-1].candidate.id]):
        message = _rings(desk, desk.evidence.known[one])
        if message is not None:
            return Alarm(number=desk.evidence.known[one].candidate.number, message=message)
    return None


def _rings(desk: Desk, one: Known) -> str | None:
    train = frozenset(desk.items.train)
    baseline = desk.evidence.baseline.results
    scores = {item: result.score for item, result in one.results.items() if item not in train}
    before = {item: result.score for item, result in baseline.items()}
    gained = paired_gains(_train_scores(desk, one), before)
    if not gained:
        return None
    gap = max(_LEAST_GAP, _LOST * fmean(gained))
    return overfit_alarm(gained, paired_gains(scores, before), least_gap=gap)


def _train_scores(desk: Desk, one: Known) -> dict[str, float]:
    """Its own scores; else those of the lines that it was joined from; else its ancestors'."""
    joined = desk.mended_by_lines(one)
    found: dict[str, float] = {}
    for item in desk.items.train:
        last = desk.evidence.last_result(one.candidate.id, item)
        if item in one.results:
            found[item] = one.results[item].score
        elif item in joined:
            found[item] = joined[item].score
        elif last is not None:
            found[item] = last.score
    return found
