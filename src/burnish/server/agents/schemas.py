"""Agents: the versions of their configurations, and promotions to a new version."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, Field, model_validator

from burnish.app.agents.promotion import Promoted
from burnish.app.agents.registry import KnownAgent
from burnish.app.report.differences import Difference
from burnish.domain import AgentOutput, AgentVersion
from burnish.models.outbound_rules import without_query
from burnish.server.http import examples
from burnish.server.http.requests import (
    ExpectedVersion,
    JsonObject,
    NewName,
    Note,
    Person,
    Strict,
    VersionNumber,
)
from burnish.server.http.responses import Page, View

_FROM_FILE = (
    "run",
    "command",
    "files",
    "workspace",
    "base_url",
    "api_key",
    "api_key_env",
    "headers",
)
_OF_PROMPTS = {"model", "labels", "output_schema"}
_OF_SERVICES = {"url", "version", "concurrency", "timeout_seconds"}


class ConfigurationBody(Strict):
    """What an agent runs under: texts by path, parameters, examples."""

    sections: Annotated[dict[str, str], Field(min_length=1, max_length=200)]
    parameters: JsonObject = Field(default_factory=dict)
    examples: Annotated[list[JsonObject], Field(max_length=1000)] = Field(default_factory=list)


class NewAgent(Strict):
    """A prompt agent, by its `model`, or an HTTP agent, by its `url`. Code is never in a request."""

    name: NewName
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="One that the server's burnish.toml names."
    )
    url: Annotated[str, Field(min_length=1, max_length=2000)] | None = Field(
        default=None,
        description="Where items are posted to, in place of a model; the server must allow its host.",
    )
    version: Annotated[str, Field(max_length=200)] | None = Field(
        default=None, description="Names the service's code, so that results can be reused."
    )
    concurrency: Annotated[int, Field(ge=1, le=64)] = Field(
        default=16, description="Requests to the service at once."
    )
    timeout_seconds: Annotated[float, Field(gt=0, le=600)] = Field(
        default=120.0, description="How long the service may take for an item."
    )
    labels: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=200)] = Field(
        default_factory=list, description="The answer is one of these."
    )
    output_schema: JsonObject | None = Field(
        default=None, description="A JSON schema of the answer."
    )
    configuration: ConfigurationBody
    author: Person | None = None
    note: Note = ""

    @model_validator(mode="before")
    @classmethod
    def _refuse_addresses(cls, data: Any) -> Any:
        found = [one for one in _FROM_FILE if isinstance(data, dict) and one in data]
        if found:
            raise ValueError(
                f"{found[0]} cannot come from a request: code, keys and addresses of models stand "
                "in the server's burnish.toml"
            )
        return data

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.model is None) == (self.url is None):
            raise ValueError("give either model or url, and not both")
        other = _OF_SERVICES if self.url is None else _OF_PROMPTS
        found = sorted(one for one in self.model_fields_set & other if getattr(self, one))
        if found:
            raise ValueError(f"{found[0]} goes with {'url' if self.url is None else 'model'} only")
        return self

    @property
    def definition(self) -> dict[str, Any]:
        """All but its configuration and who made it."""
        return self.model_dump(include=_OF_PROMPTS if self.url is None else _OF_SERVICES)


class TryAgent(Strict):
    """One input for a configuration that need not be saved: of a known agent, or of a new one."""

    agent: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None, description="One that is there, else `model` says what answers."
    )
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    labels: Annotated[list[Annotated[str, Field(max_length=200)]], Field(max_length=200)] = Field(
        default_factory=list
    )
    output_schema: JsonObject | None = None
    configuration: ConfigurationBody
    input: JsonObject = Field(description="A value for each placeholder.")

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.agent is None) == (self.model is None):
            raise ValueError("give either agent or model, and not both")
        if self.agent is not None and (self.labels or self.output_schema is not None):
            raise ValueError("labels and output_schema go with model only")
        return self

    @property
    def definition(self) -> dict[str, Any]:
        """What a new agent would be."""
        return self.model_dump(include=_OF_PROMPTS)


class TryView(View):
    """What came back. What the cache answered costs nothing now."""

    text: str
    data: Any
    finish_reason: str | None
    latency_ms: float | None
    cached: bool
    calls: int
    input_tokens: int
    output_tokens: int
    cached_share: float | None = Field(
        description="Of the input tokens, those that the provider had; None of none."
    )
    cost_usd: float | None = Field(description="None where nobody knows the price.")

    @classmethod
    def of(cls, output: AgentOutput) -> TryView:
        """From the agent's output."""
        paid, reused = output.spending.total, output.reused.total
        cached = reused.calls > 0 and paid.calls == 0
        return cls.read(output, reused if cached else paid, cost_usd=paid.cost_usd, cached=cached)


