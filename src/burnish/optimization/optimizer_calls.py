"""Optimizer calls: plain or async, with a deadline, and nothing returned is trusted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from burnish.domain import (
    BurnishError,
    CandidateProposal,
    ConfirmedChooser,
    InvariantError,
    Json,
    Optimizer,
    OptimizerState,
    Proposed,
    RunContext,
    SearchReporter,
    StopDecision,
    StopReason,
    TrialHistory,
    TrialResult,
    WinnerChooser,
    optimizer_name,
)
from burnish.evaluation.item_runner import describe
from burnish.optimization.extensions import ExtensionFailed, run_either
from burnish.support.threads import DaemonThreads

# The reasons that an optimizer may stop by; the others are the framework's.
_OWN_REASONS = (
    StopReason.TARGET_REACHED,
    StopReason.CONVERGENCE,
    StopReason.NO_IMPROVEMENT,
    StopReason.ALGORITHM_SPECIFIC,
)


class OptimizerFailed(ExtensionFailed):
    """An optimizer method raised, hung or returned something else than it promised."""

    default_code = "optimizer_failed"
    advice = "mend the optimizer, then `burnish resume` goes on from the last step"

    def __init__(self, optimizer: str, method: str, why: str) -> None:
        what = f"the optimizer {optimizer!r} failed in {method}"
        super().__init__(what=what, why=why, fix=self.advice)
        self.method = method


class BuiltInOptimizerFailed(OptimizerFailed):
    """One of Burnish's own."""

    exit_code = InvariantError.exit_code
    advice = "this is a bug in burnish: report it; `burnish resume` goes on from the last step"


class OptimizerCalls:
    """The four methods, checked."""

    def __init__(
        self,
        optimizer: Optimizer,
        *,
        timeout_seconds: float,
        is_asking: Callable[[], bool] = lambda: False,
    ) -> None:
        """While the optimizer asks a model of its own (`is_asking`), it is that call's deadline that
        counts."""
        self._optimizer = optimizer
        self._timeout = timeout_seconds
        self._is_asking = is_asking
        self._threads = DaemonThreads(4)
        self.choice_stands = isinstance(optimizer, ConfirmedChooser)

    async def initialize(self, context: RunContext) -> OptimizerState:
        """The first state."""
        return self._state("initialize", await self._call("initialize", context))

    async def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> Proposed:
        """Proposals, none where the optimizer has none, and the state after making them."""
        answer = await self._call("propose", state, history, max_candidates)
        if isinstance(answer, Proposed):
            state, answer = self._state("propose", answer.state), answer.proposals
        if isinstance(answer, (str, bytes)) or not isinstance(answer, Sequence):
            raise self._failed("propose", f"it returned a {type(answer).__name__}, not a list")
        wrong = next((one for one in answer if not isinstance(one, CandidateProposal)), None)
        if wrong is not None:
            raise self._failed("propose", f"its list holds a {type(wrong).__name__}")
        return Proposed(proposals=list(answer), state=state)

    async def observe(
        self, state: OptimizerState, trial_results: Sequence[TrialResult]
    ) -> OptimizerState:
        """The state after some results."""
        return self._state("observe", await self._call("observe", state, list(trial_results)))

    async def should_stop(self, state: OptimizerState, history: TrialHistory) -> StopDecision:
        """Whether the optimizer has had enough."""
        answer = await self._call("should_stop", state, history)
        if not isinstance(answer, StopDecision):
            raise self._failed("should_stop", f"it returned a {type(answer).__name__}")
        if answer.reason is not None and answer.reason not in _OWN_REASONS:
            own = ", ".join(_OWN_REASONS)
            why = f"its reason is {answer.reason!s}, which is not among its own: {own}"
            raise self._failed("should_stop", why)
        return answer

    async def choice(self, state: OptimizerState, history: TrialHistory) -> str | None:
        """The winner by the optimizer's own judgement; None where it has none."""
        if not isinstance(self._optimizer, WinnerChooser):
            return None
        answer = await self._call("choice", state, history)
        if answer is not None and not isinstance(answer, str):
            raise self._failed("choice", f"it returned a {type(answer).__name__}, not an id")
        return answer

    async def report(
        self, state: OptimizerState, history: TrialHistory, winner_id: str
    ) -> Mapping[str, Json] | None:
        """What the search learnt; None where the optimizer does not tell.

        The run is over: a report that fails is told in its place and costs no result.
        """
        if not isinstance(self._optimizer, SearchReporter):
            return None
        try:
            answer = await self._call("report", state, history, winner_id)
            if not isinstance(answer, Mapping):
                raise self._failed("report", f"it returned a {type(answer).__name__}")
            told: dict[str, Json] = json.loads(json.dumps(dict(answer), allow_nan=False))
        except (OptimizerFailed, TypeError, ValueError) as error:
            return {"error": describe(error)}
        return told

    def close(self) -> None:
        """Let the threads end."""
        self._threads.close()

    async def _call(self, method: str, *arguments: Any) -> Any:
        function: Callable[..., Any] | None = getattr(self._optimizer, method, None)
        if function is None:
            raise self._failed(method, "it has no such method")
        try:
            return await self._in_time(run_either(self._threads, function, *arguments))
        except TimeoutError:
            raise self._failed(method, f"no answer within {self._timeout:g} s") from None
        except BurnishError:
            raise
        except Exception as error:
            raise self._failed(method, describe(error)) from error

    async def _in_time(self, work: Coroutine[Any, Any, Any]) -> Any:
        task = asyncio.create_task(work)
        try:
            while not (await asyncio.wait({task}, timeout=self._timeout))[0]:
                if not self._is_asking():
                    raise TimeoutError
            return task.result()
        finally:
            task.cancel()

    def _state(self, method: str, answer: Any) -> OptimizerState:
        if not isinstance(answer, OptimizerState):
            raise self._failed(method, f"it returned a {type(answer).__name__}, not a state")
        try:
            # Through JSON and back: a resumed run must not see another state than this one.
            return OptimizerState.of(json.loads(json.dumps(answer.to_json(), allow_nan=False)))
        except (TypeError, ValueError, RecursionError) as error:
            raise self._failed(method, f"its state is not JSON: {error}") from error

    def _failed(self, method: str, why: str) -> OptimizerFailed:
        own = type(self._optimizer).__module__.startswith("burnish.optimizers.")
        kind = BuiltInOptimizerFailed if own else OptimizerFailed
        return kind(optimizer_name(self._optimizer), method, why)
