"""Refine loop: the rounds of one output, what is kept of them, and when they end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace

from burnish.domain import (
    AgentOutput,
    AnswerChoice,
    ErrorKind,
    Item,
    ItemError,
    ItemResult,
    Purpose,
    Refinement,
    Round,
    RoundEnd,
    Score,
    Spending,
)
from burnish.domain.experiments.refinement import PERFECT_SCORE, SLACK
from burnish.evaluation.refine.policy import RefinePolicy
from burnish.evaluation.refine.refiner import Refiner, RefinerFailedError, Revision
from burnish.evaluation.scorers.judge_calls import JUDGE_UNAVAILABLE
from burnish.evaluation.scorers.scorer_set import ScorerSet

_LONGEST_REASON = 1_000
_LONGEST_OUTPUT = 2_000
Keep = Callable[[Round], Awaitable[None]]
# Told what a round cost; False when nothing more may be paid for.
Pay = Callable[[Spending], bool]
Ending = tuple[RoundEnd, str]


@dataclass(slots=True)
class RoundTally:
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
    def of(cls, rounds: Sequence[Round]) -> RoundTally:
        """After some rounds, one at least."""
        first = rounds[0]
        tally = cls(first, first, first, first, first.spending)
        for one in rounds[1:]:
            tally.add(one)
        return tally

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

    def charge(self, spending: Spending) -> None:
        """Count what was paid after the last round for one that never came."""
        self.last = replace(self.last, spending=self.last.spending + spending)
        self.spending = self.spending + spending

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
            first_output="" if last.number == 0 else self.first.output.text[:_LONGEST_OUTPUT],
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


async def _forget(_: Round) -> None:
    """Rounds that nobody wants to keep."""


@dataclass(frozen=True, slots=True, eq=False)
class RefineLoop:
    """Refines outputs, each on its own. `writer` is who wrote the first output, for its record."""

    scorers: ScorerSet
    refiner: Refiner
    policy: RefinePolicy
    _: KW_ONLY
    pass_threshold: float | None = None
    writer: str = ""

    async def run(
        self,
        item: Item,
        first: ItemResult,
        *,
        keep: Keep = _forget,
        pay: Pay = lambda _: True,
    ) -> ItemResult:
        """Refine an output that was judged once. Without an output there is nothing to refine.

        `keep` gets each round once it is complete, the last of them with its ending.
        """
        if first.output is None:
            pay(first.spending)
            return first
        tally = RoundTally.of([self._first_round(first)])
        return await self._go_on(item, tally, first, keep, pay)

    async def resume(
        self,
        item: Item,
        rounds: Sequence[Round],
        *,
        keep: Keep = _forget,
        pay: Pay = lambda _: True,
    ) -> ItemResult:
        """Go on after the last of the rounds, which were kept before."""
        tally = RoundTally.of(rounds)
        if tally.last.ended is not None:
            pay(tally.spending)
            return tally.result(self.policy, None)
        return await self._go_on(item, tally, None, keep, pay)

    async def _go_on(
        self, item: Item, tally: RoundTally, first: ItemResult | None, keep: Keep, pay: Pay
    ) -> ItemResult:
        affordable = pay(tally.spending)
        kept = first is None
        while (ending := ending_of(tally.last, self.policy)) is None:
            if not affordable:
                ending = RoundEnd.BUDGET, "the budget is spent"
                break
            if not kept:
                await keep(tally.last)
            kept = False
            try:
                revision = await self.refiner.revise(tally.latest, item)
            except RefinerFailedError as error:
                ending = RoundEnd.OPTIMIZER_UNAVAILABLE, str(error)
                if error.usage.calls:
                    wasted = Spending.on(Purpose.REFINE, error.usage)
                    tally.charge(wasted)
                    pay(wasted)
                break
            tally.add(await self._judged(revision, tally.last, item))
            affordable = pay(tally.last.spending)
        await keep(tally.end(*ending))
        return tally.result(self.policy, None if first is None else first.error)

    async def _judged(self, revision: Revision, before: Round, item: Item) -> Round:
        """The next round: whatever was written is judged, also when it is empty or broken."""
        output = revision.output
        scores = await self.scorers.score_all(output, item)
        return Round(
            item_id=before.item_id,
            item_hash=before.item_hash,
            repeat=before.repeat,
            number=before.number + 1,
            output=_kept(output),
            score=self.scorers.objective(scores),
            passed=self.scorers.passed(scores, self.pass_threshold),
            scores=self._settled(scores),
            model=self.refiner.name,
            spending=Spending.sum([output.spending, *(one.spending for one in scores)]),
            reused=output.reused,
            latency_ms=revision.latency_ms,
            cached=revision.cached,
        )

    def _settled(self, scores: Sequence[Score]) -> tuple[Score, ...]:
        """The scores of a round. An error of a scorer that decides nothing is only told."""
        counting = self.scorers.deciding(scores)
        return tuple(
            replace(one, spending=Spending(), error=one.error if one in counting else None)
            for one in scores
        )

    def _first_round(self, first: ItemResult) -> Round:
        assert first.output is not None
        return Round(
            item_id=first.item_id,
            item_hash=first.item_hash,
            repeat=first.repeat,
            number=0,
            output=_kept(first.output),
            score=first.score,
            passed=first.passed,
            scores=self._settled(first.scores),
            model=self.writer,
            spending=first.spending,
            reused=first.reused,
            latency_ms=first.latency_ms,
            cached=first.cached,
        )


def _kept(output: AgentOutput) -> AgentOutput:
    """What is stored of an output: its cost is the round's."""
    return AgentOutput.of(output.to_json())


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
