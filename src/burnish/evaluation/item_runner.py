"""Item runner: the agent, then the scorers, once, with every failure as a result."""

from __future__ import annotations

import asyncio
import os
import sysconfig
import time
import traceback
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path

from burnish.domain import (
    Agent,
    AgentOutput,
    BurnishError,
    Configuration,
    ErrorKind,
    Item,
    ItemError,
    ItemResult,
    Purpose,
    Score,
    Spending,
    UnavailableError,
    UsageError,
    paid_in,
)
from burnish.domain.models import spent_before
from burnish.evaluation.scorers.judge import NOT_JUDGED
from burnish.evaluation.scorers.judge_calls import JUDGE_UNAVAILABLE
from burnish.evaluation.scorers.scorer_set import ScorerSet, is_systemic
from burnish.support.deadlines import deadline, is_cancelled

_OURS = str(Path(__file__).parents[1]) + os.sep
_INSTALLED = tuple(
    sysconfig.get_path(name) + os.sep for name in ("stdlib", "platstdlib", "purelib", "platlib")
)


@dataclass(frozen=True, slots=True, eq=False)
class ItemRunner:
    """Runs an agent on single items. Raises only what would fail every item alike."""

    agent: Agent
    configuration: Configuration
    scorers: ScorerSet
    _: KW_ONLY
    pass_threshold: float | None
    timeout_seconds: float | None

    async def run(self, item: Item, repeat: int) -> ItemResult:
        """The scored result of one run."""
        started = time.perf_counter()
        try:
            async with deadline(self.timeout_seconds) as timeout:
                output = await self.agent.run(self.configuration, item, repeat=repeat)
        except TimeoutError as error:
            failure = self._timed_out(error, timeout)
            return self._failed(item, repeat, failure, started, _paid(error))
        except UsageError as error:
            if is_systemic(error):
                raise
            failure = ItemError(kind=ErrorKind.AGENT, message=str(error))
            return self._failed(item, repeat, failure, started, _paid(error))
        except UnavailableError as error:
            failure = ItemError(kind=ErrorKind.INFRASTRUCTURE, message=str(error))
            return self._failed(item, repeat, failure, started, _paid(error))
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                raise
            failure = ItemError(kind=ErrorKind.AGENT, message=describe(error))
            return self._failed(item, repeat, failure, started, _paid(error))
        latency_ms = output.latency_ms
        if latency_ms is None:
            latency_ms = (time.perf_counter() - started) * 1000
        return await self._scored(item, repeat, output, latency_ms)

    async def rescore(self, cached: ItemResult, item: Item) -> ItemResult:
        """A cached output under these scorers; only the scorers' own spending is new."""
        assert cached.output is not None
        output = replace(cached.output, spending=Spending(), reused=cached.footprint)
        result = await self._scored(item, cached.repeat, output, cached.latency_ms)
        return replace(result, cached=True)

    def reuse(self, cached: ItemResult, item: Item) -> ItemResult:
        """A cached result whose scores still hold, under this suite's threshold; it costs nothing."""
        return replace(
            cached,
            item_id=item.id,
            score=self.scorers.objective(cached.scores),
            passed=self.scorers.passed(cached.scores, self.pass_threshold),
            spending=Spending(),
            reused=cached.footprint,
            cached=True,
        )

    async def _scored(
        self, item: Item, repeat: int, output: AgentOutput, latency_ms: float
    ) -> ItemResult:
        scores = await self.scorers.score_all(output, item)
        return ItemResult(
            item_id=item.id,
            item_hash=item.hash,
            repeat=repeat,
            score=self.scorers.objective(scores),
            passed=self.scorers.passed(scores, self.pass_threshold),
            output=output,
            scores=tuple(scores),
            error=_scorer_error(self.scorers.deciding(scores)),
            spending=_spending(output, scores),
            latency_ms=latency_ms,
            reused=output.reused,
        )

    def _timed_out(self, error: TimeoutError, timeout: asyncio.Timeout) -> ItemError:
        if not timeout.expired():  # the agent's own, not ours
            return ItemError(kind=ErrorKind.AGENT, message=describe(error))
        message = f"no answer within {self.timeout_seconds:g} s"
        return ItemError(kind=ErrorKind.TIMEOUT, message=message)

    def _failed(
        self,
        item: Item,
        repeat: int,
        error: ItemError,
        started: float,
        paid: Spending | None = None,
    ) -> ItemResult:
        return ItemResult(
            item_id=item.id,
            item_hash=item.hash,
            repeat=repeat,
            score=0.0,
            passed=False,
            output=None,
            error=error,
            spending=paid or Spending(),
            latency_ms=(time.perf_counter() - started) * 1000,
        )


def _paid(error: BaseException) -> Spending:
    """What a run without an answer cost, by purpose."""
    if isinstance(error, TimeoutError) and error.__cause__ is not None:
        error = error.__cause__  # What ran noted it when it was cancelled.
    own = paid_in(error)
    return spent_before(error) + (Spending.on(Purpose.AGENT, own) if own.calls else Spending())


def describe(error: BaseException) -> str:
    """An exception of user code in one line, with the place where it was raised."""
    if isinstance(error, BurnishError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    # Where an item or a library complains, the line that asked it is the one to mend.
    outside = [one for one in frames if not one.filename.startswith(_OURS)]
    own = [one for one in outside if not one.filename.startswith(_INSTALLED)] or outside
    place = f" ({Path(own[-1].filename).name}:{own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {error}{place}"


def _scorer_error(scores: Sequence[Score]) -> ItemError | None:
    for score in scores:
        if score.error is not None:
            kind = ErrorKind.SCORER
            if score.error.startswith(JUDGE_UNAVAILABLE):
                kind = ErrorKind.INFRASTRUCTURE
            elif score.error.endswith(NOT_JUDGED):
                kind = ErrorKind.SKIPPED
            return ItemError(kind=kind, message=f"{score.name}: {score.error}")
    return None


def _spending(output: AgentOutput, scores: Sequence[Score]) -> Spending:
    spending = output.spending
    for score in scores:
        spending = spending + score.spending
    return spending
