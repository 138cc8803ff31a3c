"""What a user declares: an agent and a suite, before anything is opened."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from burnish.domain import Configuration, Model, Scorer, UsageError
from burnish.evaluation.conversations.policy import UserPolicy
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.refine.policy import RefinePolicy
from burnish.evaluation.workspace_policy import WorkspacePolicy
from burnish.models.outbound_rules import OutboundRules

if TYPE_CHECKING:
    from burnish.evaluation.agents.tools.conversation import Limits
    from burnish.evaluation.agents.tools.roster import Roster

# What runs an agent: exactly one of these is given.
RUNNERS = ("run", "model", "url", "command")


@dataclass(frozen=True, kw_only=True)
class AgentSpec:
    """An agent: its configuration, and one of `run`, `model`, `url` or `command` to run it with.

    `run` is `(configuration, item) -> str | AgentOutput`, plain or async, or "module:function".
    `model` is a model's name, a Model, or any `str -> str` callable. `models` are others that the
    parameter `model` may name: names, or Models and callables by name; None lets it name any that
    can be opened. `url` takes POSTed JSON.
    `judge` makes the model a judge, whose section `criteria` is improved: see `JudgeAgent`.
    `command` is a program with its arguments, run an item in a folder of its own: `files` maps files
    in it to sections, `workspace` says what else it finds there and may do (WorkspacePolicy).
    `version` names the agent's code for the result cache where Burnish cannot see it.
    `outbound` are the rules for a `url` that came from a request; None calls any.

    A `model` may be given `tools`: functions, "module:function", or tables such as
    {"openapi": "api.yaml", "operations": […]} and {"mcp": ["python", "server.py"]}. `agents` are
    sub-agents by name, called as tools. Their descriptions become sections of the configuration,
    unless it has them already. `max_steps` (answers of the model), `max_seconds`, `max_tokens` and
    `max_cost_usd` bound one run of one item.
    """

    name: str = "agent"
    configuration: Configuration | Mapping[str, Any] = field(default_factory=dict)
    run: Callable[..., Any] | str | None = None
    model: str | Model | Callable[[str], str] | None = None
    models: Sequence[str] | Mapping[str, str | Model | Callable[[str], str]] | None = None
    url: str | None = None
    command: Sequence[str] | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    workspace: WorkspacePolicy | Mapping[str, Any] | None = None
    labels: Sequence[str] = ()
    output_schema: Mapping[str, Any] | str | Path | None = None
    judge: Mapping[str, Any] | None = None
    tools: Sequence[Any] | None = None
    agents: Mapping[str, Any] = field(default_factory=dict)
    max_steps: int = 20
    max_seconds: float | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    version: str | None = None
    concurrency: int = 16
    timeout_seconds: float | None = 120.0
    # How long a model that answered before is waited for before the work stops.
    outage_seconds: float = 60.0
    folder: Path = field(default_factory=Path.cwd)
    outbound: OutboundRules | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "configuration", Configuration.of(self.configuration))
        given = [name for name in RUNNERS if getattr(self, name) is not None]
        if len(given) != 1:
            raise UsageError(
                what=f"the agent {self.name!r} cannot be run",
                why="it has "
                + (" and ".join(given) if given else "neither run, model, url nor command"),
                fix='give exactly one, such as model = "local/smollm2-135m"',
                code="invalid_agent",
            )
        if self.judge is not None and (self.model is None or self.labels or self.output_schema):
            raise UsageError(
                what=f"the agent {self.name!r} cannot be a judge",
                why="a judge has a model, and neither labels nor an output_schema",
                fix='give it a model and judge = { output = "output" }',
                code="invalid_agent",
            )
        if self.labels and self.output_schema is not None:
            raise UsageError(
                what=f"the agent {self.name!r} has labels and an output_schema",
                why="an answer is either one of the labels or JSON, not both",
                fix="remove one of them",
                code="invalid_agent",
            )
        if self.url is not None:
            self._check_url(self.url)
        self._check_command()
        _check_positive("concurrency", self.concurrency)
        if self.timeout_seconds is not None:
            _check_positive("timeout_seconds", self.timeout_seconds)
        _check_positive("outage_seconds", self.outage_seconds)
        for name in ("max_steps", "max_seconds", "max_tokens", "max_cost_usd"):
            if getattr(self, name) is not None:
                _check_positive(name, getattr(self, name))
        if self.has_tools:
            self._add_sections()

    @property
    def has_tools(self) -> bool:
        """Whether its model may call something."""
        return self.tools is not None or bool(self.agents)

    def roster(self) -> Roster:
        """Its tools and sub-agents, made anew."""
        from burnish.evaluation.agents.tools.roster import Roster  # noqa: PLC0415

        return Roster.of(self.tools or (), self.agents, self.folder, version=self.version)

    def limits(self) -> Limits:
        """What one run of one item may take."""
        from burnish.evaluation.agents.tools.conversation import Limits  # noqa: PLC0415

        return Limits(
            max_steps=self.max_steps,
            max_seconds=self.max_seconds,
            max_tokens=self.max_tokens,
            max_cost_usd=self.max_cost_usd,
        )

    def _add_sections(self) -> None:
        """Texts of tools, sub-agents and output fields, where the configuration has no others."""
        from burnish.evaluation.agents.tool_agent import declared_texts  # noqa: PLC0415
        from burnish.evaluation.agents.tools.roster import require_known  # noqa: PLC0415

        if self.model is None:
            raise UsageError(
                what=f"the agent {self.name!r} cannot have tools",
                why="it has no model that could call them",
                fix='give it model = "openai/gpt-4o-mini" in place of run or url',
                code="invalid_agent",
            )
        configuration = Configuration.of(self.configuration)
        schema = read_schema(self.output_schema, self.folder)
        texts = declared_texts(self.roster(), schema)
        require_known(configuration.sections, texts)
        added = {path: text for path, text in texts.items() if path not in configuration.sections}
        object.__setattr__(self, "configuration", configuration.with_sections(added))

    def _check_command(self) -> None:
        object.__setattr__(self, "workspace", WorkspacePolicy.of(self.workspace))
        command, why = self.command, None
        if command is not None and (
            isinstance(command, str)
            or not command
            or not all(isinstance(one, str) for one in command)
        ):
            why = f"{command!r} is not a list of a program and its arguments"
        elif command is None and (self.files or self.workspace != WorkspacePolicy()):
            why = "files and workspace are those of a command, and it has none"
        if why is not None:
            raise UsageError(
                what=f"the agent {self.name!r} cannot be run",
                why=why,
                fix='write it like command = ["python", "{{project}}/agent.py"]',
                code="invalid_agent",
            )

    def _check_url(self, url: str) -> None:
        """It is not shown: it may hold a password, or something that stands for one."""
        why, fix = None, 'write it like url = "http://127.0.0.1:9000/run"'
        try:
            parts = urlsplit(url)
            _ = parts.port
        except ValueError:
            why = "its host or port cannot be understood"
        else:
            if "@" in parts.netloc:
                why = "it holds a user or a password, which would be stored with every run"
                fix = "leave them out of the url"
        if why is not None:
            raise UsageError(
                what=f"the url of the agent {self.name!r} cannot be used",
                why=why,
                fix=fix,
                code="invalid_agent",
            )


@dataclass(frozen=True, kw_only=True)
class SuiteSpec:
    """A dataset, scorers and a policy.

    `dataset` is rows, or a path to JSONL, JSON, CSV or Parquet. `scorers` are functions
    `(output, item) -> float | Score`, built-ins such as {"kind": "exact_match", "field": "label"},
    or "module:function". `split` is fractions by name, or "field" to use the rows' own. `refine`
    has outputs that a judge finds wanting written anew, such as {"model": …, "limit": 2}. `user` talks
    with the agent, in turns that a column holds or a model makes up: {"model": …, "goal": "goal"}.
    `pictures` are columns with files in the dataset's folder (`picture_folder`) or data URLs.
    """

    dataset: Iterable[Mapping[str, Any]] | str | Path | Dataset
    scorers: Sequence[Scorer | Callable[..., Any] | Mapping[str, Any] | str]
    name: str = ""
    split: Mapping[str, float] | str | None = None
    split_seed: int = 0
    stratify_by: str | None = None
    repeats: int = 1
    pass_threshold: float | None = None
    mode: str = "llm"
    refine: RefinePolicy | Mapping[str, Any] | None = None
    user: UserPolicy | Mapping[str, Any] | None = None
    pictures: Sequence[str] = ()
    folder: Path = field(default_factory=Path.cwd)
    picture_folder: Path | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "refine", RefinePolicy.of(self.refine))
        object.__setattr__(self, "user", UserPolicy.of(self.user))
        if self.picture_folder is None and not isinstance(self.dataset, Dataset):
            named = isinstance(self.dataset, (str, Path))
            beside = Path(str(self.dataset)).expanduser().parent if named else self.folder
            object.__setattr__(self, "picture_folder", beside)
        scorers = self.scorers
        if isinstance(scorers, (str, Mapping)) or not isinstance(scorers, Sequence):
            object.__setattr__(self, "scorers", (scorers,))
        if not self.scorers:
            raise UsageError(
                what="the suite cannot judge anything",
                why="it has no scorers",
                fix='add one, such as scorers = [{ kind = "exact_match", field = "label" }]',
                code="invalid_suite",
            )


def _check_positive(name: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise UsageError(
            what=f"the agent's {name} cannot be used",
            why=f"{value!r} is not a number above 0",
            fix=f"give {name} a number above 0",
            code="invalid_agent",
        )


def read_schema(
    given: Mapping[str, Any] | str | Path | None, folder: Path
) -> Mapping[str, Any] | None:
    """A JSON schema, given as it is or by its file."""
    if given is None or isinstance(given, Mapping):
        return given
    path = folder / given
    try:
        schema = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            what="the agent's output_schema cannot be read",
            why=f"{path}: {getattr(error, 'strerror', None) or error}",
            fix="name a JSON file with a JSON schema, relative to burnish.toml",
            code="missing_file",
        ) from error
    if not isinstance(schema, dict):
        raise UsageError(
            what="the agent's output_schema cannot be used",
            why=f"{path} holds a {type(schema).__name__}, not an object",
            fix="write a JSON schema object",
            code="invalid_agent",
        )
    return schema
