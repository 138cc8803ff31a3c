"""Served project: the agent, suite and models that a server offers to run, and no others.

A request names them and sets numbers and texts; code and paths never come from one, and addresses only
as far as the server allows.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from burnish.config.schema import AgentTable, BudgetTable, Settings, SuiteTable
from burnish.config.search import (
    DEFAULT_OPTIMIZER,
    SearchSpec,
    limited,
    settings_for_another,
)
from burnish.config.settings import explained, load_settings, read_tables
from burnish.domain import UsageError
from burnish.models.local.catalog import WRITING
from burnish.models.openai.presets import PRESETS
from burnish.models.outbound_rules import OutboundRules


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """The options of one server."""

    config: Path
    database: str
    host: str = "127.0.0.1"
    port: int = 8720
    allowed_hosts: tuple[str, ...] = ()
    allowed_urls: tuple[str, ...] = ()
    insecure: bool = False
    max_runs: int = 2
    execute: bool = True
    lease_seconds: float = 30.0
    mailbox: str | None = None
    plain_logs: bool = False
    log_level: str = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """What is to be run; None and empty mean that the configuration decides."""

    agent: str | None = None
    agent_version: int | None = None
    suite: str | None = None
    optimizer: str | None = None
    optimizer_settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    name: str | None = None
    refine: Mapping[str, Any] | None = None


class ServedProject:
    """The folder of a `burnish.toml`. The file is read anew for each run, as the CLI does.

    `urls` are the rules for urls of requests; without any, BURNISH_ALLOWED_URLS decides.
    """

    def __init__(self, config: Path, urls: OutboundRules | None = None) -> None:
        self.config = config.absolute()
        self.urls = urls or OutboundRules.from_environment(os.environ)

    @property
    def folder(self) -> Path:
        """Where code, datasets and prompts are."""
        return self.config.parent

    def own(self) -> Settings | None:
        """The configuration as it stands now; None where it has neither an agent nor a suite: image
        runs need none, and others are made over HTTP."""
        return (
            None
            if self._is_bare(self._tables())
            else load_settings(self.config).reaching(self.urls)
        )

    def settings(self) -> Settings:
        """The same; without agent and suite they have no name, and requests bring their own."""
        tables = self._tables()
        if not self._is_bare(tables):
            return load_settings(self.config).reaching(self.urls)
        nameless = {"agent": AgentTable(name=""), "suite": SuiteTable(dataset="", scorers=[])}
        try:
            settings = Settings.model_validate({**tables, **nameless})
        except ValidationError as error:
            raise explained(error, self.config) from None
        return settings.placed_in(self.folder).reaching(self.urls)

    def _tables(self) -> dict[str, Any]:
        return read_tables(self.config) if self.config.exists() else {}

    @staticmethod
    def _is_bare(tables: Mapping[str, Any]) -> bool:
        return {"agent", "suite"}.isdisjoint(
            tables
        ) and Settings.model_fields.keys() >= tables.keys()

    def settings_for(self, request: RunRequest, chosen: Settings) -> Settings:
        """The settings of a chosen agent and suite, with what else a request may change."""
        changed = with_request(chosen, request)
        require_own_models(naming_models(changed.agent, changed.optimizer), self.settings())
        return limited(changed)[0]

    def require_own(self, settings: Settings) -> None:
        """Refuse to run stored settings that name other code or addresses than this project's.

        The url of an agent that was made over HTTP is left to the rules for those.
        """
        own = self.settings()
        agent, mine = settings.agent, own.agent
        if agent.run not in (None, mine.run):
            raise _foreign(f"its agent runs {agent.run}")
        if agent.url not in (None, mine.url) and not agent.requested:
            raise _foreign("its agent is another service")
        if (agent.tools, agent.agents) not in ((None, {}), (mine.tools, mine.agents)):
            raise _foreign("its agent has tools")
        if agent.command is not None and _program(agent) != _program(mine):
            raise _foreign("its agent is another command")
        code = [one for one in settings.suite.scorers if isinstance(one, str)]
        foreign = next((one for one in code if one not in own.suite.scorers), None)
        if foreign is not None:
            raise _foreign(f"its suite scores with {foreign}")


def suite_name(settings: Settings) -> str:
    """The suite's name: its own, else that of its dataset's file."""
    return settings.suite.name or Path(settings.suite.dataset).stem


def with_request(settings: Settings, request: RunRequest) -> Settings:
    """Settings with the optimizer, seed and budget of a request over them."""
    optimizer = _optimizer(settings.optimizer, request)
    if request.seed is not None:
        optimizer["seed"] = request.seed
    configured = settings.budget.model_dump()
    if "max_iterations" in request.optimizer_settings and SearchSpec.of(optimizer).max_trials:
        # The request has a limit of trials: the file's own is for its own runs.
        configured["max_trials"] = None
    budget = BudgetTable.model_validate({**configured, **request.budget})
    return settings.model_copy(update={"optimizer": optimizer, "budget": budget})


def require_own_models(
    settings: Mapping[str, Any], own: Settings, *, of: str = "optimizer"
) -> None:
    """Refuse a model that the configuration does not name: it may be a path, and it is paid for."""
    for key, value in models_in(settings):
        if not isinstance(value, str) or not may_use(value, own):
            shown = str(value)[:80]
            known = ", ".join(sorted(own.named_models())) or "none"
            raise UsageError(
                what=f"the {of}'s {key} cannot be used",
                why=f"the server's configuration does not name {shown!r}; it names {known}",
                fix=f'use one of these, or add [models."{shown}"] to burnish.toml',
                code="model_not_allowed",
            )


# By provider: variables that, where one is set, say that the server may use it.
OPENED_BY: dict[str, tuple[str, ...]] = {
    **{name: (one.key_env, one.address_env) for name, one in PRESETS.items()},
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "gemini": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "bedrock": ("AWS_BEARER_TOKEN_BEDROCK",),
}


def may_use(model: str, own: Settings) -> bool:
    """Whether requests may name the model: one of the configuration, or an embedded one, which is free.

    Where no configuration has an agent, whoever started the server has said by a provider's key, or by
    the address of an endpoint, that its models may be used.
    """
    provider, _, name = model.partition("/")
    if model in own.named_models() or (provider == "local" and name in WRITING):
        return True
    given = any(os.environ.get(one) for one in OPENED_BY.get(provider, ()) if one)
    return bool(name) and not own.agent.name and given


def naming_models(agent: AgentTable, optimizer: Mapping[str, Any]) -> dict[str, Any]:
    """An `[optimizer]` table as far as it names models.

    What a function or a service calls `model` is its own affair.
    """
    return {key: one for key, one in optimizer.items() if key != "space" or agent.model is not None}


def models_in(value: Any) -> Iterator[tuple[str, Any]]:
    """Every setting that names a model, however deep."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if (key == "model" or str(key).endswith("_model")) and inner is not None:
                # A search space has a list of them to choose from.
                yield from ((key, one) for one in (inner if isinstance(inner, list) else [inner]))
            else:
                yield from models_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from models_in(inner)


def _optimizer(configured: Mapping[str, Any], request: RunRequest) -> dict[str, Any]:
    """Settings beside the configured name are that optimizer's, and go with it."""
    name = configured.get("name", DEFAULT_OPTIMIZER)
    same = request.optimizer in (None, name)
    kept = configured if same else settings_for_another(configured, str(request.optimizer))
    chosen = {**kept, **request.optimizer_settings}
    chosen["name"] = request.optimizer or name
    return chosen


def _program(agent: AgentTable) -> object:
    """A command with what it finds and may do; the texts of its files are data."""
    return agent.command, agent.files, agent.workspace


def _foreign(why: str) -> UsageError:
    return UsageError(
        what="the optimization cannot be run here",
        why=f"{why}, which this server's configuration does not name",
        fix="resume it with `burnish resume` in the folder that it was started in",
        code="foreign_code",
    )
