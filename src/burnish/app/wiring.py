"""Wiring of repositories, models, agents and suites: all that a run needs, opened together."""

from __future__ import annotations

import contextlib
import gc
import os
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from burnish import storage
from burnish.domain import (
    Agent,
    AgentRepository,
    BatchRecords,
    CallCache,
    Configuration,
    DatasetRepository,
    ExperimentRepository,
    ItemResult,
    Model,
    OptimizationRepository,
    OverlayStore,
    ToolCallRecords,
    UsageError,
)
from burnish.domain.optimizations.records import EventFeed
from burnish.jobs.event_listeners import announcing

# Imports inside of functions: whoever only reads a database builds no agent, suite or model.
if TYPE_CHECKING:
    from burnish.config.specs import AgentSpec, SuiteSpec
    from burnish.domain.images.protocols import ImageRepository
    from burnish.evaluation.scorers.pairwise import Outputs
    from burnish.evaluation.suite import Suite

# Counting what is frozen looks at each of the objects: once is enough to know of somebody else.
_frozen = {"by us": False, "by others": False}


@contextlib.contextmanager
def settled_memory() -> Iterator[None]:
    """Within, a full collection looks only at what came since.

    Modules alone are some ninety thousand objects: looking through them stops every call under
    way for 50 ms. Where somebody froze objects already, nothing is done, nor undone.
    """
    if not any(_frozen.values()):
        _frozen["by others"] = gc.get_freeze_count() > 0
    if any(_frozen.values()):
        yield
        return
    gc.freeze()
    _frozen["by us"] = True
    try:
        yield
    finally:
        _frozen["by us"] = False
        gc.unfreeze()


class ModelPool:
    """Opens models with their settings from the `[models]` tables, and the cache with the first."""

    def __init__(
        self,
        tables: Mapping[str, Any],
        cache: Callable[[], CallCache | None] = lambda: None,
        batches: Callable[[], BatchRecords | None] = lambda: None,
    ) -> None:
        self.tables = tables
        self._cache = cache
        self._batches = batches
        self._open: dict[tuple[int | str, bool], Model] = {}

    def model(self, given: str | Model | Callable[[str], str], *, batches: bool = True) -> Model:
        """The model of a name, or a wrapped callable; calls are remembered where that is on.

        Without `batches` its calls go singly, also where its settings have them go in batches.
        """
        from burnish.config.settings import model_settings, with_batch  # noqa: PLC0415
        from burnish.models import as_model  # noqa: PLC0415

        settings = model_settings(self.tables, given) if isinstance(given, str) else None
        if isinstance(given, str) and settings is not None and settings.batch and not batches:
            settings = model_settings(with_batch(self.tables, given, False), given)
        asks = settings is not None and settings.batch
        key = (given if isinstance(given, str) else id(given)), asks
        if key not in self._open:
            records = self._batches() if asks else None
            self._open[key] = as_model(given, settings, cache=self._cache(), batches=records)
        return self._open[key]

    def use(self, tables: Mapping[str, Any]) -> None:
        """Take the settings of other tables, as long as no model is open."""
        if self._open:
            raise UsageError(
                what="the models' settings cannot be changed",
                why="a model is open already",
                fix="change them before the first model is opened",
                code="models_open",
            )
        self.tables = tables

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every model."""
        for model in self._open.values():
            await model.close()
        self._open.clear()


STATE_FOLDER = ".burnish"
OVERRIDES_VARIABLE = "BURNISH_OVERRIDES"


def overrides_location(folder: Path, given: str | None = None) -> str:
    """The flag, else `BURNISH_OVERRIDES`, else the folder beside the config."""
    named = given or os.environ.get(OVERRIDES_VARIABLE)
    return named or str(folder / STATE_FOLDER / "overrides")


def database_location(folder: Path, given: str | None = None) -> str:
    """The flag, else `BURNISH_DB`, else the SQLite file beside the config."""
    return given or os.environ.get("BURNISH_DB") or str(folder / STATE_FOLDER / "burnish.db")


def _make_state_folder(location: str) -> None:
    """A new `.burnish` ignores itself in Git: what is in it belongs to this machine."""
    folder = Path(location).expanduser().parent
    if "://" in location or folder.name != STATE_FOLDER or folder.exists():
        return
    with contextlib.suppress(OSError):  # The database says it better.
        folder.mkdir(parents=True)
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def database_exists(location: str) -> bool:
    """Whether there is anything to read; a server is taken to be there."""
    if location.startswith("sqlite"):
        location = location.partition("://")[2].removeprefix("/")
    return "://" in location or Path(location).expanduser().exists()


def require_database(location: str) -> None:
    """Reading never makes a database."""
    if not database_exists(location):
        raise UsageError(
            what="nothing is stored here yet",
            why=f"{location} does not exist",
            fix="run an evaluation or an optimization first, or name the place with db=",
            code="not_found",
        )


def _kept_in(name: str) -> Any:
    """A repository of storage by its class's name, made when it is first asked for."""
    return cached_property(lambda self: getattr(storage, name)(self._database))


