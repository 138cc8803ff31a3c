"""The `gepa` optimizer: genetic-Pareto reflective evolution, with gradients of perturbations.

With a meta-model it reflects on failures (`search`); without one it mutates by the edit catalog,
steered by the estimated gradient and by parents of the per-item front.
"""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from burnish.domain import (
    CandidateProposal,
    ExperimentType,
    OptimizerState,
    RunContext,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
)
from burnish.optimizers.edits.edit_catalog import EditCatalog
from burnish.optimizers.edits.optimizer import Edits
from burnish.optimizers.gepa.edit_history import EditHistory
from burnish.optimizers.gepa.ideas import Ideas
from burnish.optimizers.gepa.moves import Move
from burnish.optimizers.gepa.noise_search import NoiseMemo, NoiseSearch
from burnish.optimizers.gepa.overfit import overfit
from burnish.optimizers.gepa.search import GepaSearch
from burnish.optimizers.gepa.sections import narrowed, rewritable
from burnish.optimizers.gepa.step_context import Items, Settings, StepContext
from burnish.optimizers.shared.asking import Asker, ModelAsker
from burnish.optimizers.shared.evidence import Evidence, Memo
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.pareto import draw_leaders, leads
from burnish.optimizers.shared.search_status import GOING_ON, first_state, next_state, reached, stop
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.trial_reading import baseline_runs, mean_scores
from burnish.support.number_checks import bad_setting, require_target, require_whole

_STEPS_A_TRIAL = 6
_DRAWN = 2
# Item results are read from storage on each call, so the front is that of the best trials.
_ON_FRONT = 12
# A state holds item ids; beyond so many a drawn part is as good.
_MOST_ITEMS = 400
# How many training items are looked at first, as a share of what a trial runs, and within bounds.
_LOOKED = 0.5
_LEAST, _MOST = 12, 48
# Single lines run a few items each, perturbations the whole suite.
_REFLECTED = 16
_PERTURBED = 4
# Without a limit of evaluations somebody has to end it; with one, it is there to be used.
_PATIENCE = 12


