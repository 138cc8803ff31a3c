"""Health, and what a server serves."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Live(BaseModel):
    """The process answers."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"status": "ok"}]})

    status: Literal["ok"]


class Ready(BaseModel):
    """Requests can be served; each part that was asked has answered."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"status": "ok", "checks": {"database": "ok", "events": "ok"}}]
        }
    )

    status: Literal["ok"]
    checks: dict[str, str]


class Project(BaseModel):
    """What can be run here: names for a new optimization, and what stands for what is left out."""

    agent: str = Field(examples=["reviews"])
    suite: str = Field(examples=["reviews"])
    optimizer: dict[str, Any] = Field(examples=[{"name": "edits", "racing": "aggressive"}])
    optimizers: list[str] = Field(examples=[["auto", "edits", "gepa"]])
    budget: dict[str, int | float | None] = Field(examples=[{"max_evaluations": 1000}])
    models: list[str] = Field(examples=[["local/smollm2-135m"]])
    executes: bool = Field(description="Whether this server runs optimizations itself.")
