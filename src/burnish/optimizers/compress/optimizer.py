"""The `compress` optimizer: the fewest prompt tokens that regress nothing.

Its candidates run on mini-batches of the gate, the items that the baseline passes consistently. Only
what passed the whole gate gets a trial, and the latest trial is the winner: what it scores is not
compared, because by the gate it is as good. Where held-out items speak against it, the one before is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from burnish.domain import (
    CandidateProposal,
    Configuration,
    Model,
    ModelUser,
    OptimizerState,
    Proposed,
    RunContext,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
    UnavailableError,
)
from burnish.domain.wording import counted
from burnish.optimizers.compress.coverage import Coverage, Protection, UntestedLine, says
from burnish.optimizers.compress.cuts import Cut, MayGo, section_cuts, shorten, unit_cuts
from burnish.optimizers.compress.edit_checks import checked_edits
from burnish.optimizers.compress.examples import (
    EXAMPLES,
    example_edits,
    part_tokens,
    parts_of,
    require_parts,
)
from burnish.optimizers.compress.search import CompressSearch, Solution
from burnish.optimizers.compress.strategies import (
    DEFAULT_MIN_TOKENS,
    CompressStrategy,
    LLMCompressStrategy,
    MechanicalCompressStrategy,
    SectionEdit,
)
from burnish.optimizers.compress.verdicts import Memo, Unknown, Verdicts
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import GOING_ON, first_state, next_state, stop
from burnish.support.number_checks import require_whole

_PLACES = 8
_SCREENED = 4
_MOST_UNANSWERED = 3


class Compress:
    """Shortens sections, and then lines, as long as no item that passed before fails.

    `model` rewrites sections beside the mechanical edits; without one these are all there is.
    `strategies` takes the place of both. Sections of fewer than `min_section_tokens` stay, and so do
    all but `sections` where that is given; the configuration's examples are `@examples` there. With
    `lines` single lines and examples are left out too. Lines that no item tests stay, unless
    `drop_untested`; so does every line with one of the texts in `protected`. Each edit is tried alone
    on `screened` items before it is joined with others.
    """

    name = "compress"
    confirms_regressions = True
    candidates_per_step = _PLACES

    def __init__(
        self,
        *,
        model: Any = None,
        strategies: Sequence[CompressStrategy] | None = None,
        min_section_tokens: int = DEFAULT_MIN_TOKENS,
        sections: Sequence[str] | None = None,
        lines: bool = True,
        screened: int = _SCREENED,
        drop_untested: bool = False,
        protected: Sequence[str] = (),
    ) -> None:
        least = require_whole("compress", "min_section_tokens", min_section_tokens, least=1)
        self.min_section_tokens = least
        self.screened = require_whole("compress", "screened", screened, least=1)
        self.sections = None if sections is None else tuple(sections)
        self.lines = lines
        self.drop_untested = drop_untested
        self.protected = tuple(protected)
        self.strategies: tuple[CompressStrategy, ...] = tuple(strategies or ())
        if strategies is None:
            own: list[CompressStrategy] = [MechanicalCompressStrategy(min_section_tokens=least)]
            if model is not None:
                own.append(LLMCompressStrategy(model, min_section_tokens=least))
            self.strategies = tuple(own)
        self._memo = Memo()
        self._unanswered = 0
        self._made: tuple[str, dict[frozenset[str], Configuration | None]] = "", {}
        # The last replay: `should_stop` and `propose` ask for the same one after the other.
        self._replayed: tuple[Any, Solution | _Wanted | None] | None = None

    def connect(self, open_model: Callable[[Any], Model]) -> None:
        """Let strategies open their models."""
        for strategy in self.strategies:
            if isinstance(strategy, ModelUser):
                strategy.connect(open_model)

    async def initialize(self, context: RunContext) -> OptimizerState:
        """All edits are made here, so that every later step sees the same ones."""
        require_parts(context.baseline, self.sections or ())
        paths = self._paths(context)
        sections = [path for path in paths if path != EXAMPLES]
        protection = Protection(context.baseline, self.protected)
        edits, refused = await checked_edits(
            self.strategies, context.baseline, sections, protection
        )
        if EXAMPLES in paths:
            edits += example_edits(context.baseline)
        return first_state(
            context,
            paths=paths,
            edits=[edit.to_json() for edit in edits],
            refused=refused,
            held_out=context.held_out,
        )

    def _paths(self, context: RunContext) -> list[str]:
        """What may be shortened: sections, and the examples after them."""
        baseline = context.baseline
        return [
            path
            for path in parts_of(baseline)
            if context.space.may_change(path)
            and (self.sections is None or path in self.sections)
            and part_tokens(baseline, path) >= self.min_section_tokens
        ]

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> Proposed:
        """What the search has to know next, or the trial of what it arrived at."""
        state = self._with_coverage(state, history)
        return Proposed(proposals=self._next(state, history, max_candidates), state=state)

    def _with_coverage(self, state: OptimizerState, history: TrialHistory) -> OptimizerState:
        """What the items of the gate are about: no later reader of the state has the items."""
        if "coverage" in state.algorithm_data:
            return state
        items = history.items(self.verdicts(state, history).gate)
        coverage = Coverage.by(items, RunFacts.within(state).baseline)
        data = {**state.algorithm_data, "coverage": coverage.to_json()}
        return replace(state, algorithm_data=data)

    def _next(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        facts = RunFacts.within(state)
        try:
            solution = self._untried(state, history)
        except _Wanted as wanted:
            self._require_answers(wanted)
            by_hash = wanted.configurations
            return [
                CandidateProposal(
                    configuration=by_hash[ask.digest][0],
                    parent_candidate_ids=(facts.baseline_candidate_id,),
                    rationale=by_hash[ask.digest][1],
                    item_ids=ask.item_ids,
                    repeats=ask.repeats,
                )
                for ask in wanted.unknown.asks[:max_candidates]
            ]
        if solution is None:
            return []
        return [
            CandidateProposal(
                configuration=solution.configuration,
                parent_candidate_ids=(facts.baseline_candidate_id,),
                rationale=_words(solution.accepted),
            )
        ]

    def _require_answers(self, wanted: _Wanted) -> None:
        """Stop once what is asked for stays unanswered; a resumed run asks again."""
        lacking = any(wanted.verdicts.lacks_answers(ask) for ask in wanted.unknown.asks)
        self._unanswered = self._unanswered + 1 if lacking else 0
        if self._unanswered >= _MOST_UNANSWERED:
            raise UnavailableError(
                what="the compression stopped",
                why=f"items were run {counted(self._unanswered, 'time')} in a row and failed "
                f"outside the agent",
                fix="`burnish resume` goes on once the agent's model answers; what is known is kept",
                code="endpoint_unavailable",
            )

    def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """The latest trial is best: nothing else gets one."""
        best_id, best = state.best_candidate_id, state.best_score
        for result in trial_results:
            if result.counts:
                best_id, best = result.candidate_id, result.objective_score
        after = next_state(state, trial_results)
        return replace(after, best_candidate_id=best_id, best_score=best)

    def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """When the search has come to its end."""
        if not state.algorithm_data["edits"] and not self._has_lines(state):
            return stop("there is nothing to shorten: no edit of any section saves a token")
        try:
            if "coverage" not in state.algorithm_data and self.verdicts(state, history).gate:
                return GOING_ON
            solution = self._untried(state, history)
        except _Wanted:
            return GOING_ON
        except _NoGate:
            return stop("no item passes consistently under the baseline, so nothing is safe")
        if solution is None:
            return stop("every cut was tried", StopReason.CONVERGENCE)
        return GOING_ON

    def choice(self, state: OptimizerState, history: TrialHistory) -> str | None:
        """The winner: the latest trial that nothing speaks against; in the end the baseline."""
        verdicts = self.verdicts(state, history)
        sound = (
            one.candidate_id
            for one in reversed(history.trials)
            if one.counts
            and verdicts.is_sound(history.candidate(one.candidate_id).configuration.hash)
        )
        return next(sound, RunFacts.within(state).baseline_candidate_id)

    def solution(
        self, state: OptimizerState, history: TrialHistory, winner: Configuration
    ) -> Solution | None:
        """The winner's, else the last that is known by now, with all that was refused on the way."""
        last: Solution | None = None
        own: Solution | None = None
        try:
            for last in self._solutions(self._search(state, history), state, history):
                own = last if last.configuration == winner else own
        except (Unknown, _NoGate):
            pass
        return own or last

    def verdicts(self, state: OptimizerState, history: TrialHistory) -> Verdicts:
        """What is known of every candidate on the gate."""
        return Verdicts.of(history, RunFacts.within(state), self._memo)

    def _untried(self, state: OptimizerState, history: TrialHistory) -> Solution | None:
        """The first solution without a trial; None when all have had theirs."""
        known = "coverage" in state.algorithm_data
        seen = (state.generation, known, len(history.tried), len(history.mini_batches))
        if self._replayed is None or self._replayed[0] != (_run_of(state), seen):
            self._replayed = (_run_of(state), seen), self._replay(state, history)
        answer = self._replayed[1]
        if isinstance(answer, _Wanted):
            raise answer
        return answer

    def _replay(self, state: OptimizerState, history: TrialHistory) -> Solution | _Wanted | None:
        search = self._search(state, history)
        tried = {history.candidate(one.candidate_id).configuration.hash for one in history.tried}
        try:
            for solution in self._solutions(search, state, history):
                if solution.configuration.hash not in tried:
                    return solution
        except Unknown as unknown:
            return _Wanted(unknown, search.built, self.verdicts(state, history))
        return None

    def _solutions(
        self, search: CompressSearch, state: OptimizerState, history: TrialHistory
    ) -> Iterator[Solution]:
        """What is worth a trial: also what lines improve on, where the last one may not be had.

        That is within a budget, or where held-out items may speak against it.
        """
        sections = search.sections()
        may_fail = history.evaluations_left is not None or state.algorithm_data.get("held_out")
        if not self.lines or may_fail:
            yield sections
        if self.lines:
            yield search.lines(sections)

    def _search(self, state: OptimizerState, history: TrialHistory) -> CompressSearch:
        facts = RunFacts.within(state)
        verdicts = self.verdicts(state, history)
        if not verdicts.gate:
            raise _NoGate
        edits, _ = self._edits(state)
        choices = section_cuts(edits)
        every: dict[str, Sequence[Cut]] = {
            path: choices.get(path, ()) for path in state.algorithm_data["paths"]
        }
        run = _run_of(state)
        if self._made[0] != run:
            self._made = run, {}
        return CompressSearch(
            facts.baseline,
            every,
            verdicts,
            screened=self.screened,
            made=self._made[1],
            may_go=self._may_go(state),
        )

    def _edits(self, state: OptimizerState) -> tuple[list[SectionEdit], list[dict[str, Any]]]:
        """The edits that may be tried, and those that would lose lines that no item tests."""
        every = [SectionEdit.of(one) for one in state.algorithm_data["edits"]]
        lines = () if self.drop_untested else self.untested(state)
        kept, refused = [], []
        for edit in every:
            lost = [
                one.text
                for one in lines
                if one.section_path == edit.path and not says(edit.proposed_body, one.text)
            ]
            if not lost:
                kept.append(edit)
                continue
            reason = f"no item tests what it leaves out, such as “{shorten(lost[0])}”"
            told = {"section_path": edit.path, "edit": edit.name.partition("/")[2]}
            refused.append({**told, "token_reduction": edit.token_reduction, "reason": reason})
        return kept, refused

    def refused(self, state: OptimizerState) -> list[dict[str, Any]]:
        """Edits that were never tried, and why."""
        return [*state.algorithm_data.get("refused", ()), *self._edits(state)[1]]

    def untested(self, state: OptimizerState) -> tuple[UntestedLine, ...]:
        """The lines of the baseline that no item tests, in the sections that may be shortened."""
        coverage = _coverage(state)
        if coverage is None:
            return ()
        found = coverage.untested(RunFacts.within(state).baseline)
        return tuple(one for one in found if one.section_path in state.algorithm_data["paths"])

    def _may_go(self, state: OptimizerState) -> MayGo:
        """Which single lines may be left out."""
        protection = Protection(RunFacts.within(state).baseline, self.protected)
        coverage = None if self.drop_untested else _coverage(state)
        return lambda line: (
            not protection.covers(line) and (coverage is None or coverage.tests(line))
        )

    def _has_lines(self, state: OptimizerState) -> bool:
        baseline, may_go = RunFacts.within(state).baseline, self._may_go(state)
        return self.lines and any(
            unit_cuts(baseline, path, "", may_go) for path in state.algorithm_data["paths"]
        )


class _NoGate(Exception):  # noqa: N818 - never leaves this module
    """The baseline passes nothing."""


class _Wanted(Exception):  # noqa: N818 - never leaves this module
    def __init__(
        self,
        unknown: Unknown,
        configurations: Mapping[str, tuple[Configuration, str]],
        verdicts: Verdicts,
    ) -> None:
        super().__init__()
        self.unknown = unknown
        self.configurations = configurations
        self.verdicts = verdicts


def _coverage(state: OptimizerState) -> Coverage | None:
    """What the items are about; None before the first step, and in runs of earlier versions."""
    stored = state.algorithm_data.get("coverage")
    return None if stored is None else Coverage.of(stored)


def _run_of(state: OptimizerState) -> str:
    """Which run a state is of."""
    return RunFacts.within(state).baseline_candidate_id


def _words(cuts: Sequence[Cut]) -> str:
    return "; ".join(cut.describe() for cut in cuts)
