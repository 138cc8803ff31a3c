"""The `gepa` optimizer: genetic-Pareto reflective evolution, with gradients of perturbations.

With a meta-model it reflects on failures (`gepa_search`); without one it mutates by the edit library,
steered by the estimated gradient and by parents of the per-item front.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from burnish.domain import (
    CandidateProposal,
    Model,
    OptimizerState,
    RunContext,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
)
from burnish.optimizers.asking import Asker
from burnish.optimizers.checks import bad_setting, require_target, require_whole
from burnish.optimizers.draws import generator
from burnish.optimizers.evidence import Evidence, Memo
from burnish.optimizers.facts import RunFacts
from burnish.optimizers.front_edits import FrontEdits
from burnish.optimizers.gepa_desk import Desk, Items, Settings
from burnish.optimizers.gepa_ideas import Ideas
from burnish.optimizers.gepa_search import GepaSearch
from burnish.optimizers.standing import GOING_ON, first_state, next_state, reached

# A state holds item ids; beyond so many a drawn part is as good.
_MOST_ITEMS = 400
_STEPS_A_TRIAL = 6
# Single lines run a few items each, perturbations the whole suite.
_REFLECTED = 16
_PERTURBED = 4
# Without a limit of evaluations somebody has to end it; with one, it is there to be used.
_PATIENCE = 12
_ENDLESS = 10_000
_STRATEGIES = {"system_template": "system", "user_template": "user"}


class Gepa:
    """Improves sections by reflecting on failures, one line at a time, and joins what helped.

    `model` is the meta-model: a name, a Model or a function from text to text; without one the
    mutations are mechanical. `accept_threshold` ends the search (without it, a perfect 1.0 does), and
    so do `max_iterations` trials or `stop_no_improve` of them without a better one (12 where no limit
    of evaluations is set). `mutation_strategies` names what may be rewritten: `system_template`,
    `user_template` or any section path. A higher `exploration_temperature` draws parents more evenly.
    `population_size` is how many candidates run side by side, `look` how many training items are
    looked at in one go. `max_prompt_tokens` bounds the prompt's length.
    """

    name = "gepa"

    def __init__(
        self,
        *,
        model: Any = None,
        max_iterations: int | None = None,
        population_size: int | None = None,
        exploration_temperature: float = 0.7,
        accept_threshold: float | None = None,
        stop_no_improve: int | None = None,
        mutation_strategies: Sequence[str] | None = None,
        max_prompt_tokens: int | None = None,
        look: int = 24,
    ) -> None:
        self._asker = Asker(model)
        self.max_iterations = (
            None
            if max_iterations is None
            else require_whole("gepa", "max_iterations", max_iterations, least=1)
        )
        wanted = _REFLECTED if self._asker.available else _PERTURBED
        self.candidates_per_step = require_whole(
            "gepa",
            "population_size",
            wanted if population_size is None else population_size,
            least=1,
        )
        self.stop_no_improve = (
            None
            if stop_no_improve is None
            else require_whole("gepa", "stop_no_improve", stop_no_improve, least=1)
        )
        self.accept_threshold = require_target("gepa", accept_threshold)
        self.exploration_temperature = _temperature(exploration_temperature)
        self.mutation_strategies = _strategies(mutation_strategies)
        self.max_prompt_tokens = (
            None
            if max_prompt_tokens is None
            else require_whole("gepa", "max_prompt_tokens", max_prompt_tokens, least=1)
        )
        self.look = require_whole("gepa", "look", look, least=1)
        self._memo = Memo()
        self._mechanical = FrontEdits(
            target=self.accept_threshold,
            patience=self.stop_no_improve or _PATIENCE,
            temperature=self.exploration_temperature,
        )

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Take the meta-model that the framework opened."""
        self._asker.connect(open_model)

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts and the order of its items."""
        return first_state(
            context,
            train=_order(context.seed, "train", context.splits.get("train", ())),
            validation=_order(context.seed, "validation", context.splits["validation"]),
            trial_items=len(context.splits["validation"]),
            best_generation=0,
            trials=0,
            best_trial=0,
        )

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal] | Awaitable[list[CandidateProposal]]:
        """What to run next."""
        if self._asker.available:
            return self._reflect(state, history, max_candidates)
        return self._mechanical.propose(state, history, max_candidates)

    def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """One step on; what was tried stands in the history."""
        after = next_state(state, trial_results)
        data = dict(after.algorithm_data)
        data["trials"] += sum(1 for one in trial_results if one.counts)
        if after.best_candidate_id != state.best_candidate_id:
            data["best_generation"], data["best_trial"] = after.generation, data["trials"]
        return OptimizerState(
            generation=after.generation,
            best_candidate_id=after.best_candidate_id,
            best_score=after.best_score,
            algorithm_data=data,
        )

    def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """At the target, after enough trials, or after many without a better one."""
        enough = reached(state, self.accept_threshold)
        if enough:
            return enough
        if not self._asker.available:
            return self._mechanical.should_stop(state, history)
        data = state.algorithm_data
        if self.max_iterations is not None and data["trials"] >= self.max_iterations:
            return StopDecision(
                should_stop=True,
                reason=StopReason.ALGORITHM_SPECIFIC,
                message=f"max_iterations is reached: {data['trials']} trials",
            )
        idle = data["trials"] - data["best_trial"]
        steps = state.generation - data["best_generation"]
        patience = self.stop_no_improve
        if patience is None:
            patience = _PATIENCE if history.evaluations_left is None else _ENDLESS
        if idle >= patience or steps >= _STEPS_A_TRIAL * patience:
            return StopDecision(
                should_stop=True,
                reason=StopReason.NO_IMPROVEMENT,
                message=f"{idle} trials in {steps} steps brought nothing better "
                f"than {state.best_score:g}",
            )
        return GOING_ON

    async def _reflect(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        search = await self._search(state, history)
        return [move.proposal() for move in await search.moves(max_candidates)]

    async def _search(self, state: OptimizerState, history: TrialHistory) -> GepaSearch:
        facts, data = RunFacts.within(state), state.algorithm_data
        items = Items(
            train=tuple(data["train"]),
            validation=tuple(data["validation"]),
            repeats=_repeats(history, facts, data["trial_items"]),
        )
        evidence = await Evidence.gather(
            history, facts.baseline_candidate_id, frozenset(items.validation), self._memo
        )
        settings = Settings(
            look=self.look,
            temperature=self.exploration_temperature,
            max_prompt_tokens=self.max_prompt_tokens,
        )
        ideas = Ideas(
            asker=self._asker,
            facts=facts,
            evidence=evidence,
            history=history,
            sections=self._sections(facts),
            pool=items.pool,
            group=settings.group,
            generation=state.generation,
            max_prompt_tokens=self.max_prompt_tokens,
        )
        return GepaSearch(
            Desk(facts, settings, items, evidence, ideas, history, generation=state.generation)
        )

    def _sections(self, facts: RunFacts) -> tuple[str, ...]:
        """What may be rewritten: what was asked for, else every free section that says something."""
        free = [path for path in facts.baseline.sections if facts.space.may_change(path)]
        if self.mutation_strategies is not None:
            wanted = [_STRATEGIES.get(one, one) for one in self.mutation_strategies]
            return tuple(path for path in free if path in wanted) or tuple(free)
        telling = [path for path in free if len(facts.baseline.sections[path].split()) >= 3]
        return tuple(telling or free)


def _order(seed: int, purpose: str, item_ids: Sequence[str]) -> list[str]:
    chosen = sorted(item_ids)
    generator(seed, "order", purpose).shuffle(chosen)
    return chosen[:_MOST_ITEMS]


def _repeats(history: TrialHistory, facts: RunFacts, items: int) -> int:
    runs = next(
        (
            one.summary.total_items
            for one in history.trials
            if one.candidate_id == facts.baseline_candidate_id
        ),
        items,
    )
    return max(round(runs / max(items, 1)), 1)


def _temperature(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 10:
        raise bad_setting(
            "gepa", "exploration_temperature", f"{value!r} is not a number from 0 to 10"
        )
    return float(value)


def _strategies(value: Sequence[str] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, str) or not all(isinstance(one, str) for one in value) or not value:
        raise bad_setting(
            "gepa", "mutation_strategies", f"{value!r} is not a list of strategies or section paths"
        )
    return tuple(value)
