"""The `auto` optimizer: picks another one by what is configured, says why, and lets it work."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import prod
from typing import Any

from burnish.domain import (
    Json,
    Model,
    Optimizer,
    OptimizerState,
    ParameterSpace,
    Proposed,
    RunContext,
    SearchReporter,
    StopDecision,
    TrialHistory,
    TrialResult,
    WinnerChooser,
)
from burnish.optimizers.catalog import optimizer_maker
from burnish.optimizers.gepa.optimizer import Gepa
from burnish.optimizers.parameters.axes import are_whole, is_bounded
from burnish.optimizers.shared.facts import RunFacts
from burnish.support.number_checks import require_target

# As many points as a few steps can try one by one; beyond, what was learnt should lead.
_SMALL_GRID = 16
# Reflection looks at training items first, and then needs a trial.
_FEW_TRIALS = 2
_KEY = "auto"


class Auto:
    """Chooses when the run starts; the choice and its reason stand in the state and in the first
    candidates' rationale.

    With a `model` and texts that may change that is `gepa`; `choose` has all rules. `target` ends the
    search, whoever does it.
    """

    name = "auto"

    def __init__(self, *, model: Any = None, target: float | None = None) -> None:
        self.target = require_target("auto", target)
        self._gepa = None if model is None else Gepa(model=model, accept_threshold=target)
        # How many candidates of a step the framework should ask for; None leaves it to it.
        self.candidates_per_step = None if self._gepa is None else self._gepa.candidates_per_step

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Open the model for the optimizer that asks it."""
        if self._gepa is not None:
            self._gepa.connect(open_model)

    def questions(self, evaluations: int, trials: int) -> tuple[int, int]:
        """Those of `gepa`, unless there are no texts to change."""
        return (0, 0) if self._gepa is None else (0, self._gepa.questions(evaluations, trials)[1])

    async def initialize(self, context: RunContext) -> OptimizerState:
        """Choose, and let the chosen one begin."""
        choice = choose(context, has_model=self._gepa is not None)
        state: OptimizerState = await _called(self._named(choice.name).initialize, context)
        chosen = {"choice": choice.name, "reason": choice.reason}
        return replace(state, algorithm_data={**state.algorithm_data, _KEY: chosen})

    async def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> Proposed:
        """What the chosen one proposes; the first candidates say why it was chosen."""
        made = await _called(self._chosen(state).propose, state, history, max_candidates)
        if not isinstance(made, Proposed):
            made = Proposed(proposals=made, state=state)
        if not _is_first(state, history):
            return made
        told = state.algorithm_data[_KEY]
        why = f"auto chose {told['choice']}: {told['reason']}."
        return replace(
            made,
            proposals=[
                replace(one, rationale=f"{why} {one.rationale or ''}".strip())
                for one in made.proposals
            ],
        )

    async def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """The chosen one's next state; the choice stays in it."""
        after: OptimizerState = await _called(self._chosen(state).observe, state, trial_results)
        kept = {**after.algorithm_data, _KEY: state.algorithm_data[_KEY]}
        return replace(after, algorithm_data=kept)

    async def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """When the chosen one has had enough."""
        decision: StopDecision = await _called(self._chosen(state).should_stop, state, history)
        return decision

    async def choice(self, state: OptimizerState, history: TrialHistory) -> str | None:
        """The chosen one's own winner, if it names one."""
        chosen = self._chosen(state)
        if not isinstance(chosen, WinnerChooser):
            return None
        winner: str | None = await _called(chosen.choice, state, history)
        return winner

    async def report(
        self, state: OptimizerState, history: TrialHistory, winner_id: str
    ) -> Mapping[str, Json]:
        """What was chosen and why, and the chosen one's own report, if it has any."""
        chosen = self._chosen(state)
        told: Mapping[str, Json] = {}
        if isinstance(chosen, SearchReporter):
            told = await _called(chosen.report, state, history, winner_id)
        return {"chosen": state.algorithm_data[_KEY], **told}

    def _chosen(self, state: OptimizerState) -> Optimizer:
        return self._named(state.algorithm_data[_KEY]["choice"])

    def _named(self, name: str) -> Optimizer:
        """Made anew for each call: what it remembers stands in the state."""
        if name == "gepa":
            return self._gepa or Gepa(accept_threshold=self.target)
        return optimizer_maker(name)(target=self.target)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An optimizer by name, and the reason in words."""

    name: str
    reason: str


def choose(context: RunContext, *, has_model: bool) -> Choice:
    """By what may change, what there is to learn from, the budget, and whether a model can write.

    Texts come first: they matter most, and `edits` tunes parameters along with them. Without free texts
    parameters are left, and without those examples.
    """
    texts = [
        path
        for path, text in context.baseline.sections.items()
        if context.space.may_change(path) and text.strip()
    ]
    spaces = [one for one in context.space.parameters.values() if is_bounded(one)]
    trials = _trials_left(context)
    if texts and has_model and trials is not None and trials < _FEW_TRIALS:
        return Choice(
            name="edits",
            reason=f"the budget has room for {_count(trials, 'trial')} only, too few to reflect on "
            "failures first",
        )
    if texts and has_model:
        return Choice(
            name="gepa",
            reason=f"{_count(len(texts), 'section')} may change, and a model can reflect on failures",
        )
    if texts:
        return Choice(
            name="edits",
            reason=f"{_count(len(texts), 'section')} may change, and no model is given to rewrite "
            f"{'it' if len(texts) == 1 else 'them'}",
        )
    if spaces:
        return _over_parameters(spaces)
    return _over_examples(context)


def _trials_left(context: RunContext) -> int | None:
    if context.evaluations_left is None:
        return None
    return context.evaluations_left // max(len(context.splits["validation"]), 1)


def _over_parameters(spaces: list[ParameterSpace]) -> Choice:
    only = f"only {_count(len(spaces), 'parameter')} may change"
    sizes = [_size(one) for one in spaces]
    if None not in sizes and (points := prod(size or 1 for size in sizes)) <= _SMALL_GRID:
        return Choice(name="grid", reason=f"{only}, and {points} points can all be tried")
    if find_spec("optuna") is None:
        return Choice(name="random", reason=f"{only}, and optuna is not installed")
    return Choice(name="parameters", reason=f"{only}, in more points than can all be tried")


def _over_examples(context: RunContext) -> Choice:
    train = len(context.splits.get("train", ()))
    if not train or not context.space.max_examples:
        return Choice(name="edits", reason="no section, parameter or example may change")
    only = f"no section or parameter may change, but {_count(train, 'training item')} can be shown"
    if context.labels:
        return Choice(name="few_shot", reason=f"{only} with their labels")
    return Choice(name="bootstrap", reason=f"{only} with outputs of the agent that pass")


def _size(space: ParameterSpace) -> int | None:
    """How many values a parameter has; None when they are without number."""
    if space.choices:
        return len(space.choices)
    if space.low is None or space.high is None:
        return 2
    return int(space.high - space.low) + 1 if are_whole(space.low, space.high) else None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
