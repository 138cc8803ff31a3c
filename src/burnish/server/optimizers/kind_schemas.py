"""Kinds of optimizers and scorers, and what a run would take."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from burnish.app.kinds import FRAMEWORK, Kind
from burnish.app.optimize.run_plan import RunPlan
from burnish.server.http.responses import View

_SETTINGS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "patience": {
            "type": "integer",
            "default": 8,
            "description": "… `patience` generations without a better candidate.",
        }
    },
    "required": [],
    "additionalProperties": False,
}


class OptimizerKind(View):
    """An algorithm that can be chosen. `settings` is a JSON schema, for forms."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "edits",
                    "summary": "Tries edits of sections and prefers what helped.",
                    "description": "Tries edits of sections and prefers what helped. …",
                    "model": "none",
                    "settings": _SETTINGS,
                    "built_in": True,
                }
            ]
        }
    )

    name: str
    summary: str
    description: str
    model: Literal["none", "optional", "required"] = Field(
        description="Whether it asks a model of its own; its name is the setting `model`."
    )
    settings: dict[str, Any]
    built_in: bool

    @classmethod
    def of(cls, kind: Kind) -> OptimizerKind:
        """From the catalog."""
        return cls(**{name: getattr(kind, name) for name in cls.model_fields})


class OptimizerKinds(BaseModel):
    """Every algorithm, and a JSON schema of the settings that go with all of them."""

    items: list[OptimizerKind]
    framework: dict[str, Any] = Field(examples=[FRAMEWORK])


class ScorerKind(View):
    """A built-in kind of scorer. `settings` is a JSON schema of what stands beside its `kind`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kind": "exact_match",
                    "summary": "1 when the output is the item's field, else 0.",
                    "description": "1 when the output is the item's field, else 0. …",
                    "model": "none",
                    "settings": _SETTINGS,
                    "over_http": True,
                }
            ]
        }
    )

    kind: str
    summary: str
    description: str
    model: Literal["none", "optional", "required"]
    settings: dict[str, Any]
    over_http: bool = Field(description="Whether a request may use it; code never comes from one.")

    @classmethod
    def of(cls, kind: Kind) -> ScorerKind:
        """From the catalog."""
        own = {name: getattr(kind, name) for name in cls.model_fields if name != "kind"}
        return cls(kind=kind.name, **own)


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


class EachEvaluation(BaseModel):
    """What one evaluation takes. None is unknown, and `why_unknown` says why."""

    calls: int | None
    input_tokens: float
    output_tokens: float
    cost_usd: float | None
    why_unknown: str | None


class Estimate(BaseModel):
    """What a run would take. The optimizer's own calls come on top; `notes` say so."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "agent": "reviews",
                    "suite": "reviews",
                    "optimizer": "edits",
                    "seed": 0,
                    "racing": "aggressive",
                    "objective": {},
                    "splits": {"train": 48, "validation": 48, "test": 24},
                    "budget": {"max_trials": 20},
                    "evaluations": {
                        "baseline": 48,
                        "each_trial": 48,
                        "confirmation": 48,
                        "max_trials": 20,
                        "max": 1056,
                    },
                    "each_evaluation": {
                        "calls": 1,
                        "input_tokens": 61.5,
                        "output_tokens": 2.0,
                        "cost_usd": 0.0,
                        "why_unknown": None,
                    },
                    "max_calls": 1056,
                    "max_cost_usd": 0.0,
                    "notes": [],
                }
            ]
        }
    )

    agent: str
    suite: str
    optimizer: str
    seed: int
    racing: str
    objective: dict[str, Any]
    splits: dict[str, int]
    budget: dict[str, int | float]
    evaluations: PlannedEvaluations
    each_evaluation: EachEvaluation
    max_calls: int | None
    max_cost_usd: float | None
    notes: list[str]

    @classmethod
    def of(cls, plan: RunPlan, suite: str) -> Estimate:
        """From a plan."""
        document = plan.to_json()
        model = plan.search.settings.get("model")
        if isinstance(model, str):
            note = f"what the optimizer itself asks {model} is not counted here"
            document["notes"] = [*document["notes"], note]
        return cls.model_validate({**document, "suite": suite})
