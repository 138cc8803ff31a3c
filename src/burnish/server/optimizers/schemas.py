"""Optimizers: what can be chosen, what is configured, and the runs of those with their candidates."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, Discriminator, Field, Tag, field_validator

from burnish.app.agents.optimizers.configs import AnyConfig, GEPASettings, read_config
from burnish.app.agents.optimizers.cron import Schedule
from burnish.app.agents.optimizers.runs import RUN_STATES, RunState
from burnish.app.kinds import FRAMEWORK, Kind
from burnish.app.optimize.run_plan import RunPlan
from burnish.domain import ExperimentStatus, ExperimentType, OptimizationStatus, SystemClock
from burnish.domain.registry import CandidateLine, ObjectVersion, RunLine
from burnish.optimization.search_plan import is_baseline_id
from burnish.server.evaluations.schemas import TrialRefineChoice
from burnish.server.http.examples import WITH_EXAMPLES
from burnish.server.http.requests import (
    ExpectedVersion,
    JsonObject,
    NewName,
    Person,
    Strict,
    VersionNumber,
    require_shallow,
)
from burnish.server.http.responses import Page, View
from burnish.server.optimizations.request_schemas import BudgetLimits

_META = ("author", "expected_version", "budget")
CandidateState = Literal[
    "pending", "evaluating", "evaluated", "rejected", "accepted", "interrupted"
]
_STOPPED = (ExperimentStatus.CANCELLED, ExperimentStatus.TIMEOUT)


class OptimizerKind(View):
    """An algorithm that can be chosen. `settings` is a JSON schema, for forms."""

    name: str
    summary: str
    description: str
    model: Literal["none", "optional", "required"] = Field(
        description="Whether it asks a model of its own; its name is the setting `model`."
    )
    settings: dict[str, Any]
    built_in: bool


class OptimizerKinds(BaseModel):
    """Every algorithm, and a JSON schema of the settings that go with all of them."""

    items: list[OptimizerKind]
    framework: dict[str, Any] = Field(examples=[FRAMEWORK])


class ScorerKind(View):
    """A built-in kind of scorer. `settings` is a JSON schema of what stands beside its `kind`."""

    kind: str
    summary: str
    description: str
    model: Literal["none", "optional", "required"]
    settings: dict[str, Any]
    over_http: bool = Field(description="Whether a request may use it; code never comes from one.")

    @classmethod
    def of(cls, kind: Kind) -> ScorerKind:
        """From the catalog."""
        return cls.read(kind, kind=kind.name)


class ScorerKinds(BaseModel):
    """Every kind of scorer."""

    items: list[ScorerKind]


class PlannedEvaluations(BaseModel):
    """Runs of items, of which those that are known already cost nothing."""

    baseline: int
    each_trial: int
    confirmation: int = Field(description="At the end, on held-out items.")
    max_trials: int | None
    max: int | None = Field(description="None without a limit.")
    about: int | None = Field(
        description="What a limit of trials comes to, where candidates run on some items besides."
    )


class Amounts(BaseModel):
    """What something takes. None is unknown, and `why_unknown` says why."""

    calls: int | None
    input_tokens: float
    output_tokens: float
    cost_usd: float | None
    why_unknown: str | None


class AmountRange(BaseModel):
    """From about to about: prompts grow, and nobody knows how often outputs are refined."""

    least: Amounts
    most: Amounts | None = Field(description="None where nothing says how much it can be.")


class Questions(AmountRange):
    """What the optimizer itself asks a model."""

    model: str


class Estimate(BaseModel):
    """What a run would take, with the calls of agent, judges, refinement and optimizer."""

    model_config = WITH_EXAMPLES

    agent: str
    suite: str
    optimizer: str
    seed: int | None = Field(description="None where the run draws its own.")
    racing: str
    objective: dict[str, Any]
    splits: dict[str, int]
    budget: dict[str, int | float]
    evaluations: PlannedEvaluations
    each_evaluation: AmountRange
    questions: Questions | None = Field(description="None where the optimizer asks no model.")
    by_purpose: dict[str, AmountRange] = Field(
        description="What agent, user, judge, refine and propose take; empty where it is not known."
    )
    total: AmountRange | None = Field(description="None where nothing limits the run.")
    notes: list[str]

    @classmethod
    def of(cls, plan: RunPlan, suite: str) -> Estimate:
        """From a plan."""
        return cls.model_validate({**plan.to_json(), "suite": suite})


class _NewOptimizer(Strict):
    """What all optimizers have; sent again with changes it becomes a new version."""

    name: NewName
    agent_name: Annotated[str, Field(max_length=200)] | None = Field(
        default=None, description="As in the path, where it is given."
    )
    suite_id: UUID | None = Field(
        default=None, strict=False, description="Without it, the server's own suite."
    )
    base_config_version: VersionNumber | None = Field(
        default=None, description="Pins the version that runs begin with; else the active one."
    )
    budget: BudgetLimits = Field(default_factory=BudgetLimits)
    seed: Annotated[int, Field(ge=-(2**63) + 1, le=2**63 - 1)] | None = Field(
        default=None, description="Without it, each run draws its own."
    )
    refine: TrialRefineChoice | None = Field(
        default=None,
        description="How outputs of trials are refined; as the suite has it if left out.",
    )
    schedule: Annotated[str, Field(max_length=100)] | None = Field(
        default=None,
        description="Five fields as in a crontab. A run starts then, unless one goes on.",
        examples=["0 2 * * *"],
    )
    schedule_timezone: Annotated[str, Field(max_length=100)] = "UTC"
    auto_promote: bool = Field(
        default=False,
        description="Promote the winner without a person, where held-out items prove it; each "
        "further look at the same items asks for a smaller p-value.",
    )
    author: Person | None = None
    expected_version: ExpectedVersion = None

    def config(self, agent: str) -> AnyConfig:
        """As it is kept."""
        values = self.model_dump(exclude=set(_META))
        suite_id = "" if self.suite_id is None else str(self.suite_id)
        given = {
            "agent_name": agent,
            "suite_id": suite_id,
            "budget": self.budget.given(),
            "refine": None if self.refine is None else self.refine.given(),
        }
        return read_config({**values, **given})


class NewGEPAOptimizer(_NewOptimizer, GEPASettings):
    """The `gepa` optimizer; `model` is its meta-model, one that the server's configuration names.

    Settings of the framework that are left out are as that configuration has them.
    """

    @field_validator("space", "objective")
    @classmethod
    def _check(cls, value: dict[str, Any] | None) -> dict[str, Any] | None:
        return None if value is None else require_shallow(value)


class NewOtherOptimizer(_NewOptimizer):
    """Any other optimizer, with its own settings and the framework's."""

    optimizer: Annotated[str, Field(min_length=1, max_length=100)]
    settings: JsonObject = Field(default_factory=dict)


