"""Optimizers: what one sees, says and gets back, and what it may change."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from burnish.domain.configuration import Configuration
from burnish.domain.errors import UsageError
from burnish.domain.experiments.items import Item
from burnish.domain.experiments.records import ExperimentStatus, ExperimentType, ItemResult
from burnish.domain.json_values import Json


class OptimizationStatus(StrEnum):
    """Where an optimization stands; the last three are final."""

    INITIALIZED = "initialized"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def final(self) -> bool:
        """Whether it will not go on by itself."""
        return self not in (OptimizationStatus.INITIALIZED, OptimizationStatus.RUNNING)


class StopReason(StrEnum):
    """Why an optimization ended. The first four are the optimizer's, the rest the framework's."""

    TARGET_REACHED = "target_reached"
    CONVERGENCE = "convergence"
    NO_IMPROVEMENT = "no_improvement"
    ALGORITHM_SPECIFIC = "algorithm_specific"
    BUDGET = "budget"
    TIMEOUT = "timeout"
    CANCELLED = "cancelled"
    NO_CANDIDATES = "no_candidates"
    ERROR = "error"


class ReasonCode(StrEnum):
    """Why a proposal was not run."""

    DUPLICATE = "duplicate"
    EMPTY_SECTION = "empty_section"
    PLACEHOLDER_DROPPED = "placeholder_dropped"
    PLACEHOLDER_UNKNOWN = "placeholder_unknown"
    SECTION_TOO_LONG = "section_too_long"
    SECTION_LOCKED = "section_locked"
    SECTION_MISSING = "section_missing"
    UNKNOWN_FIELD = "unknown_field"
    UNKNOWN_PARENT = "unknown_parent"
    UNKNOWN_ITEM = "unknown_item"
    PARAMETER_OUT_OF_RANGE = "parameter_out_of_range"
    TOO_MANY_EXAMPLES = "too_many_examples"
    INVALID_CONFIGURATION = "invalid_configuration"
    TOO_MANY_CANDIDATES = "too_many_candidates"
    BUDGET = "budget"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """What is fixed for a run; made only after the baseline's trial completed.

    `splits` are train and validation: the test split is for the confirmation, and no optimizer sees it.
    `perfect_score` is what nothing can be better than, if there is an end; `evaluations_left` what the
    search may spend, if limited. `criteria`: what scorers go by, `answer_fields`: what they compare to.
    `held_out`: whether the winner is compared on items that nobody sees before.
    """

    optimization_id: str
    evaluation_suite_id: str
    objective_name: str
    baseline_candidate_id: str
    baseline_score: float
    max_candidates_per_step: int
    baseline: Configuration
    space: SearchSpace
    splits: Mapping[str, tuple[str, ...]]
    seed: int
    labels: tuple[str, ...] = ()
    placeholders: frozenset[str] = frozenset()
    perfect_score: float | None = 1.0
    evaluations_left: int | None = None
    criteria: tuple[str, ...] = ()
    output_schema: Mapping[str, Json] | None = None
    answer_fields: tuple[str, ...] = ()
    held_out: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerState:
    """All that an optimizer remembers, as JSON. Equal state, history and seed propose alike."""

    generation: int = 0
    best_candidate_id: str | None = None
    best_score: float | None = None
    algorithm_data: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The checkpoint's form."""
        return {
            "generation": self.generation,
            "best_candidate_id": self.best_candidate_id,
            "best_score": self.best_score,
            "algorithm_data": dict(self.algorithm_data),
        }

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> OptimizerState:
        """From a checkpoint."""
        return cls(
            generation=value["generation"],
            best_candidate_id=value.get("best_candidate_id"),
            best_score=value.get("best_score"),
            algorithm_data=value.get("algorithm_data") or {},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateProposal:
    """A full configuration to try. With `item_ids` it is a mini-batch and never a trial.

    A mini-batch may ask for other `repeats` than the suite's: fewer for a first look, more to tell
    a flaky failure from a true one. Repeats that were run before are not run again.

    `metadata` is JSON for the optimizer itself: the accepted candidate gives it back, also after a
    resume. A configuration that is a candidate already keeps what it was first proposed with.
    """

    configuration: Configuration | Mapping[str, Any]
    parent_candidate_ids: Sequence[str] = ()
    rationale: str | None = None
    item_ids: Sequence[str] | None = None
    repeats: int | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An accepted configuration. `number` counts up within its optimization; the baseline is 0.

    `metadata` is what its proposal carried for the optimizer; empty in runs of older versions.
    """

    id: str
    optimization_id: str
    number: int
    step_index: int
    configuration: Configuration
    parent_candidate_ids: tuple[str, ...] = ()
    rationale: str | None = None
    mask_id: str = ""
    metadata: Mapping[str, Json] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSummary:
    """The counts of a trial. Pass rate divides by all items, errors included.

    `error_items` ended in an error. Of these, `missing_items` have no answer for reasons outside the
    agent: they count in no score.
    `total_cost` was paid for this trial. `avg_tokens` and `avg_cost_usd` are what one answer of the
    agent takes, paid now or reused; None where that is unknown.
    """

    total_items: int
    passed_items: int
    failed_items: int
    pass_rate: float
    total_cost: float | None
    avg_latency_ms: float | None
    avg_ttft_ms: float | None
    avg_tokens: float | None = None
    avg_cost_usd: float | None = None
    error_items: int = 0
    missing_items: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialResult:
    """The outcome of one candidate's experiment, over the whole suite or a mini-batch of it.

    `objective_score` is the score. An optimizer is given the utility in its place where the
    objective weighs other measures too: whatever it is, more is better.
    """

    optimization_id: str
    candidate_id: str
    mask_id: str
    experiment_id: str
    status: ExperimentStatus
    objective_score: float | None
    summary: TrialSummary
    error: str | None = None
    type: ExperimentType = ExperimentType.TRIAL

    @property
    def counts(self) -> bool:
        """Whether this can be best: a trial that ran to its end."""
        return self.type is ExperimentType.TRIAL and self.status is ExperimentStatus.COMPLETED


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """Proposals together with what the optimizer learnt while it made them.

    The state is stored with the step, before anything of it runs.
    """

    proposals: Sequence[CandidateProposal]
    state: OptimizerState


class TrialHistory(Protocol):
    """What has been tried. Holds the results that were observed, and no later ones.

    `trials` ran to their end and have a score; `tried` has every trial that was observed, also those
    that failed, were ended early or stopped.

    `evaluations_left` is how many more the search may spend; None without a limit.

    `item_results` and `items` read storage on demand. Call them from plain optimizer methods,
    which run off the event loop; async methods await `load_item_results` and `load_items`.
    """

    @property
    def trials(self) -> Sequence[TrialResult]: ...

    @property
    def tried(self) -> Sequence[TrialResult]: ...

    @property
    def mini_batches(self) -> Sequence[TrialResult]: ...

    @property
    def evaluations_left(self) -> int | None: ...

    def candidate(self, candidate_id: str) -> Candidate: ...

    def item_results(self, candidate_id: str) -> Sequence[ItemResult]: ...

    def items(self, item_ids: Sequence[str]) -> Sequence[Item]: ...

    async def load_item_results(self, candidate_id: str) -> Sequence[ItemResult]: ...

    async def load_items(self, item_ids: Sequence[str]) -> Sequence[Item]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StopDecision:
    """Whether the optimizer has had enough, and why. The reason may be given as its text."""

    should_stop: bool
    reason: StopReason | None = None
    message: str | None = None

    def __post_init__(self) -> None:
        if self.reason is not None:
            object.__setattr__(self, "reason", StopReason(self.reason))


class Optimizer(Protocol):
    """Decides what to try next. Methods may be plain or async; plain ones run off the event loop.

    State in, state out: an optimizer keeps nothing between calls that the state does not hold, so a
    killed run resumes into the same run. `observe` gets results in the order of the candidates.

    The four methods are all that is needed. An attribute `name` is shown in lists; without it the
    class's is.
    """

    def initialize(self, context: RunContext) -> OptimizerState | Awaitable[OptimizerState]: ...

    def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> (
        Sequence[CandidateProposal] | Proposed | Awaitable[Sequence[CandidateProposal] | Proposed]
    ): ...

    def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState | Awaitable[OptimizerState]: ...

    def should_stop(
        self, state: OptimizerState, history: TrialHistory
    ) -> StopDecision | Awaitable[StopDecision]: ...


def optimizer_name(optimizer: Optimizer) -> str:
    """Its own name, or that of its class."""
    name = getattr(optimizer, "name", None)
    return name if name and isinstance(name, str) else type(optimizer).__name__


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterSpace:
    """The values one parameter may take: a list of choices, or a range of numbers."""

    choices: tuple[Json, ...] = ()
    low: float | None = None
    high: float | None = None

    def allows(self, value: Json) -> bool:
        """Whether the value lies in the space."""
        if self.choices:
            return value in self.choices
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def describe(self) -> str:
        """The space in words, for a rejection's message."""
        if self.choices:
            return "one of " + ", ".join(repr(choice) for choice in self.choices)
        return f"a number from {self.low} to {self.high}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpace:
    """Which sections may change, how long they may grow, and what parameters may be tried.

    `sections` are those that may change; None means every section of the baseline. `locked` ones
    may not. `parameters` has, by name, a list of choices or {low, high}; those that are not named
    must stay as they are in the baseline, but `label_words` and `label_bias`, which are the agent's
    own and always free. Choices of `model` are declared models. `max_section_chars` is how long a
    section may grow, `max_examples` how many examples may be shown. With `own_placeholders` each
    section is filled from fields of its own: it keeps its placeholders, and those of another section
    mean nothing in it.
    """

    sections: tuple[str, ...] | None = None
    locked: tuple[str, ...] = ()
    parameters: Mapping[str, ParameterSpace] = field(default_factory=dict)
    max_section_chars: int = 20_000
    max_examples: int = 32
    own_placeholders: bool = False

    def may_change(self, path: str) -> bool:
        """Whether a section is free."""
        return path not in self.locked and (self.sections is None or path in self.sections)

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> SearchSpace:
        """From its JSON form."""
        known = tuple(cls.__dataclass_fields__)
        for key in value:
            if key not in known:
                raise _bad(f"it has no field {key!r}; known are {', '.join(known)}")
        sections = value.get("sections")
        parameters = value.get("parameters") or {}
        return cls(
            sections=None if sections is None else tuple(sections),
            locked=tuple(value.get("locked") or ()),
            parameters={name: _parameter(name, one) for name, one in parameters.items()},
            max_section_chars=int(value.get("max_section_chars", 20_000)),
            max_examples=int(value.get("max_examples", 32)),
            own_placeholders=bool(value.get("own_placeholders", False)),
        )

    def to_json(self) -> dict[str, Any]:
        """The JSON form that `of` reads."""
        return {
            "sections": None if self.sections is None else list(self.sections),
            "locked": list(self.locked),
            "parameters": {
                name: list(one.choices) if one.choices else {"low": one.low, "high": one.high}
                for name, one in self.parameters.items()
            },
            "max_section_chars": self.max_section_chars,
            "max_examples": self.max_examples,
            # Only where it is on: without it the document is that of before, and so equal.
            **({"own_placeholders": True} if self.own_placeholders else {}),
        }


def _parameter(name: str, value: Any) -> ParameterSpace:
    if isinstance(value, Mapping) and set(value) == {"choices"}:
        value = value["choices"]
    if isinstance(value, (list, tuple)) and value:
        return ParameterSpace(choices=tuple(value))
    if isinstance(value, Mapping) and set(value) <= {"low", "high"} and value:
        return ParameterSpace(low=value.get("low"), high=value.get("high"))
    raise _bad(f"{name!r} needs a list of choices or {{low, high}}, not {value!r}")


def _bad(why: str) -> UsageError:
    return UsageError(
        what="the search space cannot be used",
        why=why,
        fix='write {"sections": ["system"], "parameters": {"temperature": {"low": 0, "high": 1}}}',
        code="invalid_space",
    )
