"""The `gepa_reference` optimizer: the unmodified `gepa` package, asked and told by this framework.

The package wants to evaluate by itself. So each call here runs it again from its start, on answers
that the history and the state already hold, up to the first evaluation that they do not: that is the
next proposal, a mini-batch or, over the whole validation split, a trial. Equal seeds and answers lead
it the same way, so the run is the one that the package would have made alone, and outlives a killed
process.

What differs from the package alone: the same configuration on the same item is run once and its result
read again; a text that the framework would refuse (a dropped placeholder, a section too long) counts as
no improvement; texts are normalised as all configurations are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from burnish.domain import (
    BurnishError,
    CandidateProposal,
    OptimizerState,
    RunContext,
    StopDecision,
    TrialHistory,
    TrialResult,
    UsageError,
)
from burnish.optimizers.gepa_package.journal import Ended, Journal, Memory, Outcome, Wanted
from burnish.optimizers.shared.asking import Asker, ModelAsker
from burnish.optimizers.shared.facts import RunFacts
from burnish.optimizers.shared.search_status import GOING_ON, first_state, next_state, stop
from burnish.support.number_checks import bad_setting, require_whole

if TYPE_CHECKING:
    from burnish.optimizers.gepa_package.adapter import Session, Task

_SELECTIONS = ("pareto", "current_best", "epsilon_greedy", "top_k_pareto")
_MODULES = ("round_robin", "all")


class GepaReference(ModelAsker):
    """Runs the `gepa` package; `model` reflects, and the settings are the package's own.

    Without `max_metric_calls` (counted as the package counts, repeated evaluations included) it goes on
    until the run's budget is spent or the package goes in circles. A rewrite is tried on
    `minibatch_size` items, its parent is chosen by `candidate_selection` (`pareto`, `current_best`,
    `epsilon_greedy` or `top_k_pareto`) and its section by `module_selector` (`round_robin` or `all`).
    `use_merge` crosses lineages, at most `max_merge_invocations` times. With `skip_perfect_score` it
    asks nothing where all items of a batch passed.
    """

    name = "gepa_reference"
    # The package thinks one evaluation at a time.
    candidates_per_step = 1

    def __init__(
        self,
        *,
        model: Any,
        minibatch_size: int = 3,
        candidate_selection: str = "pareto",
        module_selector: str = "round_robin",
        use_merge: bool = False,
        max_merge_invocations: int = 5,
        max_metric_calls: int | None = None,
        skip_perfect_score: bool = True,
    ) -> None:
        _require_package()
        if model is None:
            raise bad_setting(self.name, "model", "the package cannot reflect without one")
        self._asker = Asker(model)
        self._max_metric_calls = max_metric_calls
        if max_metric_calls is not None:
            require_whole(self.name, "max_metric_calls", max_metric_calls, least=1)
        self._settings: Mapping[str, Any] = {
            "reflection_minibatch_size": require_whole(
                self.name, "minibatch_size", minibatch_size, least=1
            ),
            "candidate_selection_strategy": _one_of(
                "candidate_selection", candidate_selection, _SELECTIONS
            ),
            "module_selector": _one_of("module_selector", module_selector, _MODULES),
            "use_merge": bool(use_merge),
            "max_merge_invocations": require_whole(
                self.name, "max_merge_invocations", max_merge_invocations, least=0
            ),
            "skip_perfect_score": bool(skip_perfect_score),
        }
        self._kept = _Kept(owner="")

    def questions(self, evaluations: int, trials: int) -> tuple[int, int]:
        """One for each mini-batch that is not known yet."""
        return 1, 1 + evaluations // self._settings["reflection_minibatch_size"]

    def initialize(self, context: RunContext) -> OptimizerState:
        """Remember the run's facts and both item sets, in their order."""
        return first_state(
            context,
            train=list(context.splits.get("train") or context.splits["validation"]),
            validation=list(context.splits["validation"]),
            reflections={},
            refusals=0,
        )

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """The evaluation that the package waits for."""
        outcome = self._outcome(state, history)
        if isinstance(outcome, BurnishError):
            self._kept.outcome = None  # Whoever comes back asks the model again.
            raise outcome
        return [outcome.proposal] if isinstance(outcome, Wanted) else []

    def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """One step on. No results means that the proposal was refused; a replay then knows it."""
        data = state.algorithm_data
        unheld = self._recall(state).memory.unheld(proposal_ran=bool(trial_results))
        after = next_state(state, trial_results)
        return replace(
            after,
            algorithm_data={
                **after.algorithm_data,
                "reflections": {**data["reflections"], **unheld},
                "refusals": data["refusals"] + (0 if trial_results else 1),
            },
        )

    def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """When the package ended by itself."""
        outcome = self._outcome(state, history)
        if not isinstance(outcome, Ended):
            return GOING_ON  # An error is raised where the framework expects it, in `propose`.
        return stop(outcome.message)

    def _outcome(self, state: OptimizerState, history: TrialHistory) -> Outcome | BurnishError:
        """Where the package stands; a second question about the same history costs nothing."""
        kept = self._recall(state)
        key = (len(history.tried), len(history.mini_batches), state.algorithm_data["refusals"])
        if kept.outcome is None or kept.key != key:
            session = self._session(kept, key)
            kept.session = None
            try:
                kept.outcome = session.go_on(self._task(state, history, kept.memory))
            except BurnishError as error:
                kept.outcome = error
            kept.key = key
            if isinstance(kept.outcome, Wanted):
                kept.session, kept.memory.carried = session, kept.outcome.carried
        return kept.outcome

    def _session(self, kept: _Kept, key: tuple[int, ...]) -> Session:
        """The engine that waits for this history, or a new one that runs up to it."""
        from burnish.optimizers.gepa_package.adapter import Session  # noqa: PLC0415 - optional

        longer = all(now >= then for now, then in zip(key, kept.key, strict=True))
        if kept.session is not None and kept.session.waiting and longer:
            return kept.session
        return Session(self._settings, max_metric_calls=self._max_metric_calls)

    def _task(self, state: OptimizerState, history: TrialHistory, memory: Memory) -> Task:
        from burnish.optimizers.gepa_package.adapter import Task  # noqa: PLC0415 - the package is optional

        data, asker = state.algorithm_data, self._asker
        return Task(
            facts=RunFacts.within(state),
            train=history.items(data["train"]),
            validation=history.items(data["validation"]),
            journal=Journal(history, data["reflections"], memory),
            # Not a method of this optimizer: its engine must not keep it alive.
            ask=lambda prompt, turn: asker.ask_blocking(prompt, turn=turn),
            refusals=data["refusals"],
        )

    def _recall(self, state: OptimizerState) -> _Kept:
        """What is kept of this run; an optimizer that is used for another one starts anew."""
        owner = RunFacts.within(state).baseline_candidate_id
        if self._kept.owner != owner:
            self._kept = _Kept(owner=owner)
        return self._kept


@dataclass
class _Kept:
    """What a process keeps between calls to be quick. Without it a run is slower, not another one."""

    owner: str
    memory: Memory = field(default_factory=Memory)
    session: Session | None = None
    key: tuple[int, ...] = (0, 0, 0)
    outcome: Outcome | BurnishError | None = None


def _require_package() -> None:
    try:
        import gepa  # noqa: F401, PLC0415 - optional
    except ImportError as error:
        raise UsageError(
            what="the optimizer 'gepa_reference' cannot be used",
            why="it runs the gepa package, which is not installed",
            fix="pip install 'burnish[gepa]'",
            code="missing_extra",
        ) from error


def _one_of(setting: str, value: str, known: Sequence[str]) -> str:
    if value not in known:
        raise bad_setting(GepaReference.name, setting, f"{value!r} is none of {', '.join(known)}")
    return value