def _kind(value: Any) -> str:
    name = value.get("optimizer", "gepa") if isinstance(value, dict) else "gepa"
    return "gepa" if name == "gepa" else "other"


NewOptimizer = Annotated[
    Annotated[NewGEPAOptimizer, Tag("gepa")] | Annotated[NewOtherOptimizer, Tag("other")],
    Discriminator(_kind),
]


class OptimizerView(View):
    """A configured optimizer of an agent."""

    optimizer_id: str
    agent_name: str
    name: str
    version: int
    active: bool
    author: str
    created_at: str
    next_run_at: str | None = Field(description="When its schedule starts the next run, in UTC.")
    config: dict[str, Any]

    @classmethod
    def of(cls, stored: ObjectVersion) -> OptimizerView:
        """From its record."""
        return cls.read(
            stored,
            optimizer_id=stored.id,
            agent_name=stored.scope,
            next_run_at=_next_run(stored),
            config=stored.document,
        )


class OptimizerPage(Page[OptimizerView]):
    """Some optimizers; `next_cursor` is None on the last page."""


class RunView(View):
    """A run. Its id is that of its optimization, where events, trials and the report are."""

    id: str
    agent_name: str
    suite_name: str
    optimizer_name: str
    status: RunState
    base_config_version: int
    scores: dict[str, float] | None = Field(
        description="The mean of each scorer for the best candidate so far."
    )
    iterations: int = Field(description="Trials so far, without the baseline.")
    winning_candidate_id: str | None = Field(
        description="None until the run has ended, and when nothing beat the baseline."
    )
    started_at: str
    completed_at: str | None
    optimizer_version: int
    seed: int = Field(description="That of its optimizer, or the one that it drew.")
    suite_id: str
    suite_version: int
    baseline_score: float | None
    best_score: float | None
    stop_reason: str | None
    error: dict[str, Any] | None
    due_at: str | None = Field(description="The time of the schedule that started it.")
    promotion: dict[str, Any] | None = Field(
        description="What was done without a person after its end, and why; `look` and `level` say how "
        "often these held-out items were looked at, and how small p had to be."
    )

    @classmethod
    def of(cls, line: RunLine) -> RunView:
        """From a line of a page."""
        run, record = line.run, line.record
        ended = record.status.final
        best = record.best_candidate_id
        won = ended and not is_baseline_id(record.id, best)
        return cls.read(
            run,
            record,
            status=RUN_STATES[record.status],
            scores=line.scores or None,
            iterations=record.trials,
            winning_candidate_id=best if won else None,
            completed_at=record.updated_at if ended else None,
            error=record.framework_error,
        )


