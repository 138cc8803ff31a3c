"""Optimizer calls: plain or async, with a deadline, and nothing returned is trusted."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from typing import Any

from burnish.domain import (
    BurnishError,
    CandidateProposal,
    Optimizer,
    OptimizerState,
    RunContext,
    StopDecision,
    TrialHistory,
    TrialResult,
    WinnerChooser,
)
from burnish.evaluation.item_runner import describe
from burnish.support.deadlines import deadline
from burnish.support.threads import DaemonThreads


class OptimizerFailed(BurnishError):  # noqa: N818 - names what happened to the run
    """An optimizer method raised, hung or returned something else than it promised."""

    exit_code = 70
    default_code = "optimizer_failed"

    def __init__(self, optimizer: str, method: str, why: str) -> None:
        super().__init__(
            what=f"the optimizer {optimizer!r} failed in {method}",
            why=why,
            fix="mend the optimizer, then `burnish resume` goes on from the last step",
        )
        self.method = method


class OptimizerCalls:
    """The four methods, checked."""

    def __init__(self, optimizer: Optimizer, *, timeout_seconds: float) -> None:
        self._optimizer = optimizer
        self._timeout = timeout_seconds
        self._threads = DaemonThreads(4)

    async def initialize(self, context: RunContext) -> OptimizerState:
        """The first state."""
        return self._state("initialize", await self._call("initialize", context))

    async def propose(
        self, state: OptimizerState, history: TrialHistory, max_candidates: int
    ) -> list[CandidateProposal]:
        """Proposals; an empty list means that the optimizer has none."""
        answer = await self._call("propose", state, history, max_candidates)
        if isinstance(answer, (str, bytes)) or not isinstance(answer, Sequence):
            raise self._failed("propose", f"it returned a {type(answer).__name__}, not a list")
        wrong = next((one for one in answer if not isinstance(one, CandidateProposal)), None)
        if wrong is not None:
            raise self._failed("propose", f"its list holds a {type(wrong).__name__}")
        return list(answer)

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
        return answer

    async def choice(self, state: OptimizerState, history: TrialHistory) -> str | None:
        """The winner by the optimizer's own judgement; None where it has none."""
        if not isinstance(self._optimizer, WinnerChooser):
            return None
        answer = await self._call("choice", state, history)
        if answer is not None and not isinstance(answer, str):
            raise self._failed("choice", f"it returned a {type(answer).__name__}, not an id")
        return answer

    def close(self) -> None:
        """Let the threads end."""
        self._threads.close()

    async def _call(self, method: str, *arguments: Any) -> Any:
        function: Callable[..., Any] = getattr(self._optimizer, method)
        try:
            async with deadline(self._timeout):
                if inspect.iscoroutinefunction(function):
                    return await function(*arguments)
                answer = await self._threads.run(function, *arguments)
                return await answer if inspect.isawaitable(answer) else answer
        except TimeoutError:
            raise self._failed(method, f"no answer within {self._timeout:g} s") from None
        except BurnishError:
            raise
        except Exception as error:
            raise self._failed(method, describe(error)) from error

    def _state(self, method: str, answer: Any) -> OptimizerState:
        if not isinstance(answer, OptimizerState):
            raise self._failed(method, f"it returned a {type(answer).__name__}, not a state")
        try:
            # Through JSON and back: a resumed run must not see another state than this one.
            return OptimizerState.of(json.loads(json.dumps(answer.to_json(), allow_nan=False)))
        except (TypeError, ValueError) as error:
            raise self._failed(method, f"its state is not JSON: {error}") from error

    def _failed(self, method: str, why: str) -> OptimizerFailed:
        return OptimizerFailed(self._optimizer.name, method, why)
