"""The rounds of one output: a wrapper of scoring it once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

from burnish.domain import AgentOutput, Item, ItemResult, Round, RoundEnd, Spending
from burnish.evaluation.refine.endings import ending_of
from burnish.evaluation.refine.policy import RefinePolicy
from burnish.evaluation.refine.refiner import Refiner, RefinerFailedError, Revision
from burnish.evaluation.refine.standing import Standing
from burnish.evaluation.scorers import ScorerSet

Keep = Callable[[Round], Awaitable[None]]
# Told what a round cost; False when nothing more may be paid for.
Pay = Callable[[Spending], bool]


async def _forget(_: Round) -> None:
    """Rounds that nobody wants to keep."""


class RefineLoop:
    """Refines outputs, each on its own. `writer` is who wrote the first output, for its record."""

    def __init__(
        self,
        scorers: ScorerSet,
        refiner: Refiner,
        policy: RefinePolicy,
        *,
        pass_threshold: float = 1.0,
        writer: str = "",
    ) -> None:
        self._scorers = scorers
        self._refiner = refiner
        self._policy = policy
        self._threshold = pass_threshold
        self._writer = writer

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
        standing = Standing.of([self._first_round(first)])
        return await self._go_on(item, standing, first, keep, pay)

    async def resume(
        self,
        item: Item,
        rounds: Sequence[Round],
        *,
        keep: Keep = _forget,
        pay: Pay = lambda _: True,
    ) -> ItemResult:
        """Go on after the last of the rounds, which were kept before."""
        standing = Standing.of(rounds)
        if standing.last.ended is not None:
            pay(standing.spending)
            return standing.result(self._policy, None)
        return await self._go_on(item, standing, None, keep, pay)

    async def _go_on(
        self, item: Item, standing: Standing, first: ItemResult | None, keep: Keep, pay: Pay
    ) -> ItemResult:
        affordable = pay(standing.spending)
        kept = first is None
        while (ending := ending_of(standing.last, self._policy)) is None:
            if not affordable:
                ending = RoundEnd.BUDGET, "the budget is spent"
                break
            if not kept:
                await keep(standing.last)
            kept = False
            try:
                revision = await self._refiner.revise(standing.latest, item)
            except RefinerFailedError as error:
                ending = RoundEnd.OPTIMIZER_UNAVAILABLE, str(error)
                break
            standing.add(await self._judged(revision, standing.last, item))
            affordable = pay(standing.last.spending)
        await keep(standing.end(*ending))
        return standing.result(self._policy, None if first is None else first.error)

    async def _judged(self, revision: Revision, before: Round, item: Item) -> Round:
        """The next round: whatever was written is judged, also when it is empty or broken."""
        output = revision.output
        scores = await self._scorers.score_all(output, item)
        return Round(
            item_id=before.item_id,
            item_hash=before.item_hash,
            repeat=before.repeat,
            number=before.number + 1,
            output=_kept(output),
            score=self._scorers.objective(scores),
            passed=self._scorers.passed(scores, self._threshold),
            scores=tuple(replace(one, spending=Spending()) for one in scores),
            model=self._refiner.name,
            spending=Spending.sum([output.spending, *(one.spending for one in scores)]),
            reused=output.reused,
            latency_ms=revision.latency_ms,
            cached=revision.cached,
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
            scores=tuple(replace(one, spending=Spending()) for one in first.scores),
            model=self._writer,
            spending=first.spending,
            reused=first.reused,
            latency_ms=first.latency_ms,
            cached=first.cached,
        )


def _kept(output: AgentOutput) -> AgentOutput:
    """What is stored of an output: its cost is the round's."""
    return AgentOutput.of(output.to_json())
