"""A Run for optimizers that ask models and look at mini-batches.

Every call goes to a new optimizer object, so whatever it keeps beside the state is lost.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from driver import FakeHistory, Run

from burnish.domain import (
    AgentOutput,
    Candidate,
    CandidateProposal,
    ExperimentStatus,
    ExperimentType,
    Item,
    ItemResult,
    OptimizerState,
    Proposed,
    Score,
    TrialResult,
)
from burnish.models import as_model
from burnish.optimization.validator import Accepted, CandidateValidator


class AskingHistory(FakeHistory):
    """With mini-batches and a budget."""

    def __init__(self, run: AskingRun) -> None:
        super().__init__(run)
        self.mini_batches = tuple(run.batches)
        self.evaluations_left = run.evaluations_left


@dataclass
class AskingRun(Run):
    """`optimizer` is a function that makes one, for each call anew."""

    evaluations_left: int | None = None
    batches: list[TrialResult] = field(default_factory=list)
    ran: set[tuple[str, tuple[str, ...] | None]] = field(default_factory=set)
    feedback: Callable[[Candidate, str], str] = lambda candidate, item: ""

    def __post_init__(self) -> None:
        self.optimizer = _Forgetful(self.optimizer)

    def step(self, max_trials: int) -> bool:
        self.decision = self.optimizer.should_stop(self.state, AskingHistory(self))
        if self.decision.should_stop:
            return False
        places = min(self.places, max_trials + 1 - len(self.trials))
        before = self.state
        accepted = self.accept(places) if places > 0 else []
        if not accepted and self.state == before:
            return False
        incumbent = self.best.candidate_id
        done = [
            self._run_trial(candidate, incumbent)
            if one.item_ids is None
            else self._run_batch(candidate, one.item_ids, one.repeats)
            for candidate, one in accepted
        ]
        self._keep(self.optimizer.observe(self.state, done))
        return True

    def proposals(self, places: int) -> list[CandidateProposal]:
        """What is proposed; a state that comes along is kept with the step."""
        made = self.optimizer.propose(self.state, AskingHistory(self), places)
        if isinstance(made, Proposed):
            self._keep(made.state)
            made = made.proposals
        return list(made)

    def accept(self, places: int) -> list[tuple[Candidate, Accepted]]:
        allowed = {*self.splits["validation"], *self.splits.get("train", ())}
        validator = CandidateValidator(
            baseline=self.baseline, space=self.space, item_ids=sorted(allowed)
        )
        by_hash = {one.configuration.hash: one for one in self.candidates.values()}
        ran = {one.candidate_id for one in self.trials}
        accepted, refused = asyncio.run(
            validator.validate(
                self.proposals(places),
                known_candidates=self.candidates.keys(),
                is_seen=lambda digest, items: (
                    (digest, items) in self.ran
                    or (items is None and digest in by_hash and by_hash[digest].id in ran)
                ),
                limit=places,
            )
        )
        self.refused += refused
        self.ran.update((one.configuration.hash, one.run_key) for one in accepted)
        return [(self._candidate(one, by_hash), one) for one in accepted]

    def _candidate(self, accepted, by_hash) -> Candidate:
        known = by_hash.get(accepted.configuration.hash)
        if known is not None:
            return known
        number = len(self.candidates)
        steps = [self.candidates[parent].step_index for parent in accepted.parent_candidate_ids]
        candidate = Candidate(
            id=f"c-{number}",
            optimization_id="o",
            number=number,
            step_index=max(steps, default=0) + 1,
            configuration=accepted.configuration,
            parent_candidate_ids=accepted.parent_candidate_ids,
            rationale=accepted.rationale,
            metadata={} if number < self.metadata_from else accepted.metadata,
        )
        self.candidates[candidate.id] = candidate
        return candidate

    def _run_batch(
        self, candidate: Candidate, item_ids: tuple[str, ...], repeats: int | None
    ) -> TrialResult:
        kept = [one for one in self.results.get(candidate.id, ()) if one.item_id not in item_ids]
        results = [self._result(candidate, item) for item in item_ids]
        trial = self._record(candidate, results, ExperimentStatus.COMPLETED)
        self.trials.pop()
        self.results[candidate.id] = [*kept, *results]
        batch = replace(trial, type=ExperimentType.MINI_BATCH)
        self.batches.append(batch)
        return batch

    def _result(self, candidate: Candidate, item: str) -> ItemResult:
        score, text = self.world(candidate, item)
        reason = self.feedback(candidate, item)
        return ItemResult(
            item_id=item,
            item_hash=item,
            repeat=0,
            score=score,
            passed=score >= 1,
            output=AgentOutput(text=text),
            scores=(Score(score, reason),),
        )


class _Forgetful:
    """An optimizer that is another object for every call; async methods are run to their end."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self.name = make().name

    def initialize(self, context) -> OptimizerState:
        return self._call("initialize", context)

    def propose(self, *arguments):
        return self._call("propose", *arguments)

    def observe(self, *arguments) -> OptimizerState:
        return self._call("observe", *arguments)

    def should_stop(self, *arguments):
        return self._call("should_stop", *arguments)

    def _call(self, method: str, *arguments):
        async def run():
            optimizer = self._make()
            if hasattr(optimizer, "connect"):
                optimizer.connect(as_model)
            answer = getattr(optimizer, method)(*arguments)
            return await answer if inspect.isawaitable(answer) else answer

        return asyncio.run(run())


def rows(split: str, count: int, **fields) -> dict[str, Item]:
    """Items such as `t00`, `v00` with fields made by functions of their number."""
    found = {}
    for number in range(count):
        identity = f"{split[0]}{number:02}"
        data = {name: make(number) for name, make in fields.items()}
        found[identity] = Item(id=identity, data=data, split=split)
    return found
