"""Choice of the winner in `gepa`: where results turn by luck, the finalists are run again."""

from __future__ import annotations

from burnish.optimizers.gepa.evidence import Known
from burnish.optimizers.gepa.step_view import Move, StepView

# A part of the budget is kept to run the finalists again.
FINALS_SHARE = 0.15
_FINALISTS = 4
_PROBED = 16
_MOST_RUNS = 8


class Finals:
    """Repeats of the best trials, paid from a part of the budget that is kept for them."""

    def __init__(self, view: StepView, reserve: int) -> None:
        self._view = view
        self._reserve = reserve

    def is_due(self) -> bool:
        """Whether what is left is what was kept for this."""
        view = self._view
        return view.left <= self._reserve and len(view.evidence.trialed) > 1

    def closing(self) -> list[Move]:
        """What a search that has had enough still runs: no more than what was kept for this."""
        evidence = self._view.evidence
        if len(evidence.trialed) < 2:
            return []
        again = sum(
            max(len(runs) - self._view.items.repeats, 0)
            for one in evidence.known.values()
            for runs in one.repeats.values()
        )
        left = max(self._reserve, round(FINALS_SHARE * evidence.evaluations)) - again
        return [move for move in self.moves()[:1] if move.cost <= left]

    def moves(self) -> list[Move]:
        """A probe whether results turn by luck; if they do, repeats of those who may be best."""
        view = self._view
        noisy = self.is_noisy()
        if noisy is None:
            best = view.evidence.best
            ran = [one for one in view.items.validation if one in best.results]
            # What failed by luck is the surest to turn.
            return self._again([best], sorted(ran, key=lambda one: not best.weak(one))[:_PROBED])
        if not noisy:
            return []
        finalists = self._finalists()
        fewest = min(map(self._runs, finalists))
        if fewest >= _MOST_RUNS:
            return []
        behind = [one for one in finalists if self._runs(one) == fewest]
        return self._again(behind, list(view.items.validation))

    def is_noisy(self) -> bool | None:
        """Whether equal runs ended differently; None while nothing was run twice."""
        again = [
            runs
            for one in self._view.evidence.known.values()
            for runs in one.repeats.values()
            if len(runs) > 1
        ]
        return any(len(set(runs)) > 1 for runs in again) if again else None

    def winner(self) -> Known | None:
        """Where results turn by luck, the best by all that is known; None leaves it to the scores."""
        evidence = self._view.evidence
        tried = [one for one in evidence.trialed if one is not evidence.baseline]
        return max(tried, key=evidence.promise) if tried and self.is_noisy() else None

    def _finalists(self) -> list[Known]:
        """The best by their trials and the best by all evidence, in turn."""
        evidence = self._view.evidence
        orders = [
            sorted(evidence.trialed, key=lambda one: (-worth(one), one.candidate.number))
            for worth in (_score, evidence.promise)
        ]
        mixed = {one.id: one for pair in zip(*orders, strict=True) for one in pair}
        return list(mixed.values())[:_FINALISTS]

    def _runs(self, one: Known) -> int:
        """How often it ran all of the validation items."""
        return min(
            (len(one.repeats.get(item, ())) for item in self._view.items.validation), default=0
        )

    def _again(self, many: list[Known], items: list[str]) -> list[Move]:
        view, found = self._view, []
        left = view.left
        for one in many:
            runs = min((len(one.repeats.get(item, ())) for item in items), default=0) + 1
            cost = sum(max(runs - len(one.repeats.get(item, ())), 0) for item in items)
            if cost <= left and cost:
                left -= cost
                found.append(
                    Move(
                        configuration=one.candidate.configuration,
                        parents=(),
                        items=tuple(items),
                        cost=cost,
                        repeats=runs,
                    )
                )
        return found


def _score(one: Known) -> float:
    return one.trial_score or 0.0
