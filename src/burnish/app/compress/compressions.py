"""Compression of a prompt: an optimization with `compress`, its report, and its tag."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from burnish.app.agents.promotion import prepare_promotion, promote
from burnish.app.compress.report import CompressionReport, read_report
from burnish.app.optimize.following import OnEvent
from burnish.app.optimize.optimizations import Optimization, run_prepared
from burnish.app.optimize.result import OptimizationResult
from burnish.app.optimize.runners import RunnerChoice
from burnish.app.report.tabular import Tabular, cost_words
from burnish.app.wiring import Workspace, database_location, overrides_location
from burnish.config.search import SearchSpec
from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import AgentVersion, Budget, Configuration, ConflictError, SearchSpace
from burnish.domain.wording import counted
from burnish.optimization.attempt import Attempt
from burnish.optimizers.compress.coverage import Protection
from burnish.optimizers.compress.examples import require_parts
from burnish.optimizers.compress.optimizer import Compress
from burnish.optimizers.compress.report import (
    Modification,
    apply_modifications,
    override_of,
)
from burnish.optimizers.compress.strategies import DEFAULT_MIN_TOKENS, CompressStrategy
from burnish.overrides import (
    ABSENT,
    PromptDescriptor,
    PromptOverridesStore,
    descriptor_of,
    open_overrides,
    resolve_tag,
)

if TYPE_CHECKING:
    from burnish.app.report.html.notebook import Plot


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult(Tabular):
    """The report, the optimization behind it, and where the result went."""

    report: CompressionReport
    result: OptimizationResult
    tag: str | None = None
    version: int | None = None

    @property
    def configuration(self) -> Configuration:
        """The compressed one; the baseline where nothing could go."""
        return self.report.configuration

    def to_json(self) -> dict[str, Any]:
        """What `burnish compress --json` prints."""
        return {**self.report.to_json(), "tag": self.tag, "applied_version": self.version}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Every modification: its section, the new text, and what it saves."""
        return [one.to_json() for one in self.report.modifications]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows."""
        return self.rows

    def to_html(self) -> str:
        """As the optimization behind it is shown in a notebook."""
        return self.result.to_html()

    def plot(self) -> Plot:
        """Score by trial, as of the optimization behind it."""
        return self.result.plot()

    def __repr__(self) -> str:
        report, kept = self.report, "worth keeping" if self.report.worth_keeping else "not kept"
        lines = [
            f"CompressionResult({report.optimization_id}: {report.agent}, {report.status})",
            f"{report.tokens_before:,} → {report.tokens_after:,} tokens, {kept}",
            f"{counted(len(report.modifications), 'modification')}, "
            f"{counted(len(report.regressions), 'regression')} "
            f"on {counted(report.gate_items, 'item')}, {cost_words(report.usage.get('cost_usd'))}",
        ]
        return "\n  ".join(lines)


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionTags:
    """What a tag holds that is there already is never lost, unless it is to be replaced.

    `own` is the prompt without any tag. `store` is a store, or where to open one.
    """

    agent_name: str
    own: Configuration
    store: PromptOverridesStore | str
    tag: str | None = None
    baseline_tag: str | None = None
    replace: bool = False

    @property
    def descriptor(self) -> PromptDescriptor:
        """Of the prompt without any tag."""
        return descriptor_of(self.agent_name, self.own)

    async def baseline(self) -> Configuration:
        """The prompt to start from; refused where the result could not be kept."""
        for name in filter(None, (self.tag, self.baseline_tag)):
            _ = self.descriptor.address.tag(name)
        if self.tag is None and self.baseline_tag is None:
            return self.own
        async with self._opened() as store:
            if self.tag not in (None, self.baseline_tag) and not self.replace:
                await self._require_new(store, str(self.tag))
            if self.baseline_tag is None:
                return self.own
            found = await resolve_tag(store, self.descriptor, self.baseline_tag)
            return self.own if found is None else found.apply(self.own)

    async def keep(self, modifications: Sequence[Modification]) -> None:
        """The baseline tag's overrides, if there is one, with the modifications on top."""
        if self.tag is None:
            return
        async with self._opened() as store:
            source, made = await self._built_on(store, modifications)
            if source is None and self.replace:
                override = override_of(self.descriptor, self.tag, made)
                await store.upsert(self.descriptor, override, replace=True)
                return
            own = self.replace or self.tag == source
            await apply_modifications(
                store,
                self.descriptor,
                made,
                tag=self.tag,
                built_on=source,
                expected=None if own else ABSENT,
            )

    async def _built_on(
        self, store: PromptOverridesStore, modifications: Sequence[Modification]
    ) -> tuple[str | None, list[Modification]]:
        """The tag to build on, and modifications of the prompt's own texts in place of the tag's."""
        if self.baseline_tag is None:
            return None, list(modifications)
        found = await resolve_tag(store, self.descriptor, self.baseline_tag)
        if found is None:
            return None, list(modifications)
        return self.baseline_tag, [
            replace(one, original_hash=found.sections[one.section_path].expected_hash)
            if one.section_path in found.sections
            else one
            for one in modifications
        ]

    async def _require_new(self, store: PromptOverridesStore, tag: str) -> None:
        if await store.resolve(self.descriptor, tag=tag) is not None:
            raise ConflictError(
                what=f"the result cannot be kept under the tag {tag!r}",
                why="the tag is there already, and the result would not have been tried with it",
                fix=f"start from it with --baseline-tag {tag} (baseline_tag=), name another tag, or "
                "let it go with --replace (replace_tag=)",
                code="tag_exists",
            )

    @contextlib.asynccontextmanager
    async def _opened(self) -> AsyncIterator[PromptOverridesStore]:
        if not isinstance(self.store, str):
            yield self.store
            return
        store = open_overrides(self.store)
        try:
            yield store
        finally:
            await store.close()


