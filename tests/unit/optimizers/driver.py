"""An optimization in memory: propose, validate, score by a world, observe, until it ends."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from burnish.domain import (
    AgentOutput,
    Candidate,
    Configuration,
    ExperimentStatus,
    ExperimentType,
    Item,
    ItemResult,
    Optimizer,
    OptimizerState,
    RunContext,
    SearchSpace,
    StopDecision,
    TrialResult,
    TrialSummary,
)
from burnish.optimization.racing import Racing
from burnish.optimization.validator import CandidateValidator, Refused

# An item's score and what was said.
World = Callable[[Candidate, str], tuple[float, str]]


class FakeHistory:
    """A TrialHistory over plain lists."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self.tried: Sequence[TrialResult] = tuple(run.trials)
        self.trials = tuple(one for one in self.tried if one.counts)
        self.mini_batches: Sequence[TrialResult] = ()

    def candidate(self, candidate_id: str) -> Candidate:
        return self._run.candidates[candidate_id]

    def item_results(self, candidate_id: str) -> Sequence[ItemResult]:
        return self._run.results[candidate_id]

    def items(self, item_ids: Sequence[str]) -> Sequence[Item]:
        return [self._run.items[one] for one in item_ids]

    async def load_item_results(self, candidate_id: str) -> Sequence[ItemResult]:
        return self.item_results(candidate_id)

    async def load_items(self, item_ids: Sequence[str]) -> Sequence[Item]:
        return self.items(item_ids)