class Workspace:
    """Repositories and models of one run. Models are opened once a name and shared.

    Each of `listeners` is called with the id of an optimization when events of it were stored here.
    """

    def __init__(
        self,
        database: storage.Database,
        models: Mapping[str, Any],
        listeners: list[Callable[[str], None]] | None = None,
    ) -> None:
        self._database = database
        self.listeners: list[Callable[[str], None]] = [] if listeners is None else listeners
        self.models = ModelPool(models, lambda: self.call_cache, lambda: self.batches)

    # Each is made, and its module loaded, when it is first asked for: a command needs few of them.
    experiments: ExperimentRepository = _kept_in("SqlExperimentRepository")
    datasets: DatasetRepository = _kept_in("SqlDatasetRepository")
    optimizations = cached_property[OptimizationRepository](
        lambda self: storage.SqlOptimizationRepository(self._database, self._tell)
    )
    pages: storage.SqlOptimizationPages = _kept_in("SqlOptimizationPages")
    insights: storage.SqlRunInsights = _kept_in("SqlRunInsights")
    feed: EventFeed = _kept_in("SqlEventFeed")
    opik: storage.SqlOpikRecords = _kept_in("SqlOpikRecords")
    mirrors: storage.SqlMirrorBook = _kept_in("SqlMirrorBook")
    run_jobs: storage.SqlRunJobs = _kept_in("SqlRunJobs")
    objects: storage.SqlObjectRepository = _kept_in("SqlObjectRepository")
    removals: storage.SqlRemovals = _kept_in("SqlRemovals")
    optimizer_runs: storage.SqlOptimizerRunRepository = _kept_in("SqlOptimizerRunRepository")
    dataset_pages: storage.SqlDatasetPages = _kept_in("SqlDatasetPages")
    labels: storage.SqlLabels = _kept_in("SqlLabels")
    evaluation_jobs: storage.SqlEvaluationJobs = _kept_in("SqlEvaluationJobs")
    image_jobs: storage.SqlImageJobs = _kept_in("SqlImageJobs")
    images: ImageRepository = _kept_in("SqlImageRepository")
    overlays: OverlayStore = _kept_in("SqlOverlayStore")
    agents: AgentRepository = _kept_in("SqlAgentRepository")
    call_cache: CallCache = _kept_in("SqlCallCache")
    batches: BatchRecords = _kept_in("SqlBatchRecords")
    tool_calls: ToolCallRecords = _kept_in("SqlToolCalls")

    @classmethod
    @contextlib.asynccontextmanager
    async def open(
        cls, location: str, *, models: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Workspace]:
        """A workspace on the database at a path or URL, made and migrated when needed."""
        _make_state_folder(location)
        async with contextlib.AsyncExitStack() as stack:
            database = await stack.enter_async_context(await storage.Database.open(location))
            listener = await stack.enter_async_context(announcing())
            stack.enter_context(settled_memory())
            workspace = cls(database, models or {}, [listener] if listener else [])
            stack.push_async_callback(workspace.models.close)
            yield workspace

    def beside(
        self,
        models: Mapping[str, Any],
        *,
        saved: Callable[[Sequence[ItemResult]], None],
    ) -> Workspace:
        """Another one on the same database with models of its own, to be closed by themselves.

        `saved` is called with item results once they are stored.
        """
        other = Workspace(self._database, models, self.listeners)
        other.experiments = storage.SqlExperimentRepository(self._database, saved)
        return other

    def model(self, given: str | Model | Callable[[str], str]) -> Model:
        """The model of a name, or a wrapped callable; calls are remembered where that is on."""
        return self.models.model(given)

    def single_model(self, given: str | Model | Callable[[str], str]) -> Model:
        """The same, whose calls go singly: for one question after the other, which no batch saves."""
        return self.models.model(given, batches=False)

    def _tell(self, optimization_id: str) -> None:
        for listener in self.listeners:
            listener(optimization_id)


OpenModel = Callable[[Any], Model]


