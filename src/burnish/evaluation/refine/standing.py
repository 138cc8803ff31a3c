"""How far the rounds of one output have come: what is kept in memory of them, however many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from burnish.domain import (
    AnswerChoice,
    ErrorKind,
    ItemError,
    ItemResult,
    Refinement,
    Round,
    RoundEnd,
    Spending,
)
from burnish.domain.refinement import SLACK
from burnish.evaluation.refine.policy import RefinePolicy

_LONGEST_REASON = 1_000


@dataclass(slots=True)
class Standing:
    """The first, the latest and the best round, and what all of them cost.

    `latest` and `best` are rounds with a verdict, as long as there is one; of equals the earlier is
    best. `last` is the one that came last, judged or not.
    """

    first: Round
    latest: Round
    best: Round
    last: Round
    spending: Spending

    @classmethod
    def of(cls, rounds: Sequence[Round]) -> Standing:
        """After some rounds, one at least."""
        first = rounds[0]
        standing = cls(first, first, first, first, first.spending)
        for one in rounds[1:]:
            standing.add(one)
        return standing

    def add(self, one: Round) -> None:
        """One more round."""
        self.last = one
        self.spending = self.spending + one.spending
        if one.judged:
            self.latest = one
            if one.score > self.best.score + SLACK or not self.best.judged:
                self.best = one

    def end(self, ended: RoundEnd, why: str) -> Round:
        """The last round, with why it is that."""
        self.last = replace(self.last, ended=ended, ended_why=why)
        return self.last

    def answer(self, choice: AnswerChoice) -> Round:
        """The round that counts."""
        return self.best if choice is AnswerChoice.BEST else self.latest

    def result(self, policy: RefinePolicy, error: ItemError | None) -> ItemResult:
        """The item's result. An error is only that of an output that was never judged."""
        first, chosen = self.first, self.answer(policy.answer)
        return ItemResult(
            item_id=first.item_id,
            item_hash=first.item_hash,
            repeat=first.repeat,
            score=chosen.score,
            passed=chosen.passed,
            output=chosen.output,
            scores=chosen.scores,
            error=None if chosen.judged else error or _error_of(chosen),
            spending=self.spending,
            latency_ms=first.latency_ms,
            cached=first.cached,
            reused=first.reused,
            refinement=self._refinement(policy, chosen),
        )

    def _refinement(self, policy: RefinePolicy, chosen: Round) -> Refinement:
        last = self.last
        assert last.ended is not None
        return Refinement(
            rounds=last.number,
            first_score=self.first.score,
            first_reason=self.first.reason[:_LONGEST_REASON],
            latest_score=self.latest.score,
            best_score=self.best.score,
            best_round=self.best.number,
            answer=policy.answer,
            answer_round=chosen.number,
            target=policy.target,
            ended=last.ended,
            ended_why=last.ended_why,
        )


def _error_of(unjudged: Round) -> ItemError:
    outside = unjudged.ended is RoundEnd.JUDGE_UNAVAILABLE
    kind = ErrorKind.INFRASTRUCTURE if outside else ErrorKind.SCORER
    return ItemError(kind=kind, message=unjudged.error or "")