@dataclass
class Run:
    """One optimization; after `go` it holds all that happened."""

    optimizer: Optimizer
    baseline: Configuration
    world: World
    labels: tuple[str, ...] = ()
    space: SearchSpace = field(default_factory=SearchSpace)
    splits: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: {"validation": tuple(f"v{i:02}" for i in range(88))}
    )
    items: Mapping[str, Item] = field(default_factory=dict)
    seed: int = 1
    places: int = 4
    racing: Racing = field(default_factory=Racing)
    # Candidates before this number have no metadata, as in a run that an older version began.
    metadata_from: int = 0

    candidates: dict[str, Candidate] = field(default_factory=dict)
    trials: list[TrialResult] = field(default_factory=list)
    results: dict[str, list[ItemResult]] = field(default_factory=dict)
    refused: list[Refused] = field(default_factory=list)
    states: list[OptimizerState] = field(default_factory=list)
    decision: StopDecision | None = None
    evaluations: int = 0

    def go(self, *, max_trials: int = 20, max_evaluations: int | None = None) -> Run:
        self.start()
        while len(self.trials) <= max_trials:
            left = None if max_evaluations is None else max_evaluations - self.evaluations
            if left is not None and left < len(self.splits["validation"]):
                break
            if not self.step(max_trials):
                break
        return self

    def go_one_by_one(self, *, max_trials: int = 20) -> Run:
        """As in asynchronous mode: each place is filled as soon as it is free."""
        self.start()
        running: list[Candidate] = []
        while len(self.trials) <= max_trials:
            running += self.propose(self.places - len(running))
            if not running:
                break
            trial = self._run_trial(running.pop(0), self.best.candidate_id)
            self._keep(self.optimizer.observe(self.state, [trial]))
        return self

    def start(self) -> None:
        baseline = Candidate(
            id="c-0", optimization_id="o", number=0, step_index=0, configuration=self.baseline
        )
        self.candidates[baseline.id] = baseline
        self._run_trial(baseline, incumbent=None)
        self._keep(self.optimizer.initialize(self.context()))

    def step(self, max_trials: int) -> bool:
        """One generation; False when the optimizer is done."""
        self.decision = self.optimizer.should_stop(self.state, FakeHistory(self))
        if self.decision.should_stop:
            return False
        places = min(self.places, max_trials + 1 - len(self.trials))
        if places <= 0:
            return False
        accepted = self.propose(places)
        if not accepted:
            return False
        incumbent = self.best.candidate_id
        done = [self._run_trial(one, incumbent) for one in accepted]
        self._keep(self.optimizer.observe(self.state, done))
        return True

    def propose(self, places: int) -> list[Candidate]:
        proposals = self.optimizer.propose(self.state, FakeHistory(self), places)
        validator = CandidateValidator(
            baseline=self.baseline, space=self.space, item_ids=self.splits["validation"]
        )
        seen = {one.configuration.hash for one in self.candidates.values()}
        accepted, refused = asyncio.run(
            validator.validate(
                proposals,
                known_candidates=self.candidates.keys(),
                is_seen=lambda digest, _: digest in seen,
                limit=places,
            )
        )
        self.refused += refused
        made = []
        for one in accepted:
            number = len(self.candidates)
            steps = [self.candidates[parent].step_index for parent in one.parent_candidate_ids]
            candidate = Candidate(
                id=f"c-{number}",
                optimization_id="o",
                number=number,
                step_index=max(steps, default=0) + 1,
                configuration=one.configuration,
                parent_candidate_ids=one.parent_candidate_ids,
                rationale=one.rationale,
                metadata={} if number < self.metadata_from else one.metadata,
            )
            self.candidates[candidate.id] = candidate
            made.append(candidate)
        return made

    @property
    def state(self) -> OptimizerState:
        return self.states[-1]

    @property
    def best(self) -> TrialResult:
        counted = [one for one in self.trials if one.counts]
        return max(counted, key=lambda one: one.objective_score)

    @property
    def best_candidate(self) -> Candidate:
        return self.candidates[self.best.candidate_id]

    def context(self) -> RunContext:
        return RunContext(
            optimization_id="o",
            evaluation_suite_id="s",
            objective_name="score",
            baseline_candidate_id="c-0",
            baseline_score=self.trials[0].objective_score,
            max_candidates_per_step=self.places,
            baseline=self.baseline,
            space=self.space,
            splits=self.splits,
            seed=self.seed,
            labels=self.labels,
            placeholders=self.baseline.placeholders,
        )

    def _keep(self, state: OptimizerState) -> None:
        """Through JSON with sorted keys, as a database may give it back."""
        text = json.dumps(state.to_json(), allow_nan=False, sort_keys=True)
        self.states.append(OptimizerState.of(json.loads(text)))

    def _run_trial(self, candidate: Candidate, incumbent: str | None) -> TrialResult:
        order = self.racing.blocks(self.splits["validation"], seed=self.seed)
        every = [item for block in order for item in block]
        rival = {one.item_id: one.score for one in self.results.get(incumbent or "", ())}
        found: dict[str, ItemResult] = {}
        status = ExperimentStatus.COMPLETED
        for block in order:
            for item in block:
                score, text = self.world(candidate, item)
                found[item] = ItemResult(
                    item_id=item,
                    item_hash=item,
                    repeat=0,
                    score=score,
                    passed=score >= 1,
                    output=AgentOutput(text=text),
                )
            scores = {item: one.score for item, one in found.items()}
            if incumbent and self.racing.ended({"": scores}, rival, order=every):
                status = ExperimentStatus.PRUNED
                break
        return self._record(candidate, list(found.values()), status)

    def _record(
        self, candidate: Candidate, results: list[ItemResult], status: ExperimentStatus
    ) -> TrialResult:
        self.evaluations += len(results)
        passed = sum(1 for one in results if one.passed)
        trial = TrialResult(
            optimization_id="o",
            candidate_id=candidate.id,
            mask_id="m",
            experiment_id=f"e-{candidate.number}",
            status=status,
            objective_score=sum(one.score for one in results) / len(results),
            summary=TrialSummary(
                total_items=len(results),
                passed_items=passed,
                failed_items=len(results) - passed,
                pass_rate=passed / len(results),
                total_cost=None,
                avg_latency_ms=None,
                avg_ttft_ms=None,
            ),
            type=ExperimentType.TRIAL,
        )
        self.trials.append(trial)
        self.results[candidate.id] = results
        return trial