class AgentView(View):
    """An agent. Without a version it runs as burnish.toml has it."""

    name: str
    kind: Literal["prompt", "python", "http", "command"]
    source: Literal["configuration", "registry"]
    model: str | None = Field(
        description="What answers now: the model that the active configuration names, else its own."
    )
    url: str | None = Field(
        description="Of an HTTP agent that was made by a request, without its query."
    )
    labels: list[str]
    active_version: int | None
    written_differs: bool = Field(
        description="Whether burnish.toml has another configuration than the active version."
    )
    configuration: dict[str, Any]

    @classmethod
    def of(cls, agent: KnownAgent) -> AgentView:
        """From the registry."""
        active, written = agent.active, agent.written
        return cls.read(
            agent,
            agent.table,
            model=agent.model,
            source="registry" if written is None else "configuration",
            url=_shown_url(agent),
            active_version=None if active is None else active.version,
            written_differs=written is not None
            and active is not None
            and not active.configuration.same_as(written, agent.table.model),
            configuration=agent.configuration.to_json(),
        )


class AgentPage(Page[AgentView]):
    """Some agents; `next_cursor` is None on the last page."""


class VersionLine(View):
    """A version. `origin` tells where it came from: a run and candidate, a revert, a request."""

    agent: str
    version: int
    active: bool
    author: str
    note: str
    origin: dict[str, Any]
    created_at: str
    configuration_hash: str
    model: str | None = Field(
        description="The model that its configuration names; None where the agent's own answers."
    )

    @classmethod
    def of(cls, version: AgentVersion) -> Self:
        """From its record."""
        return cls.read(
            version,
            model=version.configuration.model,
            agent=version.agent_name,
            configuration_hash=version.configuration.hash,
            configuration=version.configuration.to_json(),
        )


class VersionView(VersionLine):
    """A version with its configuration."""

    configuration: dict[str, Any]


class VersionPage(Page[VersionLine]):
    """Some versions; `next_cursor` is None on the last page."""


class NewVersion(Strict):
    """A changed configuration of an agent."""

    configuration: ConfigurationBody
    model: Annotated[str, Field(min_length=1, max_length=200)] | None = Field(
        default=None,
        description="Answers from this version on, in place of the agent's own: one that the server's "
        "burnish.toml names. It is kept as the parameter `model`, which says the same.",
    )
    author: Person
    note: Note = ""
    expected_version: ExpectedVersion = None

    @model_validator(mode="after")
    def _one_model(self) -> Self:
        if self.model is not None and "model" in self.configuration.parameters:
            raise ValueError("give model once: beside the configuration, or as its parameter")
        return self


class Revert(Strict):
    """Back to an old version: a new one that is equal to it."""

    version: VersionNumber
    author: Person
    note: Note = ""
    expected_version: ExpectedVersion = None


class SectionDiff(View):
    """A section's text on both sides; None where it does not exist."""

    path: str
    before: str | None
    after: str | None


class ParameterDiff(View):
    """A parameter on both sides; None where it is not set."""

    name: str
    before: Any
    after: Any


class ExamplesDiff(View):
    """All examples on both sides."""

    before: list[dict[str, Any]]
    after: list[dict[str, Any]]


class DifferenceView(BaseModel):
    """What changed, section by section; `examples` is None when they are the same."""

    sections: list[SectionDiff]
    parameters: list[ParameterDiff]
    examples: ExamplesDiff | None

    @classmethod
    def of(cls, difference: Difference) -> DifferenceView:
        """From what was compared."""
        return cls.model_validate(difference.to_json())


class Promote(Strict):
    """Who promotes, and why. Without `expected_version` the agent must still run under what the
    run began with.
    """

    promoted_by: Person
    note: Note = ""
    expected_version: ExpectedVersion = None
    keep_passing: bool | None = Field(
        default=None,
        description="Refuse (409 `broken_items`) what breaks an item that the baseline passes. Without "
        "it: where the run was started with keep_passing.",
    )


class PromoteBest(Promote):
    """The same for a candidate that is named here; without one it is the best."""

    candidate_id: str | None = Field(
        default=None, min_length=1, max_length=100, examples=[examples.CANDIDATE_ID]
    )


class PromotionView(BaseModel):
    """The new active version, what it changes, and what speaks against it all the same."""

    version: VersionView
    candidate_id: str
    difference: DifferenceView
    warnings: list[str]

    @classmethod
    def of(cls, promoted: Promoted) -> PromotionView:
        """From what was done."""
        return cls(
            version=VersionView.of(promoted.version),
            candidate_id=promoted.candidate.id,
            difference=DifferenceView.of(promoted.difference),
            warnings=list(promoted.warnings),
        )


def _shown_url(agent: KnownAgent) -> str | None:
    """What burnish.toml names stays there, and a query may hold a key."""
    if agent.table.url is None or agent.written is not None:
        return None
    return without_query(agent.table.url)