def build_agent(
    spec: AgentSpec, open_model: OpenModel, records: ToolCallRecords | None = None
) -> Agent:
    """The agent of a spec: a prompt, with tools or without, a judge, a function, an HTTP service
    or a command.

    With `records`, tools that answered are not called again by work that goes on.
    """
    from burnish.config.specs import read_schema  # noqa: PLC0415
    from burnish.evaluation.agents import (  # noqa: PLC0415
        CommandAgent,
        HttpAgent,
        JudgeAgent,
        PromptAgent,
        PythonAgent,
    )
    from burnish.evaluation.agents.model_choice import open_choice  # noqa: PLC0415
    from burnish.evaluation.imports import load_callable  # noqa: PLC0415
    from burnish.evaluation.workspace_policy import WorkspacePolicy  # noqa: PLC0415

    configuration = Configuration.of(spec.configuration)
    if spec.run is not None:
        function = load_callable(spec.run, spec.folder) if isinstance(spec.run, str) else spec.run
        return PythonAgent(
            name=spec.name, configuration=configuration, run=function, version=spec.version
        )
    if spec.url is not None:
        return HttpAgent(
            name=spec.name,
            configuration=configuration,
            url=spec.url,
            version=spec.version,
            max_concurrency=spec.concurrency,
            timeout_seconds=spec.timeout_seconds,
            outbound=spec.outbound,
        )
    if spec.command is not None:
        return CommandAgent(
            name=spec.name,
            configuration=configuration,
            command=spec.command,
            files=spec.files,
            workspace=WorkspacePolicy.of(spec.workspace),
            folder=spec.folder,
            version=spec.version,
        )
    if spec.judge is not None:
        judging = open_choice(spec.model, spec.models, open_model)
        return JudgeAgent.of(spec.name, configuration, judging, spec.judge)
    schema = read_schema(spec.output_schema, spec.folder)
    if spec.has_tools:
        return _tool_agent(spec, open_model, records, schema)
    return PromptAgent(
        name=spec.name,
        configuration=configuration,
        model=open_choice(spec.model, spec.models, open_model),
        labels=spec.labels,
        output_schema=schema,
    )


def _tool_agent(
    spec: AgentSpec,
    open_model: OpenModel,
    records: ToolCallRecords | None,
    schema: Mapping[str, Any] | None,
) -> Agent:
    from burnish.evaluation.agents import ToolAgent  # noqa: PLC0415
    from burnish.evaluation.agents.model_choice import open_choice  # noqa: PLC0415

    return ToolAgent(
        name=spec.name,
        configuration=Configuration.of(spec.configuration),
        model=open_choice(spec.model, spec.models, open_model),
        roster=spec.roster(),
        open_model=open_model,
        limits=spec.limits(),
        labels=spec.labels,
        output_schema=schema,
        records=records,
    )


def build_suite(
    spec: SuiteSpec,
    open_model: OpenModel,
    agent: AgentSpec | None = None,
    baseline: Outputs | None = None,
) -> Suite:
    """The suite of a spec, with its scorers built and its dataset found but not yet read.

    The agent's prompt may say from which score on its outputs are good enough. Pairwise scorers
    compare with the outputs of `baseline`, else with what the agent answers as it is.
    """
    from burnish.evaluation.agents.prompt_agent import REFINE_THRESHOLD  # noqa: PLC0415
    from burnish.evaluation.conversations.agent import plan_user  # noqa: PLC0415
    from burnish.evaluation.conversations.policy import UserPolicy  # noqa: PLC0415
    from burnish.evaluation.datasets import Dataset  # noqa: PLC0415
    from burnish.evaluation.datasets.pictures import PictureFolder  # noqa: PLC0415
    from burnish.evaluation.refine.plan import plan_refinement  # noqa: PLC0415
    from burnish.evaluation.refine.policy import RefinePolicy  # noqa: PLC0415
    from burnish.evaluation.scorers.catalog import (  # noqa: PLC0415
        build_scorers,
        needs_baseline,
        stratify_field,
    )
    from burnish.evaluation.scorers.pairwise import BaselineOutputs  # noqa: PLC0415
    from burnish.evaluation.suite import Suite, SuitePolicy  # noqa: PLC0415

    dataset = Dataset.of(spec.dataset)
    pictures = None
    if spec.pictures:
        pictures = PictureFolder(tuple(spec.pictures), spec.picture_folder)
        dataset = dataset.with_pictures(pictures)
    if baseline is None and agent is not None and needs_baseline(spec.scorers):
        baseline = BaselineOutputs(build_agent(agent, open_model))
    scorers = build_scorers(
        spec.scorers, open_model=open_model, folder=spec.folder, baseline=baseline
    )
    refine = RefinePolicy.of(spec.refine)
    if refine is not None and refine.threshold is None and agent is not None:
        own: Any = Configuration.of(agent.configuration).parameters.get(REFINE_THRESHOLD)
        refine = replace(refine, threshold=own)
    if refine is not None and refine.threshold is not None:
        scorers.pass_from = refine.threshold
    stratify = spec.stratify_by or next(
        (field for one in spec.scorers if (field := stratify_field(one))), None
    )
    policy = SuitePolicy(
        repeats=spec.repeats,
        pass_threshold=spec.pass_threshold,
        mode=spec.mode,
        split=spec.split,
        split_seed=spec.split_seed,
        stratify_by=stratify,
    )
    return Suite(
        name=spec.name or dataset.name,
        dataset=dataset,
        scorers=scorers,
        policy=policy,
        refine=plan_refinement(refine, scorers, spec.mode, open_model),
        user=plan_user(UserPolicy.of(spec.user), open_model),
        pictures=pictures,
    )