class RunPage(Page[RunView]):
    """Some runs, the newest first; `next_cursor` is None on the last page."""


class CandidateView(View):
    """A candidate of a run. `eval_run_id` is the evaluation that its scores come from."""

    id: str
    run_id: str
    number: int = Field(description="The baseline is 0.")
    candidate_hash: str
    system_prompt: str
    user_prompt: str
    extra_sections: dict[str, str]
    eval_run_id: str | None = Field(description="Its trial, else its mini-batch.")
    score: float | None = Field(description="By the weights of the suite's scorers.")
    scores: dict[str, float] | None
    items: int | None = Field(description="How many items the scores are of.")
    status: CandidateState = Field(
        description="`rejected`: it failed, was ended early, or went no further than a mini-batch. "
        "`interrupted`: the run ended before it was judged."
    )
    rationale: str | None

    @classmethod
    def of(cls, line: CandidateLine, run: RunLine) -> CandidateView:
        """From a line of a page; the winner of a run that has ended is accepted."""
        candidate, trial = line.candidate, line.trial
        sections = dict(candidate.configuration.sections)
        return cls.read(
            candidate,
            run_id=run.run.id,
            candidate_hash=candidate.configuration.hash,
            system_prompt=sections.pop("system", ""),
            user_prompt=sections.pop("user", ""),
            extra_sections=sections,
            eval_run_id=None if trial is None else trial.experiment_id,
            score=None if trial is None else trial.objective_score,
            scores=line.scores or None,
            items=None if trial is None else trial.summary.total_items,
            status=_state(line, run),
        )


class CandidatePage(Page[CandidateView]):
    """Some candidates by number; `next_cursor` is None on the last page."""


def _state(line: CandidateLine, run: RunLine) -> CandidateState:
    """A mini-batch screens a candidate out unless a trial follows, which the run's end decides.

    Whom a stop, a failure or the end of the time kept from its evaluation was not judged: it was
    interrupted. Nobody is pending once the run has ended.
    """
    trial, status = line.trial, run.record.status
    if trial is not None and not trial.status.final and not status.final:
        return "evaluating"
    if trial is None or not trial.status.final or trial.status in _STOPPED:
        if not status.final:
            return "pending"
        stopped = trial is not None or status is not OptimizationStatus.COMPLETED
        return "interrupted" if stopped else "rejected"
    screened = trial.type is ExperimentType.MINI_BATCH and status.final
    if screened or trial.status is not ExperimentStatus.COMPLETED:
        return "rejected"
    won = run.record.best_candidate_id == line.candidate.id and line.candidate.number > 0
    return "accepted" if won and status is OptimizationStatus.COMPLETED else "evaluated"


def _next_run(stored: ObjectVersion) -> str | None:
    cron = stored.document.get("schedule")
    if not cron or not stored.active:
        return None
    schedule = Schedule.of(cron, stored.document["schedule_timezone"])
    due = schedule.next_due(SystemClock().now())
    return None if due is None else due.isoformat().replace("+00:00", "Z")
