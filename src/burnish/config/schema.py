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


class AgentTable(_Table):
    """`[agent]`. `requested` is set for agents made over HTTP: rules hold for their `url`."""

    name: str = "agent"
    model: str | None = None
    run: str | None = None
    url: str | None = None
    labels: list[str] = Field(default_factory=list)
    output_schema: str | dict[str, Any] | None = None
    sections: dict[str, Any] = Field(default_factory=dict)
    parameters: dict[str, Any] = Field(default_factory=dict)
    examples: list[dict[str, Any]] = Field(default_factory=list)
    version: str | None = None
    concurrency: int = 16
    timeout_seconds: float = 120.0
    outage_seconds: float = 60.0
    requested: bool = False


class RefineTable(_Table):
    """`[suite.refine]`."""

    model: str | None = None
    limit: int = 0
    threshold: float | None = None
    answer: str = "latest"
    trials: bool = False
    fields: list[str] | None = None
    parameters: dict[str, Any] | None = None


class MirrorTable(_Table):
    """`[mirror]`. `to` is None or `opik`; without a url, OPIK_URL_OVERRIDE says where."""

    to: str | None = None
    url: str | None = None
    workspace: str | None = None
    project: str = "Burnish"
    api_key_env: str = "OPIK_API_KEY"


class SuiteTable(_Table):
    """`[suite]`."""

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


class BudgetTable(_Table):
    """`[budget]`."""

    max_trials: int | None = None
    max_evaluations: int | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_seconds: float | None = None


class ImagesTable(_Table):
    """`[images]`. `files` is a folder or an object store's URL; `text_model` None means templates.

    `base_url` and `api_key_env` are for models that draw and judge, over those of `[models]`.
    """

    image_model: str = "sketch"
    judge_model: str = "pixel-judge"
    text_model: str | None = None
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
            outbound=self._rules() if table.requested and table.url is not None else None,
        )

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
