"""Training items looked at: a mini-batch of a candidate, and what it got wrong there."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from burnish.domain import CandidateProposal, OptimizerState, RunContext, TrialHistory
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.reflection import Shown
from burnish.optimizers.shared.search_status import HistorySearch, first_state
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.trial_reading import is_weak

# At most this many training items are remembered, so that the state stays small.
_MOST_ITEMS = 256


def train_items(context: RunContext) -> list[str]:
    """The training items that a run may look at, for `algorithm_data`."""
    train = sorted(context.splits.get("train", ()))
    if len(train) > _MOST_ITEMS:
        train = sorted(generator(context.seed, "pool").sample(train, _MOST_ITEMS))
    return train


class TrainingSearch(HistorySearch):
    """Base of optimizers that look at training items."""

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts and the training items."""
        return first_state(context, train=train_items(context))


def looked_at(history: TrialHistory) -> set[str]:
    """Candidates that have had a mini-batch, whatever came of it."""
    return {one.candidate_id for one in history.mini_batches}


def evaluations_to_spare(history: TrialHistory) -> int | None:
    """How many evaluations leave enough for one trial; None without a limit."""
    left = history.evaluations_left
    trial = history.trials[0].summary.total_items if history.trials else 0
    return None if left is None else max(left - trial, 0)


def look(
    history: TrialHistory, candidate_id: str, item_ids: Sequence[str], says: str
) -> CandidateProposal:
    """A candidate once more, on training items."""
    candidate = history.candidate(candidate_id)
    return CandidateProposal(
        configuration=candidate.configuration,
        parent_candidate_ids=candidate.parent_candidate_ids,
        rationale=says,
        item_ids=tuple(item_ids),
    )


def look_at_best(
    state: OptimizerState, history: TrialHistory, size: int
) -> list[CandidateProposal]:
    """The best on some training items, unless it was looked at; a trial can follow."""
    train: Sequence[str] = state.algorithm_data["train"]
    best = str(state.best_candidate_id)
    spare = evaluations_to_spare(history)
    size = min(size, len(train), len(train) if spare is None else spare)
    if size <= 0 or best in looked_at(history):
        return []
    # By number: ids differ between runs.
    chance = generator(RunFacts.within(state).seed, "look", history.candidate(best).number)
    return [look(history, best, sorted(chance.sample(list(train), size)), "See what fails.")]


def reader(state: OptimizerState, history: TrialHistory) -> str:
    """Whose results are read: the best's, or of those that were looked at the best.

    Without any look that is the best, with its trial.
    """
    best = str(state.best_candidate_id)
    looked = looked_at(history)
    if best in looked or not looked:
        return best
    scores: Mapping[str, float] = {
        one.candidate_id: one.objective_score
        for one in history.trials
        if one.counts and one.objective_score is not None
    }
    in_order = sorted(looked, key=lambda one: history.candidate(one).number)
    return max(in_order, key=lambda one: scores.get(one, float("-inf")))


async def failures_of(
    history: TrialHistory, candidate_id: str, train: Sequence[str]
) -> list[Shown]:
    """What a candidate failed, each item once: training items if it ran any, else all."""
    results = {one.item_id: one for one in await history.load_item_results(candidate_id)}
    ran = [one for one in train if one in results] or sorted(results)
    weak = [one for one in ran if is_weak(results[one])]
    items = await history.load_items(weak)
    return [Shown(item=item, result=results[item.id]) for item in items]


def some(shown: Sequence[Shown], count: int, chance: random.Random) -> list[Shown]:
    """A few of them in random order."""
    return chance.sample(list(shown), min(count, len(shown)))
