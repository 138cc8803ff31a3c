"""Compression over mailboxes alone: candidates are tags of a shared store, eval loops run the samples.

No database is needed, and nothing is kept: a request whose worker died is begun again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from burnish.domain import (
    Agent,
    Candidate,
    CandidateProposal,
    Configuration,
    ExperimentContext,
    ExperimentStatus,
    ExperimentType,
    Item,
    ItemError,
    ItemResult,
    Overlay,
    RunContext,
    SearchSpace,
    Spending,
    TrialResult,
    TrialSummary,
    UnavailableError,
    UsageError,
)
from burnish.domain.mailboxes import Mailbox
from burnish.models import as_model
from burnish.optimizers.catalog import build_optimizer
from burnish.optimizers.compress.examples import part_tokens, parts_of
from burnish.optimizers.compress.optimizer import Compress
from burnish.optimizers.compress.report import modifications_of, rejections_of, told_of
from burnish.optimizers.compress.strategies import CompressStrategy
from burnish.overrides import MaskTags, PromptOverridesStore, descriptor_of, resolve_tag
from burnish.runtime.loops.asking import ask_all
from burnish.runtime.loops.eval_loop import EvalRequest, EvalResult
from burnish.runtime.loops.optimize_loop import OptimizationReport, OptimizeRequest, OptimizeResult


class MailboxCompression:
    """A RequestOptimizer for an agent's prompt, with this strategy.

    Each request brings its rows. Tags of candidates begin with `opt-` and go when they were run.
    """

    def __init__(
        self,
        *,
        strategy: CompressStrategy,
        agent: Agent,
        overrides_store: PromptOverridesStore,
        eval_requests: Mailbox[EvalRequest, EvalResult],
        timeout: float = 600.0,
    ) -> None:
        self._strategy = strategy
        self._agent = agent
        self._store = overrides_store
        self._eval_requests = eval_requests
        self._timeout = timeout

    async def optimize(self, request: OptimizeRequest) -> OptimizeResult:
        """Run it to its end."""
        own = self._agent.configuration
        descriptor = descriptor_of(self._agent.name, own)
        if request.descriptor != descriptor or not request.dataset:
            raise UsageError(
                what=f"the prompt {request.descriptor.address} cannot be optimized here",
                why="the request brings no rows"
                if request.descriptor == descriptor
                else "it is another prompt than this worker's, or has other texts",
                fix="send rows in `dataset`, and the descriptor of the worker's own prompt",
                code="other_prompt",
            )
        tag = await resolve_tag(self._store, descriptor, request.baseline_tag)
        baseline = own if tag is None else tag.apply(own)
        masks = MaskTags(self._store, descriptor)
        optimizer = build_optimizer(
            Compress.name, {**request.settings, "model": None, "strategies": [self._strategy]}
        )
        assert isinstance(optimizer, Compress)
        optimizer.connect(as_model)
        search = _Search(request, baseline, masks, self._eval_requests, self._timeout)
        report = await search.run(optimizer, own)
        built_on = None if baseline == own else request.baseline_tag
        revision = None if tag is None or built_on is None else tag.revision
        made = tuple(
            replace(
                one,
                original_hash=descriptor.hashes.get(one.section_path, one.original_hash),
                built_on=built_on,
                built_on_revision=revision,
            )
            for one in report.modifications
        )
        report = replace(
            report, modifications=made, baseline_tag=built_on, baseline_revision=revision
        )
        return OptimizeResult(request_id=request.request_id, report=report)


class _Search:
    """The run of one request, which is also the history that its optimizer reads."""

    def __init__(
        self,
        request: OptimizeRequest,
        baseline: Configuration,
        masks: MaskTags,
        eval_requests: Mailbox[EvalRequest, EvalResult],
        timeout: float,
    ) -> None:
        self._request = request
        self._masks = masks
        self._eval_requests = eval_requests
        self._timeout = timeout
        self._items = {item.id: item for item in request.dataset}
        self._results: dict[str, dict[tuple[str, int], ItemResult]] = {}
        self._candidates: dict[str, Candidate] = {}
        self.trials: list[TrialResult] = []
        self.mini_batches: list[TrialResult] = []
        self._baseline = self._candidate(baseline)

    # --- as a TrialHistory ------------------------------------------------------------------------

    @property
    def tried(self) -> Sequence[TrialResult]:
        """All trials: one that fails ends the request."""
        return self.trials

    @property
    def evaluations(self) -> int:
        """How many samples were run."""
        return sum(map(len, self._results.values()))

    @property
    def evaluations_left(self) -> int | None:
        """How many more the request's budget allows."""
        budget = self._request.budget
        most = None if budget is None else budget.max_evaluations
        return None if most is None else max(0, most - self.evaluations)

    def candidate(self, candidate_id: str) -> Candidate:
        """One that was tried."""
        return self._candidates[candidate_id]

    def item_results(self, candidate_id: str) -> Sequence[ItemResult]:
        """All of a candidate's."""
        return list(self._results.get(candidate_id, {}).values())

    def items(self, item_ids: Sequence[str]) -> Sequence[Item]:
        """Rows by id."""
        return [self._items[one] for one in item_ids]

    async def load_item_results(self, candidate_id: str) -> Sequence[ItemResult]:
        """`item_results` for async methods."""
        return self.item_results(candidate_id)

    async def load_items(self, item_ids: Sequence[str]) -> Sequence[Item]:
        """`items` for async methods."""
        return self.items(item_ids)

    # --- the run ------------------------------------------------------------------------------

    async def run(self, optimizer: Compress, own: Configuration) -> OptimizationReport:
        """From the baseline to the report."""
        first = await self._try(own, CandidateProposal(configuration=self._baseline.configuration))
        if not first.counts:
            raise UnavailableError(
                what="the optimization could not begin",
                why="every sample of the baseline failed outside the agent",
                fix="it is tried again by itself; look after the agent's model",
                code="endpoint_unavailable",
            )
        state = await optimizer.initialize(self._context(optimizer, first))
        message = None
        while self.evaluations_left != 0:
            decision = await asyncio.to_thread(optimizer.should_stop, state, self)
            if decision.should_stop:
                message = decision.message
                break
            places = optimizer.candidates_per_step
            proposed = await asyncio.to_thread(optimizer.propose, state, self, places)
            tried = [await self._try(own, one) for one in proposed.proposals]
            state = optimizer.observe(proposed.state, tried)
        best_id = await asyncio.to_thread(optimizer.choice, state, self)
        best = self._candidates[best_id or self._baseline.id].configuration
        solution = await asyncio.to_thread(optimizer.solution, state, self, best)
        verdicts = optimizer.verdicts(state, self)
        rates = {one.candidate_id: one.summary.pass_rate for one in self.trials}
        before, after = rates[self._baseline.id], rates.get(best_id or "", 0.0)
        baseline = self._baseline.configuration
        descriptor = self._request.descriptor
        return OptimizationReport(
            experiment_id=str(self._request.request_id),
            prompt_ns=descriptor.namespace,
            prompt_key=descriptor.key,
            baseline_pass_rate=before,
            candidate_pass_rate=after,
            modifications=modifications_of(
                baseline, best, solution, baseline_pass_rate=before, candidate_pass_rate=after
            ),
            rejected=rejections_of(solution, optimizer.refused(state)),
            untested=told_of(optimizer.untested(state), best),
            regressions=verdicts.regressions(best.hash),
            evaluations=self.evaluations,
            stop_message=message or "the budget's max_evaluations is reached",
            tokens_before=_tokens(baseline),
            tokens_after=_tokens(best),
            usage=self._usage(),
        )

    def _context(self, optimizer: Compress, first: TrialResult) -> RunContext:
        return RunContext(
            optimization_id=str(self._request.request_id),
            evaluation_suite_id="request",
            objective_name="score",
            baseline_candidate_id=self._baseline.id,
            baseline_score=first.objective_score or 0.0,
            max_candidates_per_step=optimizer.candidates_per_step,
            baseline=self._baseline.configuration,
            space=SearchSpace(),
            splits={"validation": tuple(self._items)},
            seed=self._request.seed,
        )

    def _candidate(self, configuration: Configuration) -> Candidate:
        for one in self._candidates.values():
            if one.configuration == configuration:
                return one
        number = len(self._candidates)
        identity = str(self._request.request_id)
        made = Candidate(
            id=f"{identity[-8:]}-{number}",
            optimization_id=identity,
            number=number,
            step_index=min(number, 1),
            configuration=configuration,
            mask_id=f"opt-{identity[-12:]}-{number}",
        )
        self._candidates[made.id] = made
        return made

    async def _try(self, own: Configuration, proposal: CandidateProposal) -> TrialResult:
        """Run what a proposal wants that is not known yet, under a tag of its own."""
        candidate = self._candidate(Configuration.of(proposal.configuration))
        known = self._results.setdefault(candidate.id, {})
        ids = proposal.item_ids or tuple(self._items)
        repeats = proposal.repeats or self._request.eval_runs
        missing = [
            (item, repeat)
            for item in ids
            for repeat in range(repeats)
            if (found := known.get((item, repeat))) is None or _lost(found)
        ]
        if missing:
            known.update(await self._evaluate(own, candidate, missing))
        runs = [known[item, repeat] for item in ids for repeat in range(repeats)]
        trial = _trial(candidate, runs, whole=proposal.item_ids is None)
        (self.trials if trial.type is ExperimentType.TRIAL else self.mini_batches).append(trial)
        return trial

    async def _evaluate(
        self, own: Configuration, candidate: Candidate, missing: Sequence[tuple[str, int]]
    ) -> dict[tuple[str, int], ItemResult]:
        request, tag = self._request, candidate.mask_id
        context = ExperimentContext(
            id=candidate.id,
            name="baseline" if candidate is self._baseline else "candidate",
            overrides_tag=tag,
            parent_tag=request.baseline_tag,
            flags=request.flags,
        )
        names = request.descriptor.namespace, request.descriptor.key
        await self._masks.put(*names, tag, Overlay.between(own, candidate.configuration))
        try:
            answers = await ask_all(
                self._eval_requests,
                [
                    EvalRequest(sample=self._items[item], experiment=context, repeat=repeat)
                    for item, repeat in missing
                ],
                timeout=self._timeout,
            )
        finally:
            await self._masks.delete(*names, tag)
        return {
            pair: self._result(pair, answer) for pair, answer in zip(missing, answers, strict=True)
        }

    def _result(self, pair: tuple[str, int], answer: EvalResult) -> ItemResult:
        kind = answer.error_kind
        return ItemResult(
            item_id=pair[0],
            item_hash=self._items[pair[0]].hash,
            repeat=pair[1],
            score=answer.score.value,
            passed=answer.passed,
            output=answer.output,
            error=None if kind is None else ItemError(kind=kind, message=answer.error or ""),
            spending=answer.usage,
            latency_ms=answer.latency_ms,
        )

    def _usage(self) -> Mapping[str, Any]:
        total = Spending()
        for results in self._results.values():
            for one in results.values():
                total = total + one.spending
        return total.to_json()


def _lost(result: ItemResult) -> bool:
    return result.error is not None and result.error.kind.outside


def _trial(candidate: Candidate, runs: Sequence[ItemResult], *, whole: bool) -> TrialResult:
    passed = sum(one.passed for one in runs)
    lost = all(map(_lost, runs))
    return TrialResult(
        optimization_id=candidate.optimization_id,
        candidate_id=candidate.id,
        mask_id=candidate.mask_id,
        experiment_id=f"{candidate.id}-{len(runs)}",
        status=ExperimentStatus.FAILED if lost else ExperimentStatus.COMPLETED,
        objective_score=None if lost else sum(one.score for one in runs) / len(runs),
        summary=TrialSummary(
            total_items=len(runs),
            passed_items=passed,
            failed_items=len(runs) - passed,
            pass_rate=passed / len(runs),
            total_cost=None,
            avg_latency_ms=None,
            avg_ttft_ms=None,
        ),
        type=ExperimentType.TRIAL if whole else ExperimentType.MINI_BATCH,
    )


def _tokens(configuration: Configuration) -> int:
    return sum(part_tokens(configuration, path) for path in parts_of(configuration))
