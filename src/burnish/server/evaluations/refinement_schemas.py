"""Refinement of single outputs: how it is asked for, and its rounds."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from burnish.app.evaluate.round_documents import refinement_json, round_json
from burnish.domain import Outcome, Refinement, Round, RoundEnd
from burnish.server.http.requests import Strict
from burnish.server.http.responses import View
from burnish.server.optimizations.schemas import Usage

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
