"""Samples in, scored results out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burnish.domain import (
    Clock,
    ErrorKind,
    ItemResult,
    UnavailableError,
    experiment_scope,
)
from burnish.domain.mailboxes import Mailbox
from burnish.evaluation.item_runner import ItemRunner, describe
from burnish.evaluation.scorers import ScorerSet, build_scorers
from burnish.models import as_model
from burnish.runtime.loops.delivery import Delivery, RetryRules
from burnish.runtime.loops.eval_messages import EvalRequest, EvalResult
from burnish.runtime.loops.mailbox_loop import MailboxLoop
from burnish.runtime.loops.main_loop import MainLoop
from burnish.runtime.mailboxes.rules import MAX_DELIVERIES


class EvalLoop(MailboxLoop[EvalRequest, EvalResult]):
    """Evaluates single samples with the main loop's agent and these scorers.

    A sample that fails is a result. One that fails for reasons outside the agent goes back to be
    tried again, and is a failed result at the last delivery. Whole experiments travel as shards, on
    a mailbox of their own: see `burnish.runtime.shards`.
    """

    def __init__(
        self,
        *,
        loop: MainLoop,
        requests: Mailbox[EvalRequest, EvalResult],
        scorers: ScorerSet | Sequence[Any],
        pass_threshold: float = 1.0,
        concurrency: int = 16,
        max_deliveries: int = MAX_DELIVERIES,
        rules: RetryRules | None = None,
        clock: Clock | None = None,
        name: str = "eval",
    ) -> None:
        super().__init__(
            name=name,
            requests=requests,
            concurrency=concurrency,
            max_deliveries=max_deliveries,
            rules=rules,
            clock=clock,
        )
        self._main = loop
        if not isinstance(scorers, ScorerSet):
            scorers = build_scorers(scorers, open_model=as_model, folder=Path.cwd())
        self._scorers = scorers
        self._pass_threshold = pass_threshold

    def failed(self, request: EvalRequest, error: Exception) -> EvalResult:
        """A failed result: never a missing one."""
        outside = isinstance(error, UnavailableError)
        kind = ErrorKind.INFRASTRUCTURE if outside else ErrorKind.AGENT
        return EvalResult.failed(request, describe(error), kind)

    async def handle(self, request: EvalRequest, delivery: Delivery) -> EvalResult:
        """Run the sample under its experiment's tag, and judge it."""
        prepared = await self._main.prepare(request.experiment)
        runner = ItemRunner(
            self._main.agent,
            prepared.configuration,
            self._scorers,
            pass_threshold=self._pass_threshold,
            timeout_seconds=self._main.timeout_seconds,
        )
        with experiment_scope(request.experiment):
            result = await runner.run(request.sample, request.repeat)
        if _failed_outside(result) and not delivery.last:
            assert result.error is not None
            raise UnavailableError(
                what=f"the sample {request.sample.id} could not be run",
                why=result.error.message,
                fix="it is tried again by itself",
                code="sample_unavailable",
            )
        return EvalResult.of_item(request, result, stale=prepared.stale)


def _failed_outside(result: ItemResult) -> bool:
    return result.error is not None and result.error.kind is ErrorKind.INFRASTRUCTURE
