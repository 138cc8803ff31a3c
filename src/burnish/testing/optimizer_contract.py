"""Contract for optimizers. Subclass it and provide the fixture `make_optimizer`."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

import pytest

from burnish.domain import (
    AgentOutput,
    Candidate,
    Configuration,
    ExperimentStatus,
    ExperimentType,
    Item,
    ItemResult,
    Model,
    ModelUser,
    Optimizer,
    OptimizerState,
    Proposed,
    ReasonCode,
    RunContext,
    SearchSpace,
    StopDecision,
    TrialResult,
    TrialSummary,
)
from burnish.optimization.validator import Accepted, CandidateValidator, Refused

T = TypeVar("T")
MakeOptimizer = Callable[[], Optimizer]


class OptimizerContract:
    """Provide `make_optimizer`, a function that makes a new optimizer with the same settings.

    Set `baseline`, `space` or `items` where the algorithm needs others, and override `open_model`
    where it asks models. `steps` is how long a run is.
    """

    baseline = Configuration.of(
        {
            "sections": {
                "system": "Route the ticket.\nBe brief.\nName one team only.",
                "user": "Ticket:\n{{ticket}}",
            },
            "parameters": {"temperature": 0.5},
        }
    )
    space = SearchSpace.of({"parameters": {"temperature": {"low": 0, "high": 1}}})
    items = tuple(
        Item(id=f"i{n}", data={"ticket": f"ticket {n}", "label": ("billing", "returns")[n % 2]})
        for n in range(8)
    )
    places = 3
    steps = 6

    @pytest.fixture
    def make_optimizer(self) -> MakeOptimizer:
        """Of the subclass."""
        raise NotImplementedError("provide the fixture make_optimizer")

    def open_model(self, wanted: Any) -> Model:
        """Of the subclass, for an optimizer that asks models."""
        raise NotImplementedError(f"override open_model: the optimizer asks for {wanted!r}")

    @pytest.mark.parametrize("places", [1, 2, 5])
    async def test_every_proposal_can_be_run_and_has_a_place(
        self, make_optimizer: MakeOptimizer, places: int
    ) -> None:
        run = await OptimizerRun(self, make_optimizer, places=places).go()

        refused = [one for one in run.refused if one.reason is not ReasonCode.DUPLICATE]
        assert refused == []
        assert len(run.candidates) > 1, "nothing was ever proposed"

    async def test_the_same_seed_is_the_same_run(self, make_optimizer: MakeOptimizer) -> None:
        first, second = [await OptimizerRun(self, make_optimizer).go() for _ in range(2)]

        assert second.story() == first.story()

    async def test_a_run_killed_before_any_call_goes_on_into_the_same_run(
        self, make_optimizer: MakeOptimizer
    ) -> None:
        whole = await OptimizerRun(self, make_optimizer).go()
        killed = await OptimizerRun(self, make_optimizer, always_new=True).go()

        assert killed.story() == whole.story()

    async def test_the_state_is_json_and_no_call_changes_it(
        self, make_optimizer: MakeOptimizer
    ) -> None:
        run = await OptimizerRun(self, make_optimizer).go()

        for state, text in zip(run.states, run.texts, strict=True):
            assert _text(state) == text, "a call changed a state that it was given"
            assert _text(OptimizerState.of(json.loads(text))) == text

    async def test_asking_twice_is_answered_the_same(self, make_optimizer: MakeOptimizer) -> None:
        run = OptimizerRun(self, make_optimizer)
        await run.start()

        first, second = await run.propose(), await run.propose()

        assert [one.configuration.hash for one in second[0]] == [
            one.configuration.hash for one in first[0]
        ]
        assert await run.decide() == await run.decide()

    async def test_who_stops_says_why(self, make_optimizer: MakeOptimizer) -> None:
        run = await OptimizerRun(self, make_optimizer).go()

        for decision in run.decisions:
            assert isinstance(decision, StopDecision)
            assert decision.should_stop == (decision.reason is not None)


class OptimizerRun:
    """An optimization in memory. An item's score follows from its id and the configuration.

    With `always_new` each call goes to a new optimizer, as after a kill: what is kept is the state.
    """

    def __init__(
        self,
        contract: OptimizerContract,
        make: MakeOptimizer,
        *,
        places: int | None = None,
        always_new: bool = False,
    ) -> None:
        self.candidates: dict[str, Candidate] = {}
        self.trials: list[TrialResult] = []
        self.mini_batches: list[TrialResult] = []
        self.results: dict[str, list[ItemResult]] = {}
        self.refused: list[Refused] = []
        self.decisions: list[StopDecision] = []
        self.states: list[OptimizerState] = []
        self.texts: list[str] = []
        self.items = {item.id: item for item in contract.items}
        self._contract = contract
        self._places = places or contract.places
        self._make = make
        self._always_new = always_new
        self._made: Optimizer | None = None

    async def go(self) -> OptimizerRun:
        """All steps, or fewer when the optimizer has had enough."""
        await self.start()
        for _ in range(self._contract.steps):
            self.decisions.append(await self.decide())
            if self.decisions[-1].should_stop:
                break
            accepted, refused = await self.propose()
            self.refused += refused
            if not accepted:
                break
            done = [self._run(one) for one in accepted]
            self._keep(await _awaited(self._optimizer().observe(self._learnt, done)))
        return self

    async def start(self) -> None:
        """The baseline's trial, and the first state."""
        contract = self._contract
        baseline = self._run(
            Accepted(
                index=0,
                configuration=contract.baseline,
                parent_candidate_ids=(),
                rationale=None,
                item_ids=None,
            )
        )
        context = RunContext(
            optimization_id="o",
            evaluation_suite_id="s",
            objective_name="score",
            baseline_candidate_id=baseline.candidate_id,
            baseline_score=baseline.objective_score or 0.0,
            max_candidates_per_step=self._places,
            baseline=contract.baseline,
            space=contract.space,
            splits={"train": tuple(self.items), "validation": tuple(self.items)},
            seed=7,
            labels=("billing", "returns"),
            placeholders=contract.baseline.placeholders,
        )
        self._keep(await _awaited(self._optimizer().initialize(context)))

    async def propose(self) -> tuple[list[Accepted], list[Refused]]:
        """What a run would do with the next proposals."""
        contract = self._contract
        proposals: Any = await _awaited(
            self._optimizer().propose(self.states[-1], _History(self), self._places)
        )
        self._learnt = self.states[-1]
        if isinstance(proposals, Proposed):
            self._learnt, proposals = proposals.state, proposals.proposals
        known = {one.configuration.hash for one in self.candidates.values()}
        validator = CandidateValidator(
            baseline=contract.baseline, space=contract.space, item_ids=tuple(self.items)
        )
        return await validator.validate(
            proposals,
            known_candidates=self.candidates.keys(),
            is_seen=lambda digest, items: items is None and digest in known,
            limit=self._places,
        )

    async def decide(self) -> StopDecision:
        """Whether the optimizer would stop now."""
        return await _awaited(self._optimizer().should_stop(self.states[-1], _History(self)))

    def story(self) -> list[Any]:
        """All that happened, to be compared."""
        tried = [
            (one.configuration.to_json(), one.parent_candidate_ids, one.rationale, one.metadata)
            for one in self.candidates.values()
        ]
        return [tried, self.texts, self.decisions]

    def _optimizer(self) -> Optimizer:
        if self._made is None or self._always_new:
            self._made = self._make()
            if isinstance(self._made, ModelUser):
                self._made.connect(self._contract.open_model)
        return self._made

    def _keep(self, state: OptimizerState) -> None:
        """Through JSON with sorted keys, as a database may give it back."""
        self.texts.append(_text(state))
        self.states.append(OptimizerState.of(json.loads(self.texts[-1])))

    def _run(self, accepted: Accepted) -> TrialResult:
        candidate = self._candidate(accepted)
        results = [
            _result(candidate, self.items[one]) for one in accepted.item_ids or tuple(self.items)
        ]
        whole = accepted.item_ids is None
        self.results.setdefault(candidate.id, [])
        self.results[candidate.id] += results
        passed = sum(one.passed for one in results)
        done = TrialResult(
            optimization_id="o",
            candidate_id=candidate.id,
            mask_id="m",
            experiment_id=f"e-{len(self.trials)}-{len(self.mini_batches)}",
            status=ExperimentStatus.COMPLETED,
            objective_score=passed / len(results),
            summary=TrialSummary(
                total_items=len(results),
                passed_items=passed,
                failed_items=len(results) - passed,
                pass_rate=passed / len(results),
                total_cost=None,
                avg_latency_ms=None,
                avg_ttft_ms=None,
            ),
            type=ExperimentType.TRIAL if whole else ExperimentType.MINI_BATCH,
        )
        (self.trials if whole else self.mini_batches).append(done)
        return done

    def _candidate(self, accepted: Accepted) -> Candidate:
        for known in self.candidates.values():
            if known.configuration.hash == accepted.configuration.hash:
                return known
        number = len(self.candidates)
        parents = [self.candidates[one].step_index for one in accepted.parent_candidate_ids]
        made = Candidate(
            id=f"c-{number}",
            optimization_id="o",
            number=number,
            step_index=max(parents, default=-1) + 1,
            configuration=accepted.configuration,
            parent_candidate_ids=accepted.parent_candidate_ids,
            rationale=accepted.rationale,
            metadata=accepted.metadata,
        )
        self.candidates[made.id] = made
        return made


class _History:
    """The TrialHistory of a run, as it stands now."""

    evaluations_left: int | None = None

    def __init__(self, run: OptimizerRun) -> None:
        self._run = run
        self.tried: Sequence[TrialResult] = tuple(run.trials)
        self.trials = tuple(one for one in self.tried if one.counts)
        self.mini_batches: Sequence[TrialResult] = tuple(run.mini_batches)

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


def _result(candidate: Candidate, item: Item) -> ItemResult:
    drawn = hashlib.sha256(f"{candidate.configuration.hash} {item.id}".encode()).digest()[0]
    passed = drawn < 128
    return ItemResult(
        item_id=item.id,
        item_hash=item.hash,
        repeat=0,
        score=float(passed),
        passed=passed,
        output=AgentOutput(text=("billing", "returns")[drawn % 2]),
    )


def _text(state: OptimizerState) -> str:
    return json.dumps(state.to_json(), allow_nan=False, sort_keys=True)


async def _awaited(value: Awaitable[T] | T) -> T:
    """Methods of optimizers may be plain or async."""
    return await value if inspect.isawaitable(value) else value
