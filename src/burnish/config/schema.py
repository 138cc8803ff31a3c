"""The shape of `burnish.toml`, and the specs it turns into."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import Budget, UsageError
from burnish.evaluation.datasets import Dataset
from burnish.models.outbound_rules import OutboundRules


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class WorkspaceTable(_Table):
    """The folder in which a command runs, one an item, and what it may do there.

    `template` is a folder that is copied into it, relative to burnish.toml. `item_file` is where the
    item is written besides stdin. `fields` are what the command sees of an item; without them, all.
    `output` is the file that holds the answer; without it, what the command prints. `answer` is
    "text", or "json" for an object with output, trace and usage. `environment` names variables that
    are handed over; without any, only PATH, the language and the time zone are. `network` says
    whether it has one. `writable` are folders outside of it that may be written to. `max_output_mb`
    bounds the answer, `max_workspace_mb` the folder, and `max_memory_mb` the memory of one process.
    """

    template: str | None = None
    item_file: str | None = None
    fields: list[str] | None = None
    output: str | None = None
    answer: str = "text"
    environment: list[str] = Field(default_factory=list)
    network: bool = True
    writable: list[str] = Field(default_factory=list)
    max_output_mb: float = 8.0
    max_workspace_mb: float = 256.0
    max_memory_mb: float | None = None


class AgentTable(_Table):
    """What is improved, and how it is run: exactly one of `model`, `run`, `url` and `command`.

    `name` is what lists, versions and tags call it. `model` answers the sections as a prompt, such as
    "openai/gpt-4o-mini". `run` is a Python function `(configuration, item)`, plain or async. `url` is
    a service that takes POSTed JSON. `command` is a program with its arguments, run an item in a
    folder of its own. `files` maps files in that folder to sections; other sections are written to
    prompts/PATH.md. `workspace` is a table of its own. `labels` are the answers that there are, and a
    model can give no other. `output_schema` is the JSON schema of an answer, or a file with it, in
    place of labels.
    `judge` is a table that makes the model a judge of outputs in the dataset, whose criteria are the
    sections; it holds output, fields, hidden, threshold and score_only.
    `tools` are what the model may call: each is a table with `run` ("module:function"), `openapi` (a
    document, with `operations`), `mcp` (a command or an address) or `url` (with `name`, `method` and
    `parameters`). `agents` are sub-agents by name, with `description`, `instructions`, `model`,
    `tools`, `agents` and `max_steps` of their own. `max_steps`, `max_seconds`, `max_tokens` and
    `max_cost_usd` bound one run of an agent with tools on one item.
    `sections` are the texts by dotted path, each in place or in a file. `parameters` go to the model
    or the function, such as temperature. `examples` are shown before the item, as messages of user
    and assistant. `version` names code that Burnish cannot see, so that results of another version
    are not reused. `concurrency` is how many items run at once. `timeout_seconds` bounds one run of
    one item. `outage_seconds` is how long a model that answered before is waited for before the work
    stops.
    """

    # `requested` is set for agents made over HTTP: rules hold for their `url`. No key of the file.

    name: str = "agent"
    model: str | None = None
    run: str | None = None
    url: str | None = None
    command: list[str] | None = None
    files: dict[str, str] = Field(default_factory=dict)
    workspace: WorkspaceTable | None = None
    labels: list[str] = Field(default_factory=list)
    output_schema: str | dict[str, Any] | None = None
    judge: dict[str, Any] | None = None
    tools: list[str | dict[str, Any]] | None = None
    agents: dict[str, dict[str, Any]] = Field(default_factory=dict)
    max_steps: int = 20
    max_seconds: float | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    sections: dict[str, Any] = Field(default_factory=dict)
    parameters: dict[str, Any] = Field(default_factory=dict)
    examples: list[dict[str, Any]] = Field(default_factory=list)
    version: str | None = None
    concurrency: int = 16
    timeout_seconds: float = 120.0
    outage_seconds: float = 60.0
    requested: bool = False


class RefineTable(_Table):
    """Outputs that a judge finds wanting are written anew, in rounds.

    `model` is who writes them anew. `limit` is how often at most for each output; 0 switches it off.
    `threshold` is the score from which an output is good enough; without it only a perfect one is.
    `answer` is the round that counts: "latest" or "best". `trials` refines in optimizations too.
    `fields` are what that model sees of an item; without them, what the agent's own prompt shows.
    `parameters` go to that model.
    """

    model: str | None = None
    limit: int = 0
    threshold: float | None = None
    answer: str = "latest"
    trials: bool = False
    fields: list[str] | None = None
    parameters: dict[str, Any] | None = None


class UserTable(_Table):
    """Who talks with the agent, so that an item is a conversation of several turns.

    `model` plays the user; without one, the column `turns` holds all that the user says, as a list of
    texts. With both, the column comes first. `goal` is the column that says what the played user
    wants ("goal" unless named), `persona` the one that says who it is; it sees nothing else of an
    item. `max_turns` is how often the user speaks at most: 10 for a model, all of `turns` without
    one. `parameters` go to that model; without any it is asked with temperature 0.
    """

    model: str | None = None
    turns: str | None = None
    goal: str | None = None
    persona: str | None = None
    max_turns: int | None = None
    parameters: dict[str, Any] | None = None


class MirrorTable(_Table):
    """Runs shown on another server as well.

    `to` is "opik", or left out for none. `url` is where that server is; without it OPIK_URL_OVERRIDE
    says it. `workspace` is one of that server; without it OPIK_WORKSPACE says it, else "default".
    `project` is where the runs are put there. `api_key_env` names the variable that holds the key.
    """

    to: str | None = None
    url: str | None = None
    workspace: str | None = None
    project: str = "Burnish"
    api_key_env: str = "OPIK_API_KEY"


class SuiteTable(_Table):
    """What the agent is measured by: a dataset, scorers and a policy.

    `name` is what lists call it; without one, the dataset's name. `dataset` is a file of JSONL, JSON,
    CSV or Parquet, relative to burnish.toml. `scorers` are tables with a `kind`, kinds by name, or
    "module:function". `split` is fractions that sum to 1 or numbers of rows, by train, validation and
    test, or "field" where each row names its own. `split_seed` draws which rows go where. `stratify_by`
    keeps the values of a column in proportion in every split. `repeats` is how often each item runs.
    `pass_threshold` is the score from which an item passes; without it scorers that say so themselves
    decide. `mode` is "llm", or "schema" where outputs are checked and no judge gives feedback. `refine`
    is a table of its own. `user` is a table of its own. `pictures` are columns
    with pictures: files in the dataset's folder or below, or data URLs.
    """

    name: str = ""
    dataset: str
    scorers: list[str | dict[str, Any]]
    split: dict[str, float] | str | None = None
    split_seed: int = 0
    stratify_by: str | None = None
    repeats: int = 1
    pass_threshold: float | None = None
    mode: str = "llm"
    refine: RefineTable | None = None
    user: UserTable | None = None
    pictures: list[str] = Field(default_factory=list)


class BudgetTable(_Table):
    """What a run may spend; the first limit that is reached ends it.

    `max_trials` is candidates on all validation items. `max_evaluations` is runs of one item, those on
    the test split included. `max_calls` is calls of models, those of judge and optimizer included.
    `max_tokens` is tokens in and out. `max_cost_usd` is US dollars; every model's price must be known.
    `max_seconds` is the run's time.
    """

    max_trials: int | None = None
    max_evaluations: int | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None


class ImagesTable(_Table):
    """What draws and judges in image runs.

    `image_model` draws; "sketch" does so by rules and offline. `judge_model` scores; "pixel-judge"
    does so from the picture itself. `text_model` plans variants; without it templates do.
    `pairwise` has variants compared with each other in both orders, and ranked by that.
    `max_calls` is how many calls run at once. `files` is a folder or an object store's URL for the
    pictures. `base_url` and `api_key_env` are for models that draw and judge, over those of
    `[models]`.
    """

    image_model: str = "sketch"
    judge_model: str = "pixel-judge"
    text_model: str | None = None
    pairwise: bool = False
    max_calls: int = Field(default=8, ge=1)
    files: str | None = None
    base_url: str | None = None
    api_key_env: str | None = None


class Settings(_Table):
    """The whole file."""

    agent: AgentTable
    suite: SuiteTable
    mirror: MirrorTable = Field(default_factory=MirrorTable)
    optimizer: dict[str, Any] = Field(default_factory=dict)
    budget: BudgetTable = Field(default_factory=BudgetTable)
    models: dict[str, Any] = Field(default_factory=dict)
    images: ImagesTable = Field(default_factory=ImagesTable)
    _folder: Path = PrivateAttr(default_factory=Path.cwd)
    _rows: Dataset | None = PrivateAttr(default=None)
    _outbound: OutboundRules | None = PrivateAttr(default=None)

    @property
    def folder(self) -> Path:
        """Where the file stands; its paths are relative to it."""
        return self._folder

    def placed_in(self, folder: Path) -> Settings:
        """These settings, with paths relative to the folder."""
        return self._copy_with("_folder", folder.absolute())

    def with_rows(self, rows: Dataset) -> Settings:
        """These settings, with the rows themselves in place of the dataset's path."""
        return self._copy_with("_rows", rows)

    def reaching(self, rules: OutboundRules | None) -> Settings:
        """These settings, with the rules for a url that came from a request.

        Without any, BURNISH_ALLOWED_URLS of the process that runs the agent decides.
        """
        return self._copy_with("_outbound", rules)

    def _copy_with(self, name: str, value: object) -> Settings:
        copy = self.model_copy()
        setattr(copy, name, value)
        return copy

    def agent_spec(self) -> AgentSpec:
        """The agent, with section files read."""
        table = self.agent
        configuration = {
            "sections": _flat_sections(table.sections, self.folder),
            "parameters": table.parameters,
            "examples": table.examples,
        }
        return AgentSpec(
            **table.model_dump(exclude={*configuration, "requested"}),
            configuration=configuration,
            folder=self.folder,
            # Of an agent that was made over HTTP the server checks which models it names.
            models=None if table.requested else sorted(self.named_models()),
            outbound=self._rules() if table.requested and table.url is not None else None,
        )

    def named_models(self) -> set[str]:
        """The models of agent, optimizer, scorers and refinement, and those with a table."""
        named = [self.agent.model, self.optimizer.get("model")]
        named += [] if self.suite.refine is None else [self.suite.refine.model]
        named += [] if self.suite.user is None else [self.suite.user.model]
        named += [one.get("model") for one in self.suite.scorers if isinstance(one, Mapping)]
        named += [name for name in self.models if "/" in name]
        return {one for one in named if isinstance(one, str)}

    def _rules(self) -> OutboundRules:
        return self._outbound or OutboundRules.from_environment(os.environ)

    def suite_spec(self) -> SuiteSpec:
        """The suite; its dataset is a path below the config's folder, unless its rows are given."""
        values = self.suite.model_dump()
        values["dataset"] = self._rows or self.folder / self.suite.dataset
        return SuiteSpec(**values, folder=self.folder)

    def budget_spec(self) -> Budget:
        """The budget's limits."""
        return Budget(**self.budget.model_dump())


def _flat_sections(value: Mapping[str, Any], folder: Path, prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        path = f"{prefix}{key}"
        if isinstance(inner, Mapping) and set(inner) == {"file"}:
            flat[path] = _section_file(folder / str(inner["file"]), path)
        elif isinstance(inner, Mapping):
            flat.update(_flat_sections(inner, folder, f"{path}."))
        else:
            flat[path] = inner
    return flat


def _section_file(path: Path, section: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            what=f"the section {section!r} cannot be read",
            why=f"{path}: {why}",
            fix="correct the path in [agent.sections]; it is relative to burnish.toml",
            code="missing_file",
        ) from error
