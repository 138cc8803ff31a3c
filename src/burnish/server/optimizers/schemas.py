"""Configured optimizers: what is sent and what is kept."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from burnish.app.agents.cron import Schedule
from burnish.app.agents.optimizer_configs import (
    AnyConfig,
    GEPAOptimizerConfig,
    OptimizerConfig,
    PromptMutationStrategy,
)
from burnish.domain import SystemClock
from burnish.domain.configured_objects import ObjectVersion
from burnish.server.http import examples
from burnish.server.http.requests import (
    ExpectedVersion,
    JsonObject,
    NewName,
    Person,
    Strict,
    VersionNumber,
)
from burnish.server.http.responses import View
from burnish.server.optimizations.request_schemas import BudgetLimits

_CONFIG: dict[str, Any] = {
    "name": "nightly",
    "optimizer": "gepa",
    "max_iterations": 8,
    "population_size": 4,
    "exploration_temperature": 0.7,
    "accept_threshold": 0.95,
    "stop_no_improve": 3,
    "mutation_strategies": ["system_template"],
    "budget": {"max_evaluations": 2000},
    "schedule": "0 2 * * *",
    "auto_promote": False,
}
_META = ("author", "expected_version", "budget")


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
    seed: Annotated[int, Field(ge=-(2**63) + 1, le=2**63 - 1)] | None = None
    schedule: Annotated[str, Field(max_length=100)] | None = Field(
        default=None,
        description="Five fields as in a crontab. A run starts then, unless one goes on.",
        examples=["0 2 * * *"],
    )
    schedule_timezone: Annotated[str, Field(max_length=100)] = "UTC"
    auto_promote: bool = Field(
        default=False,
        description="Promote the winner without a person, where held-out items prove it.",
    )
    author: Person | None = None
    expected_version: ExpectedVersion = None

    def values(self, agent: str) -> dict[str, Any]:
        """As a config has them."""
        return {
            **self.model_dump(exclude=set(_META)),
            "agent_name": agent,
            "suite_id": "" if self.suite_id is None else str(self.suite_id),
            "budget": self.budget.given(),
        }


class NewGEPAOptimizer(_NewOptimizer):
    """The `gepa` optimizer; `model` is its meta-model, one that the server's configuration names."""

    model_config = ConfigDict(json_schema_extra={"examples": [_CONFIG]})

    optimizer: Literal["gepa"] = "gepa"
    max_iterations: Annotated[int, Field(ge=1, le=100_000)] = 8
    population_size: Annotated[int, Field(ge=1, le=1000)] = 4
    exploration_temperature: Annotated[float, Field(ge=0, le=10)] = 0.7
    accept_threshold: float | None = None
    stop_no_improve: Annotated[int, Field(ge=1, le=100_000)] = 3
    mutation_strategies: Annotated[
        list[PromptMutationStrategy | Annotated[str, Field(min_length=1, max_length=200)]],
        Field(
            min_length=1,
            max_length=50,
            description="What may be rewritten: these, or any other section by its path.",
        ),
    ]
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = None

    def config(self, agent: str) -> AnyConfig:
        """As it is kept."""
        return GEPAOptimizerConfig(**self.values(agent))


class NewOtherOptimizer(_NewOptimizer):
    """Any other optimizer, with its own settings and the framework's."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "quick", "optimizer": "edits", "settings": {}}]}
    )

    optimizer: Annotated[str, Field(min_length=1, max_length=100)]
    settings: JsonObject = Field(default_factory=dict)

    def config(self, agent: str) -> AnyConfig:
        """As it is kept."""
        return OptimizerConfig(**self.values(agent))


def _kind(value: Any) -> str:
    name = value.get("optimizer", "gepa") if isinstance(value, dict) else "gepa"
    return "gepa" if name == "gepa" else "other"


NewOptimizer = Annotated[
    Annotated[NewGEPAOptimizer, Tag("gepa")] | Annotated[NewOtherOptimizer, Tag("other")],
    Discriminator(_kind),
]


class OptimizerView(View):
    """A configured optimizer of an agent."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "optimizer_id": "0199d1c8-7f00-7d3c-8a2b-9e1f0a2b3c4d",
                    "agent_name": "reviews",
                    "name": "nightly",
                    "version": 3,
                    "active": True,
                    "author": "ada",
                    "created_at": examples.MOMENT,
                    "next_run_at": "2026-02-01T02:00:00Z",
                    "config": {**_CONFIG, "agent_name": "reviews"},
                }
            ]
        }
    )

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
        return cls(
            optimizer_id=stored.id,
            agent_name=stored.scope,
            name=stored.name,
            version=stored.version,
            active=stored.active,
            author=stored.author,
            created_at=stored.created_at,
            next_run_at=_next_run(stored),
            config=dict(stored.document),
        )


class OptimizerPage(BaseModel):
    """Some optimizers; `next_cursor` is None on the last page."""

    items: list[OptimizerView]
    next_cursor: str | None


def _next_run(stored: ObjectVersion) -> str | None:
    cron = stored.document.get("schedule")
    if not cron or not stored.active:
        return None
    schedule = Schedule.of(cron, stored.document["schedule_timezone"])
    due = schedule.next_due(SystemClock().now())
    return None if due is None else due.isoformat().replace("+00:00", "Z")
