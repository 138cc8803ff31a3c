"""Compressions requested by message: run, or gone on with, under the request's id."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.app.agents.registry import with_configuration
from burnish.app.compress.report import CompressionReport, read_report
from burnish.app.datasets.stored import row_of
from burnish.app.optimize.optimizations import Optimization
from burnish.app.optimize.result import OptimizationResult
from burnish.app.optimize.run_spec import require_unchanged, spec_of
from burnish.app.wiring import Workspace
from burnish.config.schema import BudgetTable, Settings
from burnish.config.search import SearchSpec
from burnish.config.served_project import require_own_models
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import (
    Budget,
    Configuration,
    ConflictError,
    ExperimentContext,
    Item,
    OptimizationRecord,
    UnavailableError,
    UsageError,
    experiment_scope,
)
from burnish.evaluation.datasets import Dataset
from burnish.jobs.lease_renewer import LEASE_SECONDS
from burnish.optimization.attempt import MakeAdapter
from burnish.optimizers.compress.optimizer import Compress
from burnish.overrides import PromptDescriptor, PromptOverridesStore, descriptor_of, resolve_tag
from burnish.runtime.loops import OptimizationReport, OptimizeRequest, OptimizeResult


def settings_for(
    settings: Settings, request: OptimizeRequest, spec: AgentSpec, optimizer: Mapping[str, Any]
) -> Settings:
    """The config file's settings as they are for this request: what other workers build from."""
    limits = {} if request.budget is None else request.budget.to_json()
    agent = with_configuration(settings.agent, Configuration.of(spec.configuration))
    return settings.model_copy(
        update={
            "agent": agent,
            "suite": settings.suite.model_copy(update={"repeats": request.eval_runs}),
            "optimizer": dict(optimizer),
            "budget": BudgetTable(**limits),
        }
    )


def suite_for(
    suite: SuiteSpec, request: OptimizeRequest, items: Sequence[Item] | None
) -> SuiteSpec:
    """The worker's suite on the request's rows, as often as the request wants each run."""
    repeated = replace(suite, repeats=request.eval_runs)
    if items is None:
        return repeated
    return replace(
        repeated,
        dataset=Dataset.of([row_of(item) for item in items], name="request"),
        split=_split(suite.split, items),
        name=suite.name or "request",
    )


def as_message(
    report: CompressionReport,
    descriptor: PromptDescriptor,
    *,
    built_on: str | None = None,
    revision: str | None = None,
) -> OptimizationReport:
    """The report with hashes of the prompt's own texts, as an overrides store wants them.

    `built_on` is the baseline tag, where it had overrides that everything was tried with, and
    `revision` what it was at.
    """
    hashes = descriptor.hashes
    return OptimizationReport(
        experiment_id=report.optimization_id,
        prompt_ns=descriptor.namespace,
        prompt_key=descriptor.key,
        baseline_pass_rate=report.baseline_pass_rate,
        candidate_pass_rate=report.candidate_pass_rate,
        modifications=tuple(
            replace(
                one,
                original_hash=hashes.get(one.section_path, one.original_hash),
                built_on=built_on,
                built_on_revision=revision,
            )
            for one in report.modifications
        ),
        rejected=report.rejected,
        untested=report.untested,
        tokens_before=report.tokens_before,
        tokens_after=report.tokens_after,
        regressions=report.regressions,
        evaluations=report.evaluations,
        stop_message=report.stop_message,
        held_out=None if report.held_out is None else dict(report.held_out),
        baseline_tag=built_on,
        baseline_revision=revision,
        usage=dict(report.usage),
    )


def _split(
    policy: Mapping[str, float] | str | None, items: Sequence[Item]
) -> Mapping[str, float] | str | None:
    """The rows' own splits where they have some, else the suite's shares."""
    if any(item.split is not None for item in items):
        return "field"
    return policy if isinstance(policy, Mapping) else None


