"""The `auto` optimizer: those that fit share the budget, and the one that leads gets the rest."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from burnish.domain import (
    Json,
    Model,
    Optimizer,
    OptimizerState,
    Proposed,
    RunContext,
    SearchReporter,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
    WinnerChooser,
)
from burnish.optimizers.auto.choosing import choose
from burnish.optimizers.auto.sharing import (
    Share,
    context_within,
    from_winner,
    kept_context,
    leader,
)
from burnish.optimizers.catalog import optimizer_maker
from burnish.optimizers.gepa.optimizer import Gepa
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import GOING_ON
from burnish.support.number_checks import require_target

_KEY = "auto"


class Auto:
    """Chooses when the run starts; who works, and why, stands in the state and in rationales.

    `choose` has all rules. Of several that fit, each gets an equal slice of the evaluations, one slice
    is left for the one that leads then, and when that one has had enough, the others go on from the
    best. `model` writes for `gepa`; `target` ends the search, whoever does it.
    """

    name = "auto"

    def __init__(self, *, model: Any = None, target: float | None = None) -> None:
        self.target = require_target("auto", target)
        self._gepa = None if model is None else Gepa(model=model, accept_threshold=target)
        # How many candidates of a step the framework should ask for; None leaves it to it.
        self.candidates_per_step = None if self._gepa is None else self._gepa.candidates_per_step
        self._made: dict[str, Optimizer] = {}

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Open the model for the optimizer that asks it."""
        if self._gepa is not None:
            self._gepa.connect(open_model)

    def questions(self, evaluations: int, trials: int) -> tuple[int, int]:
        """Those of `gepa`, unless there are no texts to change."""
        return (0, 0) if self._gepa is None else (0, self._gepa.questions(evaluations, trials)[1])

    async def initialize(self, context: RunContext) -> OptimizerState:
        """Choose, and let the first one begin."""
        chosen = choose(context, has_model=self._gepa is not None)
        told: dict[str, Any] = {"choice": chosen[0].name, "reason": chosen[0].reason}
        left = context.evaluations_left
        if len(chosen) > 1:
            slice_ = None if left is None else left // (len(chosen) + 1)
            told |= {
                "members": [[one.name, one.reason] for one in chosen],
                "slice": slice_,
                "until": None if left is None else left - (slice_ or 0),
                "begun": [chosen[0].name],
                "context": kept_context(context),
                "parked": {},
                "turns": [_turn(chosen[0].name, chosen[0].reason, left)],
            }
            context = replace(context, evaluations_left=slice_)
        state: OptimizerState = await _called(self._named(chosen[0].name).initialize, context)
        return replace(state, algorithm_data={**state.algorithm_data, _KEY: told})

    async def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> Proposed:
        """What the one whose turn it is proposes; the first candidates of a turn say why."""
        if self._is_over(state, history) or await self._has_enough(state, history):
            state = await self._next_turn(state, history)
        made = await self._proposed(state, history, max_candidates)
        while not made.proposals and self._may_turn(made.state):
            state = await self._next_turn(made.state, history)
            made = await self._proposed(state, history, max_candidates)
        return made

    async def _proposed(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> Proposed:
        told = state.algorithm_data[_KEY]
        share = self._share(state, history)
        made = await _called(self._chosen(state).propose, state, share, max_candidates)
        if not isinstance(made, Proposed):
            made = Proposed(proposals=made, state=state)
        data = dict(made.state.algorithm_data)
        why = ""
        if not told.get("said") and (told.get("turns") or _is_first(state, history)):
            why = f"auto chose {told['choice']}: {told['reason']}. "
        if told.get("turns"):
            data[_KEY] = {**told, "said": True}
        proposals = [
            replace(
                one,
                rationale=f"{why}{one.rationale or ''}".strip() or None,
                metadata={**(one.metadata or {}), "optimizer": told["choice"]},
            )
            for one in made.proposals
        ]
        return Proposed(proposals=proposals, state=replace(made.state, algorithm_data=data))

    async def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """The next state of whose turn it is; the choice stays in it."""
        after: OptimizerState = await _called(self._chosen(state).observe, state, trial_results)
        kept = {**after.algorithm_data, _KEY: state.algorithm_data[_KEY]}
        return replace(after, algorithm_data=kept)

    async def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """When the chosen one has had enough, and nobody else can go on."""
        share = self._share(state, history)
        decision: StopDecision = await _called(self._chosen(state).should_stop, state, share)
        over = decision.should_stop and decision.reason is not StopReason.TARGET_REACHED
        return GOING_ON if over and self._may_turn(state) else decision

    async def choice(self, state: OptimizerState, history: TrialHistory) -> str | None:
        """The chosen one's own winner, if it names one and worked alone."""
        chosen = self._chosen(state)
        if not isinstance(chosen, WinnerChooser):
            return None
        winner: str | None = await _called(chosen.choice, state, history)
        return winner

    async def report(
        self, state: OptimizerState, history: TrialHistory, winner_id: str
    ) -> Mapping[str, Json]:
        """Who was chosen and why, in which turns, and the report of the one that worked last."""
        chosen = self._chosen(state)
        reported: Mapping[str, Json] = {}
        if isinstance(chosen, SearchReporter):
            reported = await _called(chosen.report, state, history, winner_id)
        told = state.algorithm_data[_KEY]
        shown = {name: told[name] for name in ("choice", "reason", "turns") if told.get(name)}
        return {"chosen": shown, **reported}

    def _share(self, state: OptimizerState, history: TrialHistory) -> Any:
        """The history, with no more evaluations left than this turn has."""
        until = state.algorithm_data[_KEY].get("until")
        if until is None or history.evaluations_left is None:
            return history
        return Share(history, max(history.evaluations_left - until, 0))

    def _is_over(self, state: OptimizerState, history: TrialHistory) -> bool:
        """Whether a slice is used up."""
        until = state.algorithm_data[_KEY].get("until")
        left = history.evaluations_left
        return until is not None and left is not None and left <= until

    async def _has_enough(self, state: OptimizerState, history: TrialHistory) -> bool:
        if not self._may_turn(state):
            return False
        share = self._share(state, history)
        decision: StopDecision = await _called(self._chosen(state).should_stop, state, share)
        return decision.should_stop

    def _may_turn(self, state: OptimizerState) -> bool:
        """Whether another one can go on: some did not begin, or did not go on from the best."""
        told = state.algorithm_data[_KEY]
        return bool(told.get("members")) and not told.get("last")

    async def _next_turn(self, state: OptimizerState, history: TrialHistory) -> OptimizerState:
        """The next one's slice, then the leader's turn, then the others from the best."""
        data = dict(state.algorithm_data)
        told = dict(data.pop(_KEY))
        told["parked"] = {**told["parked"], told["choice"]: data}
        names = [name for name, _ in told["members"]]
        left = history.evaluations_left
        fresh = [name for name in names if name not in told["begun"]]
        if fresh:
            name, why = fresh[0], dict(told["members"])[fresh[0]]
            slice_ = told["slice"]
            told["begun"] = [*told["begun"], name]
            told["until"] = None if left is None else max(left - (slice_ or 0), 0)
            context = context_within(told["context"], slice_)
            begun: OptimizerState = await _called(self._named(name).initialize, context)
            data = dict(begun.algorithm_data)
        elif not told.get("led"):
            name, why = leader(history, names), "its best trial leads after a slice each"
            told |= {"led": True, "until": None}
            data = dict(told["parked"][name])
        else:
            name = next(one for one in names if one != told["choice"])
            why = f"{told['choice']} found nothing better, and it goes on from the best"
            told |= {"last": True, "until": None}
            context = context_within(told["context"], left)
            context = from_winner(context, history, str(state.best_candidate_id))
            begun = await _called(self._named(name).initialize, context)
            data = dict(begun.algorithm_data)
        told |= {"choice": name, "reason": why, "said": False}
        told["turns"] = [*told["turns"], _turn(name, why, left)]
        return replace(state, algorithm_data={**data, _KEY: told})

    def _chosen(self, state: OptimizerState) -> Optimizer:
        return self._named(state.algorithm_data[_KEY]["choice"])

    def _named(self, name: str) -> Optimizer:
        """Made once, for what it read before; what it remembers stands in the state."""
        if name == "gepa":
            return self._gepa or Gepa(accept_threshold=self.target)
        if name not in self._made:
            self._made[name] = optimizer_maker(name)(target=self.target)
        return self._made[name]


def _turn(name: str, why: str, left: int | None) -> dict[str, Json]:
    """Who works next, why, and how many evaluations were left then."""
    return {"optimizer": name, "reason": why, "evaluations_left": left}


def _is_first(state: OptimizerState, history: TrialHistory) -> bool:
    """Whether nothing but the baseline ran so far."""
    baseline = RunFacts.within(state).baseline_candidate_id
    return all(one.candidate_id == baseline for one in (*history.tried, *history.mini_batches))


async def _called(method: Callable[..., Any], *arguments: Any) -> Any:
    """A plain method runs beside the event loop, as the framework would run it."""
    if inspect.iscoroutinefunction(method):
        return await method(*arguments)
    answer = await asyncio.to_thread(method, *arguments)
    return await answer if inspect.isawaitable(answer) else answer