async def compress_async(
    agent: AgentSpec,
    suite: SuiteSpec,
    budget: Budget | Mapping[str, Any] | None = None,
    seed: int | None = None,
    *,
    model: Any = None,
    strategies: Sequence[CompressStrategy] | None = None,
    min_section_tokens: int = DEFAULT_MIN_TOKENS,
    sections: Sequence[str] | None = None,
    lines: bool = True,
    drop_untested: bool = False,
    protected: Sequence[str] = (),
    eval_runs: int | None = None,
    calls_per_month: int | None = None,
    tag: str | None = None,
    overrides: PromptOverridesStore | str | None = None,
    baseline_tag: str | None = None,
    replace_tag: bool = False,
    apply: bool = False,
    space: SearchSpace | Mapping[str, Any] | None = None,
    name: str | None = None,
    db: str | Path | None = None,
    resume: str | None = None,
    watch: Callable[[Attempt], None] | None = None,
    progress: bool | None = None,
    on_event: OnEvent | None = None,
    mailbox: str | None = None,
    runner: str | None = None,
) -> CompressionResult:
    """`compress` for callers that have an event loop of their own.

    `model` rewrites sections; without one the edits are mechanical. Lines that no item tests stay and
    are named in the report, unless `drop_untested`; lines with a text of `protected` stay as they are.
    `eval_runs` is how often the
    baseline and the result run each item, in place of the suite's `repeats`. `tag` keeps the result
    in `overrides`, a store or its place, by default BURNISH_OVERRIDES or the folder
    `.burnish/overrides`. With `baseline_tag` the prompt under that tag is what is shortened, and `tag`
    becomes all that it holds with the result on top; a tag that is there already is refused
    otherwise, unless `replace_tag`. `apply` makes the result the agent's active version. Neither is
    done where something speaks against the result (`report.worth_keeping`).
    `resume` names a compression to go on with, given the same arguments. `progress`, `on_event`,
    `mailbox` and `runner` are as for `optimize`.
    """
    tags = CompressionTags(
        agent_name=agent.name,
        own=Configuration.of(agent.configuration),
        store=overrides_location(Path.cwd()) if overrides is None else overrides,
        tag=tag,
        baseline_tag=baseline_tag,
        replace=replace_tag,
    )
    baseline = await tags.baseline()
    agent = replace(agent, configuration=baseline)
    require_parts(baseline, sections or ())
    Protection(baseline, protected)
    optimizer = Compress(
        model=model,
        strategies=strategies,
        min_section_tokens=min_section_tokens,
        sections=sections,
        lines=lines,
        drop_untested=drop_untested,
        protected=protected,
    )
    location = database_location(Path.cwd(), None if db is None else str(db))
    choice = RunnerChoice(runner=runner, mailbox=mailbox)
    async with Workspace.open(location) as workspace:
        optimization = Optimization(
            workspace,
            agent,
            suite if eval_runs is None else replace(suite, repeats=eval_runs),
            SearchSpec(optimizer=optimizer, seed=seed, space=_space_of(space)),
            Budget.of(budget),
            make_adapter=choice.make_adapter(location, Path.cwd()),
        )
        result = await run_prepared(
            optimization,
            name=name,
            resume=resume,
            watch=watch,
            progress=progress,
            on_event=on_event,
        )
        report = await read_report(
            workspace,
            result,
            optimizer,
            model=agent.model if isinstance(agent.model, str) else None,
            calls_per_month=calls_per_month,
        )
        return await _keep(workspace, report, result, tags, apply=apply)


def _space_of(space: SearchSpace | Mapping[str, Any] | None) -> SearchSpace:
    return space if isinstance(space, SearchSpace) else SearchSpace.of(space or {})


async def _keep(
    workspace: Workspace,
    report: CompressionReport,
    result: OptimizationResult,
    tags: CompressionTags,
    *,
    apply: bool,
) -> CompressionResult:
    """The result where it was asked to go; nowhere when something speaks against it."""
    if not report.worth_keeping:
        return CompressionResult(report=report, result=result)
    version = await apply_result(workspace, result) if apply else None
    await tags.keep(report.modifications)
    return CompressionResult(
        report=report,
        result=result,
        tag=tags.tag,
        version=None if version is None else version.version,
    )


async def apply_result(
    workspace: Workspace, result: OptimizationResult, *, author: str = ""
) -> AgentVersion | None:
    """The result as the agent's active version; None where nothing was shortened."""
    if not result.improved:
        return None
    candidates = result.candidates
    promotion = await prepare_promotion(
        workspace,
        result.record,
        candidates[result.baseline.candidate_id],
        candidates[result.best.candidate_id],
    )
    if promotion.already_active:
        return promotion.active
    return await promote(workspace, promotion, author=author, note="compressed")
