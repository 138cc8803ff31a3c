"""The `gepa` optimizer: genetic-Pareto reflective evolution, with gradients of perturbations.

With a meta-model it reflects on failures (`search`); without one it mutates by the edit catalog,
steered by the estimated gradient and by parents of the per-item front.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from burnish.domain import (
    CandidateProposal,
    ExperimentType,
    Json,
    OptimizerState,
    Proposed,
    RunContext,
    StopDecision,
    TrialHistory,
    TrialResult,
)
from burnish.domain.wording import counted
from burnish.optimizers.edits.edit_catalog import EditCatalog
from burnish.optimizers.edits.optimizer import Edits
from burnish.optimizers.gepa.block_effects import block_effects
from burnish.optimizers.gepa.evidence import Evidence, Items, Memo
from burnish.optimizers.gepa.reflecting import USELESS_IN_A_ROW, Reflection, Tally
from burnish.optimizers.gepa.search import Search
from burnish.optimizers.gepa.sections import (
    checked_guidance,
    checked_section_guidance,
    directives,
    narrowed,
    require_known,
    rewritable,
)
from burnish.optimizers.gepa.step_view import Limits, Settings, StepView
from burnish.optimizers.gepa.winner import FINALS_SHARE, Finals
from burnish.optimizers.shared.asking import Asker, ModelAsker
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.pareto import draw_leaders, leads
from burnish.optimizers.shared.search_status import (
    GOING_ON,
    first_state,
    next_state,
    reached,
    stop,
    tried_hashes,
)
from burnish.optimizers.shared.seeded_random import generator
from burnish.optimizers.shared.trial_reading import mean_scores, repeats_of
from burnish.support.number_checks import (
    bad_setting,
    require_positive,
    require_target,
    require_whole,
)

_DRAWN = 2
# Item results are read from storage on each call, so the front is that of the best trials.
_ON_FRONT = 12
# A state holds item ids; beyond so many a drawn part is as good.
_MOST_ITEMS = 400
# Rewrites run a few items each, perturbations the whole suite.
_REFLECTED = 8
_PERTURBED = 4
_PATIENCE = 12


class Gepa(ModelAsker):
    """Improves sections by reflecting on failures, and joins the rewrites that helped.

    `model` is the meta-model: a name, a Model or a function from text to text; without one the
    mutations are mechanical. `accept_threshold` ends the search (without it, a perfect 1.0 does), and
    so do `max_iterations` trials or `stop_no_improve` of them without a better one (12 where no limit
    of evaluations is set). `mutation_strategies` names what may be rewritten: `system_template`,
    `user_template` or any section path. A higher `exploration_temperature` draws parents more evenly.
    `population_size` is how many candidates run side by side, `look` how many training items are
    looked at first. `max_prompt_tokens` bounds the prompt's length. `guidance` is told to the
    meta-model with every question, `section_guidance` with questions about the section it names.
    The meta-model is asked at most once for `evaluations_per_reflection` evaluations, a first
    population apart.
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
        guidance: str | None = None,
        section_guidance: Mapping[str, str] | None = None,
        evaluations_per_reflection: float = 12,
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
        self.guidance = checked_guidance(guidance)
        self.section_guidance = checked_section_guidance(section_guidance)
        self.evaluations_per_reflection = require_positive(
            "gepa", "evaluations_per_reflection", evaluations_per_reflection
        )
        self._limits = Limits(
            max_iterations=self.max_iterations, stop_no_improve=self.stop_no_improve
        )
        self._memo = Memo()
        self._mechanical = FrontEdits(
            target=self.accept_threshold,
            patience=self.stop_no_improve or _PATIENCE,
            temperature=self.exploration_temperature,
            max_prompt_tokens=self.max_prompt_tokens,
        )

    def questions(self, evaluations: int, trials: int) -> tuple[int, int]:
        """The fewest and the most reflections of a run that takes so many evaluations."""
        first = self.candidates_per_step if self._asker.available else 0
        return first, first and first + int(evaluations / self.evaluations_per_reflection)

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts and the order of its items.

        Refuses mutation strategies that name nothing which may change.
        """
        require_known(context.baseline, self.section_guidance)
        space = narrowed(context.space, context.baseline, self.mutation_strategies)
        return first_state(
            replace(context, space=space),
            train=_order(context.seed, "train", context.splits.get("train", ())),
            validation=_order(context.seed, "validation", context.splits["validation"]),
            trial_items=len(context.splits["validation"]),
            best_generation=0,
            trials=0,
            best_trial=0,
            reflections=asdict(Tally()),
            reserve=_reserve(context),
            evaluations_at_trial=len(context.splits["validation"]),
        )

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal] | Awaitable[Proposed]:
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
        if enough and self.accept_threshold is not None:
            return enough
        if enough or self._limits.had_enough(state, _patience(history)):
            return self._close(state, history)
        return self._answers_are_useless(state) or GOING_ON

    async def _close(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """A search that has had enough goes on while its finalists are run again."""
        view = await self._view(state, history)
        enough = self._had_enough(state, history, view)
        if enough is None or self._finals(state, view).closing():
            return GOING_ON
        return enough

    def _had_enough(
        self, state: OptimizerState, history: TrialHistory, view: StepView
    ) -> StopDecision | None:
        """A perfect score is enough only if it stayed perfect when it was run again."""
        best = replace(state, best_score=view.evidence.best.trial_score)
        enough = None if self.accept_threshold is not None else reached(best, None)
        return enough or self._limits.had_enough(state, _patience(history))

    @staticmethod
    def _finals(state: OptimizerState, view: StepView) -> Finals:
        return Finals(view, state.algorithm_data.get("reserve", 0))

    @staticmethod
    def _answers_are_useless(state: OptimizerState) -> StopDecision | None:
        tally = _tally(state)
        never = tally.in_a_row == tally.asked >= _REFLECTED
        if tally.in_a_row < USELESS_IN_A_ROW and not never:
            return None
        return stop(
            f"the last {counted(tally.in_a_row, 'answer')} of the meta-model could not be used "
            f"(of {tally.asked}: {tally.in_words()}), such as: “{tally.example}”"
        )

    async def choice(self, state: OptimizerState, history: TrialHistory) -> str | None:
        """Where results turn by luck, the best of those that were run again.

        None leaves it to the scores: without a meta-model, and where more than the score counts.
        """
        if not self._asker.available or RunFacts.within(state).perfect_score is None:
            return None
        winner = self._finals(state, await self._view(state, history)).winner()
        return None if winner is None else winner.id

    async def report(
        self, state: OptimizerState, history: TrialHistory, winner_id: str
    ) -> dict[str, Json]:
        """How reflection went, which sections were left out, and what blocks are worth."""
        view = await self._view(state, history)
        counted = asdict(_tally(state))
        told = [name for name in counted if name not in ("in_a_row", "in_vain")]
        reflections = {name: counted[name] for name in told}
        winner = view.evidence.known.get(winner_id, view.evidence.baseline)
        return {
            "reflections": reflections if self._asker.available else None,
            "sections_left_out": [
                one for one in view.facts.baseline.sections if one not in view.sections
            ],
            "blocks": await asyncio.to_thread(block_effects, view.evidence, winner),
        }

    async def _reflect(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> Proposed:
        view, tally = await self._view(state, history), _tally(state)
        reflection = Reflection(
            asker=self._asker,
            view=view,
            history=history,
            directives=directives(self.mutation_strategies),
            guidance=self.guidance,
            section_guidance=self.section_guidance,
            tally=tally,
        )
        known = state.algorithm_data
        search = Search(
            view,
            reflection,
            self._finals(state, view),
            evaluations_at_trial=known.get("evaluations_at_trial", known["trial_items"]),
        )
        if self._had_enough(state, history, view):
            moves = self._finals(state, view).closing()
        else:
            moves = await search.moves(max_candidates)
        data = {**known, "reflections": asdict(tally)}
        if any(move.items is None for move in moves):
            data["evaluations_at_trial"] = view.evidence.evaluations + sum(m.cost for m in moves)
        return Proposed(
            proposals=[move.proposal() for move in self._limits.within(moves, state)],
            state=replace(state, algorithm_data=data),
        )

    async def _view(self, state: OptimizerState, history: TrialHistory) -> StepView:
        facts, data = RunFacts.within(state), state.algorithm_data
        items = Items(
            train=tuple(data["train"]),
            validation=tuple(data["validation"]),
            trial_items=data["trial_items"],
            repeats=repeats_of(history, facts, data["trial_items"]),
        )
        evidence = await Evidence.gather(history, facts.baseline_candidate_id, items, self._memo)
        return StepView(
            facts,
            Settings(
                population=self.candidates_per_step,
                look=self.look or Settings().look,
                temperature=self.exploration_temperature,
                evaluations_per_reflection=self.evaluations_per_reflection,
                max_prompt_tokens=self.max_prompt_tokens,
            ),
            items,
            evidence,
            generation=state.generation,
            evaluations_left=history.evaluations_left,
            tried=tried_hashes(history),
            sections=rewritable(facts, self.mutation_strategies),
            in_vain=_tally(state).in_vain,
        )


def _patience(history: TrialHistory) -> int | None:
    """Without a limit of evaluations somebody has to end it; with one, it is there to be used."""
    return _PATIENCE if history.evaluations_left is None else None


def _tally(state: OptimizerState) -> Tally:
    """What was counted so far; runs that an older version began have counted nothing."""
    return Tally(**state.algorithm_data.get("reflections", {}))


def _order(seed: int, purpose: str, item_ids: Sequence[str]) -> list[str]:
    chosen = sorted(item_ids)
    generator(seed, "order", purpose).shuffle(chosen)
    return chosen[:_MOST_ITEMS]


def _reserve(context: RunContext) -> int:
    left = context.evaluations_left
    return 0 if left is None else round(FINALS_SHARE * left)


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