class Gepa(ModelAsker):
    """Improves sections by reflecting on failures, one line at a time, and joins what helped.

    `model` is the meta-model: a name, a Model or a function from text to text; without one the
    mutations are mechanical. `accept_threshold` ends the search (without it, a perfect 1.0 does), and
    so do `max_iterations` trials or `stop_no_improve` of them without a better one (12 where no limit
    of evaluations is set). `mutation_strategies` names what may be rewritten: `system_template`,
    `user_template` or any section path. A higher `exploration_temperature` draws parents more evenly.
    `population_size` is how many candidates run side by side, `look` how many training items are
    looked at first. `max_prompt_tokens` bounds the prompt's length.
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
        look: int | None = None,
    ) -> None:
        self._asker = Asker(model)
        self.max_iterations = _optional("max_iterations", max_iterations)
        wanted = _REFLECTED if self._asker.available else _PERTURBED
        self.candidates_per_step = require_whole(
            "gepa",
            "population_size",
            wanted if population_size is None else population_size,
            least=1,
        )
        self.stop_no_improve = _optional("stop_no_improve", stop_no_improve)
        self.accept_threshold = require_target("gepa", accept_threshold, setting="accept_threshold")
        self.exploration_temperature = _temperature(exploration_temperature)
        self.mutation_strategies = _strategies(mutation_strategies)
        self.max_prompt_tokens = _optional("max_prompt_tokens", max_prompt_tokens)
        self.look = _optional("look", look)
        self._limits = Limits(
            max_iterations=self.max_iterations, stop_no_improve=self.stop_no_improve
        )
        self._memo = Memo()
        self._noise_memo = NoiseMemo()
        self._mechanical = FrontEdits(
            target=self.accept_threshold,
            patience=self.stop_no_improve or _PATIENCE,
            temperature=self.exploration_temperature,
            max_prompt_tokens=self.max_prompt_tokens,
        )

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts and the order of its items.

        Refuses mutation strategies that name nothing which may change.
        """
        space = narrowed(context.space, context.baseline, self.mutation_strategies)
        return first_state(
            replace(context, space=space),
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
        left = self._limits.trials_left(state)
        places = max_candidates if left is None else min(max_candidates, left)
        return self._mechanical.propose(state, history, places)

    def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """One step on; what was tried stands in the history."""
        after = next_state(state, trial_results)
        data = dict(after.algorithm_data)
        data["trials"] += sum(1 for one in trial_results if one.type is ExperimentType.TRIAL)
        if after.best_candidate_id != state.best_candidate_id:
            data["best_generation"], data["best_trial"] = after.generation, data["trials"]
        return replace(after, algorithm_data=data)

    def should_stop(
        self, state: OptimizerState, history: TrialHistory
    ) -> StopDecision | Awaitable[StopDecision]:
        """At the target, after enough trials, or after many without a better one."""
        enough = reached(state, self.accept_threshold)
        if not self._asker.available:
            enough = enough or self._limits.had_enough(state, None)
            return enough or self._mechanical.should_stop(state, history)
        if not enough and not rewritable(RunFacts.within(state), self.mutation_strategies):
            return stop("no section may be changed")
        patience = _PATIENCE if history.evaluations_left is None else None
        enough = enough or self._limits.had_enough(state, patience)
        return self._with_alarm(enough, state, history) if enough else GOING_ON

    async def choice(self, state: OptimizerState, history: TrialHistory) -> str | None:
        """Where results turn by luck, the winner by what all trials say of its lines.

        None leaves it to the scores: without a meta-model, and where more than the score counts.
        """
        if not self._asker.available or RunFacts.within(state).perfect_score is None:
            return None
        noise = NoiseSearch(await self._context(state, history), self._noise_memo)
        return await noise.winner() if await noise.is_due() else None

    async def _with_alarm(
        self, decision: StopDecision, state: OptimizerState, history: TrialHistory
    ) -> StopDecision:
        alarm = overfit(await self._context(state, history))
        if alarm is None:
            return decision
        return replace(decision, message=f"{decision.message}; {alarm.in_full}")

    async def _reflect(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        context = await self._context(state, history)
        search = GepaSearch(context, self._noise_memo)
        moves = self._limits.within(await search.moves(max_candidates), state)
        alarm = overfit(context)
        notes = (context.ideas.left_out, alarm.in_short if alarm else "")
        return [move.proposal(*notes) for move in moves]

    async def _context(self, state: OptimizerState, history: TrialHistory) -> StepContext:
        facts, data = RunFacts.within(state), state.algorithm_data
        items = Items(
            train=tuple(data["train"]),
            validation=tuple(data["validation"]),
            trial_items=data["trial_items"],
            repeats=_repeats(history, facts, data["trial_items"]),
        )
        evidence = await Evidence.gather(
            history, facts.baseline_candidate_id, frozenset(items.train), self._memo
        )
        settings = Settings(
            look=self.look or min(max(round(_LOOKED * data["trial_items"]), _LEAST), _MOST),
            temperature=self.exploration_temperature,
        )
        ideas = Ideas(
            asker=self._asker,
            facts=facts,
            evidence=evidence,
            edit_history=EditHistory(evidence),
            history=history,
            sections=rewritable(facts, self.mutation_strategies),
            pool=items.pool,
            group=settings.group,
            generation=state.generation,
            max_prompt_tokens=self.max_prompt_tokens,
        )
        return StepContext(
            facts, settings, items, evidence, ideas, history, generation=state.generation
        )


def _order(seed: int, purpose: str, item_ids: Sequence[str]) -> list[str]:
    chosen = sorted(item_ids)
    generator(seed, "order", purpose).shuffle(chosen)
    return chosen[:_MOST_ITEMS]


def _repeats(history: TrialHistory, facts: RunFacts, items: int) -> int:
    runs = baseline_runs(history, facts)
    return max(round((items if runs is None else runs) / max(items, 1)), 1)


def _optional(setting: str, value: int | None) -> int | None:
    return None if value is None else require_whole("gepa", setting, value, least=1)


def _temperature(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 10:
        raise bad_setting(
            "gepa", "exploration_temperature", f"{value!r} is not a number from 0 to 10"
        )
    return float(value)


def _strategies(value: Sequence[str] | None) -> tuple[str, ...] | None:
    if value is None:
        return None
    listed = isinstance(value, Sequence) and not isinstance(value, str)
    if not listed or not value or not all(isinstance(one, str) for one in value):
        raise bad_setting(
            "gepa", "mutation_strategies", f"{value!r} is not a list of strategies or section paths"
        )
    return tuple(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many trials a search may take: all in all, and in a row without a better one."""

    max_iterations: int | None = None
    stop_no_improve: int | None = None

    def trials_left(self, state: OptimizerState) -> int | None:
        """Until `max_iterations`; None without one."""
        if self.max_iterations is None:
            return None
        trials: int = state.algorithm_data["trials"]
        return max(self.max_iterations - trials, 0)

    def within(self, moves: Sequence[Move], state: OptimizerState) -> list[Move]:
        """The moves without the trials that would be too many."""
        left = self.trials_left(state)
        found = []
        for move in moves:
            if move.items is None and left is not None:
                left -= 1
                if left < 0:
                    continue
            found.append(move)
        return found

    def had_enough(self, state: OptimizerState, patience: int | None) -> StopDecision | None:
        """`patience` stands in for `stop_no_improve` where that is not set; None has no end.

        Steps without any trial use it up too, if slowly.
        """
        data = state.algorithm_data
        if self.trials_left(state) == 0:
            return stop(f"max_iterations is reached: {data['trials']} trials")
        patience = self.stop_no_improve or patience
        idle = data["trials"] - data["best_trial"]
        steps = state.generation - data["best_generation"]
        if patience is None or (idle < patience and steps < _STEPS_A_TRIAL * patience):
            return None
        return stop(
            f"{idle} trials in {steps} steps brought nothing better than {state.best_score:g}",
            StopReason.NO_IMPROVEMENT,
        )


class FrontEdits(Edits):
    """`edits` that also starts from candidates which lead on some items, however poor on others."""

    def __init__(
        self,
        *,
        target: float | None,
        patience: int,
        temperature: float,
        max_prompt_tokens: int | None = None,
    ) -> None:
        super().__init__(target=target, patience=patience)
        self._temperature = temperature
        self._max_prompt_tokens = max_prompt_tokens

    def _catalog(self, state: OptimizerState) -> EditCatalog:
        return EditCatalog.of(RunFacts.within(state), max_prompt_tokens=self._max_prompt_tokens)

    def _leaders(
        self, catalog: EditCatalog, state: OptimizerState, history: TrialHistory
    ) -> Sequence[str]:
        complete = [one for one in history.trials if one.counts]
        best = sorted(complete, key=lambda one: -(one.objective_score or 0.0))[:_ON_FRONT]
        if len(best) <= _DRAWN:
            return ()
        scores = {
            one.candidate_id: mean_scores(history.item_results(one.candidate_id)) for one in best
        }
        led = leads(scores)
        # By number: ids differ between runs.
        order = sorted(led, key=lambda one: history.candidate(one).number)
        chance = generator(catalog.facts.seed, "front", state.generation)
        return draw_leaders(chance, led, order, temperature=self._temperature, count=_DRAWN)
