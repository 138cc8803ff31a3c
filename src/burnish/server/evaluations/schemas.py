"""Evaluations: one configuration on one suite."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.evaluate.evaluations import Selection
from burnish.app.evaluate.result import EvaluationResult
from burnish.app.optimize.chosen_settings import Choice
from burnish.domain import Experiment, ExperimentStatus, ExperimentType
from burnish.server.evaluations.refinement_schemas import RefineChoice, RefineView
from burnish.server.http import examples
from burnish.server.http.requests import JsonObject, Strict, VersionNumber
from burnish.server.http.responses import View
from burnish.server.optimizations.request_schemas import Name

_LINE: dict[str, Any] = {
    "experiment_id": examples.EXPERIMENT_ID,
    "name": "reviews on reviews",
    "type": "regular",
    "status": "completed",
    "agent": "reviews",
    "agent_version": 2,
    "suite": "reviews",
    "dataset_id": "0199d1c8-6a11-7c02-8f5e-0c4d2b1a9e33",
    "optimization_id": None,
    "planned_items": 50,
    "refine": {
        "active": True,
        "why_inactive": None,
        "model": "openai/gpt-4o",
        "limit": 2,
        "threshold": 0.8,
        "answer": "latest",
        "judges": ["openai/gpt-4o-mini"],
    },
    "created_at": examples.MOMENT,
    "updated_at": examples.MOMENT,
}


class Overrides(Strict):
    """Laid over the agent's configuration for this evaluation, and never saved."""

    sections: Annotated[dict[str, str], Field(max_length=200)] = Field(default_factory=dict)
    parameters: JsonObject = Field(default_factory=dict)
    examples: Annotated[list[JsonObject], Field(max_length=1000)] | None = None

    def given(self) -> dict[str, Any]:
        """What was named."""
        return {name: value for name, value in self.model_dump().items() if value}


class NewEvaluation(Strict):
    """An evaluation to start; what is left out is as the server's configuration has it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "agent": "reviews",
                    "agent_version": 2,
                    "overrides": {"sections": {"system": "Positive or negative?"}},
                    "split": "validation",
                }
            ]
        }
    )

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

    model_config = ConfigDict(json_schema_extra={"examples": [_LINE]})

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

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    **_LINE,
                    "configuration": examples.CONFIGURATION,
                    "overrides": {},
                    "error": None,
                    "result": {"score": 0.88, "pass_rate": 0.88, "items": 50, "failed": 6},
                }
            ]
        }
    )

    configuration: dict[str, Any]
    overrides: dict[str, Any]
    error: dict[str, Any] | None
    result: dict[str, Any] | None = Field(
        description="The document that `burnish eval --json` prints; None before the first item."
    )

    @classmethod
    def of_result(cls, result: EvaluationResult) -> EvaluationView:
        """From what was read."""
        one = result.experiment
        return cls(
            **_line(one),
            configuration=one.configuration.to_json(),
            overrides=one.metadata.get("overrides") or {},
            error=one.metadata.get("error"),
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
