"""Evaluations: one configuration on one suite, and the refinement of single outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from burnish.app.evaluate.evaluations import Selection
from burnish.app.evaluate.result import EvaluationResult, refinement_json, round_json
from burnish.app.optimize.creation import Choice
from burnish.domain import (
    Experiment,
    ExperimentStatus,
    ExperimentType,
    Outcome,
    Refinement,
    Round,
    RoundEnd,
)
from burnish.server.http.requests import JsonObject, Name, Strict, VersionNumber
from burnish.server.http.responses import View
from burnish.server.optimizations.schemas import Usage, WaitingBatch

Limit = Annotated[int, Field(ge=0, le=20)]
Answer = Literal["latest", "best"]


class RefineChoice(Strict):
    """How outputs are refined; what is left out is as the suite has it."""

    model: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None,
        description="The optimizer: the model that writes outputs anew. One that the server's "
        "configuration names.",
    )
    limit: Limit | None = Field(
        default=None, description="At most so often for each output; 0 switches it off."
    )
    threshold: float | None = Field(
        default=None,
        description="The score from which an output is not refined any more; without one, only a "
        "perfect score ends it early.",
    )
    answer: Answer | None = Field(
        default=None, description="Which round counts: the latest (as usual) or the best."
    )

    def given(self) -> dict[str, Any]:
        """What was named."""
        return self.model_dump(exclude_unset=True)


class TrialRefineChoice(RefineChoice):
    """How the outputs of trials are refined. The budget counts these calls too."""

    trials: bool = True

    def given(self) -> dict[str, Any]:
        """What was named; trials are refined unless it says no."""
        return {**self.model_dump(exclude_unset=True), "trials": self.trials}


class RefineTableView(View):
    """`[suite.refine]`."""

    model: str | None
    limit: int
    threshold: float | None
    answer: str
    trials: bool
    fields: list[str] | None
    parameters: dict[str, Any] | None


class NewRefineTable(Strict):
    """How a suite's outputs are refined."""

    model: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    limit: Limit = 0
    threshold: float | None = None
    answer: Answer = "latest"
    trials: bool = False
    fields: Annotated[list[str], Field(max_length=100)] | None = None
    parameters: dict[str, Any] | None = None


class UserTableView(View):
    """`[suite.user]`."""

    model: str | None
    turns: str | None
    goal: str | None
    persona: str | None
    max_turns: int | None
    parameters: dict[str, Any] | None


class NewUserTable(Strict):
    """Who talks with the agent: a column of turns, a model with a goal, or both."""

    model: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    turns: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    goal: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    persona: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    max_turns: Annotated[int, Field(ge=1, le=1000)] | None = None
    parameters: dict[str, Any] | None = None


class RefineView(View):
    """How an evaluation refines; inactive is allowed, and `why_inactive` says why it is so."""

    active: bool
    why_inactive: str | None
    model: str | None
    limit: int
    threshold: float | None
    answer: Answer
    judges: list[str]


class RoundScoreView(BaseModel):
    """What one scorer says about one output."""

    name: str
    value: float
    passed: bool | None
    reason: str
    error: str | None


class RoundView(View):
    """One output with its evaluation: 0 is what the agent wrote, later ones are refined."""

    round: int
    output: dict[str, Any]
    score: float
    passed: bool
    reason: str
    scores: list[RoundScoreView]
    error: str | None = Field(description="Why there is no verdict; the score then counts not.")
    model: str = Field(description="Who wrote the output.")
    usage: Usage = Field(description="Of writing and judging it.")
    latency_ms: float = Field(description="Of writing it.")
    cached: bool
    created_at: str
    ended: RoundEnd | None = Field(description="On the last round: why there is no other.")
    ended_why: str | None

    @classmethod
    def of(cls, one: Round) -> RoundView:
        """From its record."""
        return cls.model_validate(round_json(one))


class ItemRefinement(View):
    """What refinement made of one output; `rounds` counts refined ones."""

    rounds: int
    first_score: float
    latest_score: float
    best_score: float
    best_round: int
    answer: Answer
    answer_round: int
    ended: RoundEnd
    ended_why: str
    outcome: Outcome

    @classmethod
    def of(cls, refinement: Refinement) -> ItemRefinement:
        """From its record."""
        return cls.model_validate(refinement_json(refinement))


class Overrides(Strict):
    """Laid over the agent's configuration for this evaluation, and never saved."""

    sections: Annotated[dict[str, str], Field(max_length=200)] = Field(default_factory=dict)
    parameters: JsonObject = Field(default_factory=dict)
    examples: Annotated[list[JsonObject], Field(max_length=1000)] | None = None

    def given(self) -> dict[str, Any]:
        """What was named."""
        return {name: value for name, value in self.model_dump().items() if value}