_LOOK_SECONDS = 0.5
# Somebody else's lease: another worker may be in the middle of it, or may just have died.
_PASSING_CONFLICTS = ("owned", "lease_lost")


@dataclass(frozen=True, kw_only=True)
class Project:
    """The agent and suite that a worker serves; `settings` where they come from a burnish.toml.

    `compression` are settings of the compress optimizer that count unless a request has others;
    those of an `[optimizer]` table that names compress are such.
    """

    agent: AgentSpec
    suite: SuiteSpec
    settings: Settings | None = None
    compression: Mapping[str, Any] = field(default_factory=dict)

    def optimizer(self, request: OptimizeRequest) -> dict[str, Any]:
        """The `[optimizer]` table for a request."""
        table = {} if self.settings is None else self.settings.optimizer
        if table.get("name") != Compress.name:
            table = {key: value for key, value in table.items() if key == "space"}
        given = {**table, **self.compression, **request.settings}
        return {**given, "name": Compress.name, "seed": request.seed}

    @property
    def descriptor(self) -> PromptDescriptor:
        """Of the agent's own prompt."""
        return descriptor_of(self.agent.name, Configuration.of(self.agent.configuration))


class RequestedCompressions:
    """A RequestOptimizer on the orchestrator: requests are optimizations in the database.

    The id of the optimization is the request's, so a request that comes a second time finds what was
    done for it, and its baseline stays the one that it began with.
    """

    def __init__(
        self,
        workspace: Workspace,
        project: Project,
        *,
        store: PromptOverridesStore | None = None,
        make_adapter: MakeAdapter | None = None,
        lease_seconds: float = LEASE_SECONDS,
    ) -> None:
        self._workspace = workspace
        self._project = project
        self._store = store
        self._make_adapter = make_adapter
        self._lease_seconds = lease_seconds

    async def optimize(self, request: OptimizeRequest) -> OptimizeResult:
        """Run it to its end."""
        self._require_own(request.descriptor)
        self._check_settings(request.settings)
        identity = str(request.request_id)
        record = await self._find(identity)
        baseline, revision = await self._baseline(request, record)
        items = await self._items(request)
        agent = replace(self._project.agent, configuration=baseline)
        optimization = await asyncio.to_thread(self._build, request, agent, items)
        context = ExperimentContext(
            id=identity, name="optimize", overrides_tag=request.baseline_tag, flags=request.flags
        )
        try:
            if record is None:
                await self._create(optimization, request, agent, revision)
            else:
                require_unchanged(record, optimization)
            with experiment_scope(context):
                result = await self._run(optimization, record or identity)
            report = await self._report(optimization, result)
        finally:
            await optimization.close()
        own = Configuration.of(self._project.agent.configuration)
        message = as_message(
            report,
            request.descriptor,
            built_on=None if baseline == own else request.baseline_tag,
            revision=None if baseline == own else revision,
        )
        return OptimizeResult(request_id=request.request_id, report=message)

    def _require_own(self, descriptor: PromptDescriptor) -> None:
        own = self._project.descriptor
        if descriptor.address != own.address:
            why = f"this worker serves {own.address}, and the request is about {descriptor.address}"
        elif descriptor.hashes != own.hashes:
            why = "the texts of its sections are others than the request's descriptor shows"
        else:
            return
        raise UsageError(
            what=f"the prompt {descriptor.address} cannot be optimized here",
            why=why,
            fix="give workers and senders the same prompt, and describe it again",
            code="other_prompt",
        )

    def _check_settings(self, settings: Mapping[str, Any]) -> None:
        """A model of a request's may be a path, and is paid for: only the project's own are used."""
        project = self._project
        if "strategies" in settings:
            raise UsageError(
                what="the optimizer's strategies cannot come with a request",
                why="they are code, and a worker runs only its own",
                fix="leave them out, or compress in a program with strategies=",
                code="code_in_request",
            )
        if project.settings is not None:
            require_own_models(settings, project.settings)
        elif settings.get("model") not in (
            None,
            project.agent.model,
            project.compression.get("model"),
        ):
            raise UsageError(
                what="the optimizer's model cannot be used",
                why="it is neither the model of this worker's agent nor that of its compressions",
                fix="leave it out, or serve a burnish.toml that names it in [models]",
                code="model_not_allowed",
            )

    async def _find(self, identity: str) -> OptimizationRecord | None:
        try:
            return await self._workspace.optimizations.get_optimization(identity)
        except UsageError as error:
            if error.code != "not_found":
                raise
            return None

    async def _baseline(
        self, request: OptimizeRequest, record: OptimizationRecord | None
    ) -> tuple[Configuration, str | None]:
        """The prompt under the baseline tag and its revision, as it was when the optimization began."""
        if record is not None:
            began = record.spec["request"]
            return Configuration.of(began["baseline"]), began.get("baseline_revision")
        own = Configuration.of(self._project.agent.configuration)
        found = await resolve_tag(self._store, request.descriptor, request.baseline_tag)
        return (own, None) if found is None else (found.apply(own), found.revision)

    async def _items(self, request: OptimizeRequest) -> Sequence[Item] | None:
        if request.dataset or request.dataset_id is None:
            return request.dataset or None
        stream = self._workspace.datasets.stream_items(request.dataset_id)
        await self._workspace.datasets.get_dataset(request.dataset_id)  # Says so if there is none.
        return [item async for item in stream]

    def _build(
        self, request: OptimizeRequest, agent: AgentSpec, items: Sequence[Item] | None
    ) -> Optimization:
        suite = suite_for(self._project.suite, request, items)
        search = SearchSpec.of(self._project.optimizer(request))
        return Optimization(
            self._workspace,
            agent,
            suite,
            search,
            request.budget or Budget(),
            lease_seconds=self._lease_seconds,
            make_adapter=self._make_adapter,
        )

    async def _create(
        self,
        optimization: Optimization,
        request: OptimizeRequest,
        agent: AgentSpec,
        revision: str | None,
    ) -> None:
        baseline = Configuration.of(agent.configuration)
        spec: dict[str, Any] = {}
        if self._project.settings is not None:
            table = self._project.optimizer(request)
            settings = settings_for(self._project.settings, request, agent, table)
            spec = await asyncio.to_thread(spec_of, settings, optimization)
        spec["request"] = {
            "baseline": baseline.to_json(),
            "baseline_tag": request.baseline_tag,
            "baseline_revision": revision,
            "flags": dict(request.flags),
        }
        try:
            await optimization.create(
                name=f"compress {self._project.agent.name} (requested)",
                spec=spec,
                optimization_id=str(request.request_id),
            )
        except ConflictError:
            # Another worker has the same request and was first; who runs it is for the lease to say.
            await self._workspace.optimizations.get_optimization(str(request.request_id))

    async def _run(
        self, optimization: Optimization, of: str | OptimizationRecord
    ) -> OptimizationResult:
        """Run it. Whoever held it last has died, or is about to notice that it lost it."""
        patience = time.monotonic() + 2 * self._lease_seconds
        while True:
            try:
                return await optimization.run(of)
            except ConflictError as error:
                if error.code not in _PASSING_CONFLICTS:
                    raise
                of = of if isinstance(of, str) else of.id
                if time.monotonic() > patience:
                    raise UnavailableError(
                        what=f"optimization {of} cannot be gone on with now",
                        why=error.why,
                        fix="it is tried again by itself",
                        code=error.code,
                    ) from error
            await asyncio.sleep(_LOOK_SECONDS)

    async def _report(
        self, optimization: Optimization, result: OptimizationResult
    ) -> CompressionReport:
        assert isinstance(optimization.optimizer, Compress)
        model = self._project.agent.model
        return await read_report(
            self._workspace,
            result,
            optimization.optimizer,
            model=model if isinstance(model, str) else None,
        )
