"""Judges among a suite's scorers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from burnish.domain import Item, Scorer
from burnish.evaluation.scorers.asserts import Asserts
from burnish.evaluation.scorers.judge import LLMJudge
from burnish.evaluation.scorers.pairwise import PairwiseJudge
from burnish.evaluation.scorers.scorer_set import ScorerSet, Weighted


def judges_in(scorers: Sequence[Scorer]) -> Iterator[LLMJudge]:
    """Every judge, also those within weighted scorers."""
    for scorer in scorers:
        if isinstance(scorer, LLMJudge):
            yield scorer
        elif isinstance(scorer, Weighted):
            yield from judges_in(scorer.parts.scorers)


def pairwise_in(scorers: Sequence[Scorer]) -> Iterator[PairwiseJudge]:
    """Every judge of two outputs, also those within weighted scorers."""
    for scorer in scorers:
        if isinstance(scorer, PairwiseJudge):
            yield scorer
        elif isinstance(scorer, Weighted):
            yield from pairwise_in(scorer.parts.scorers)


def pairwise_metadata(scorers: ScorerSet) -> dict[str, list[str]]:
    """What an experiment keeps of its judges of two outputs: their names, if there are any.

    `against_baseline` says that they alone decide, so that the baseline's own score is 0.5.
    """
    named = list(zip(scorers.names, scorers.scorers, scorers.weights, strict=True))
    pairs = [(name, one, weight) for name, one, weight in named if isinstance(one, PairwiseJudge)]
    if not pairs:
        return {}
    deciding = [name for name, one, weight in pairs if weight and one.reference is None]
    alone = len(deciding) == sum(weight > 0 for weight in scorers.weights)
    return {
        "pairwise": [name for name, _, _ in pairs],
        "against_baseline": deciding if alone else [],
    }


def row_judges(scorers: Sequence[Scorer], item: Item) -> Iterator[LLMJudge]:
    """Judges that only this item asks, by asserts of its own."""
    for scorer in scorers:
        if isinstance(scorer, Asserts):
            yield from scorer.judges_of(item)
        elif isinstance(scorer, Weighted):
            yield from row_judges(scorer.parts.scorers, item)


def deciding_judges(scorers: ScorerSet) -> tuple[LLMJudge, ...]:
    """Judges whose verdict counts: one of weight 0 is reported and decides nothing."""
    found: list[LLMJudge] = []
    for scorer, weight in zip(scorers.scorers, scorers.weights, strict=True):
        if weight > 0 and isinstance(scorer, LLMJudge):
            found.append(scorer)
        elif weight > 0 and isinstance(scorer, Weighted):
            found += deciding_judges(scorer.parts)
    return tuple(found)