class EvaluationBudget(Strict):
    """What an evaluation may spend; nothing is limited that is left out."""

    max_evaluations: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None
    max_calls: Annotated[int, Field(ge=0, le=1_000_000_000)] | None = None
    max_tokens: Annotated[int, Field(ge=0, le=1_000_000_000_000)] | None = None
    max_cost_usd: Annotated[float, Field(ge=0, le=1e9)] | None = None
    max_seconds: Annotated[float, Field(ge=0, le=1e9)] | None = None

    def given(self) -> dict[str, Any]:
        """The limits that were named."""
        return {name: value for name, value in self.model_dump().items() if value is not None}


class NewEvaluation(Strict):
    """An evaluation to start; what is left out is as the server's configuration has it."""

    agent: Name | None = None
    agent_version: VersionNumber | None = None
    suite: Name | None = Field(default=None, description="By its name or id.")
    overrides: Overrides = Field(default_factory=Overrides)
    refine: RefineChoice | None = Field(
        default=None, description="How single outputs are refined; as the suite has it if left out."
    )
    split: Literal["train", "validation", "test"] | None = None
    limit: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    name: Name | None = None
    budget: EvaluationBudget = Field(default_factory=EvaluationBudget)
    failing_of: Name | None = Field(
        default=None,
        description="Only items that did not pass in this evaluation: its id, its name or `latest`.",
    )
    baseline: Name | None = Field(
        default=None,
        description="An evaluation to compare with, item by item, once this one has ended; "
        "`pairwise` scorers compare with its outputs.",
    )
    reruns: Annotated[int, Field(ge=0, le=20)] | None = Field(
        default=None,
        description="With a baseline: at most so many further runs of an item that passed there and "
        "fails now, which tell broken items (`result.broken_items`) from flaky ones.",
    )

    def choice(self) -> Choice:
        """What is to be run."""
        return Choice(
            agent=self.agent,
            agent_version=self.agent_version,
            suite=self.suite,
            overrides=self.overrides.given(),
            refine=None if self.refine is None else self.refine.given(),
        )

    def selection(self) -> Selection:
        """On which items."""
        return Selection(split=self.split, limit=self.limit)


class EvaluationLine(View):
    """One evaluation in a list."""

    experiment_id: str
    name: str
    type: ExperimentType
    status: ExperimentStatus
    agent: str
    agent_version: int | None
    suite: str
    dataset_id: str | None
    optimization_id: str | None
    planned_items: int | None
    refine: RefineView | None = Field(
        description="How single outputs are refined; None where that was never asked for."
    )
    created_at: str
    updated_at: str

    @classmethod
    def of(cls, one: Experiment) -> EvaluationLine:
        """From its record."""
        return cls(**_line(one))


class EvaluationView(EvaluationLine):
    """One evaluation with its configuration and what came out so far."""

    configuration: dict[str, Any]
    overrides: dict[str, Any]
    budget: dict[str, float] = Field(description="The limits that it has.")
    error: dict[str, Any] | None
    waiting: list[WaitingBatch] = Field(
        description="Batches that vendors are not through with; empty once it has ended."
    )
    result: dict[str, Any] | None = Field(
        description="The document that `burnish eval --json` prints; None before the first item."
    )

    @classmethod
    def of_result(
        cls, result: EvaluationResult, waiting: Sequence[Mapping[str, Any]] = ()
    ) -> EvaluationView:
        """From what was read."""
        one = result.experiment
        return cls(
            **_line(one),
            configuration=one.configuration.to_json(),
            overrides=one.metadata.get("overrides") or {},
            budget=one.metadata.get("budget") or {},
            error=one.metadata.get("error"),
            waiting=[WaitingBatch.model_validate(batch) for batch in waiting],
            result=result.to_json() if result.items else None,
        )


class EvaluationPage(BaseModel):
    """Some evaluations; `next_cursor` is None on the last page."""

    items: list[EvaluationLine]
    next_cursor: str | None


def _line(one: Experiment) -> dict[str, Any]:
    return {
        "experiment_id": one.id,
        "name": one.name,
        "type": one.type,
        "status": one.status,
        "agent": one.agent_name,
        "agent_version": one.metadata.get("agent_version"),
        "suite": one.suite_name,
        "dataset_id": one.dataset_id,
        "optimization_id": one.optimization_id,
        "planned_items": one.planned_items,
        "refine": one.metadata.get("refine"),
        "created_at": one.created_at,
        "updated_at": one.updated_at,
    }
