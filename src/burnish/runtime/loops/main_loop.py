"""Main loop: runs an agent for each request, under the overrides of its experiment."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from burnish.domain import (
    DEFAULT_TAG,
    Agent,
    AgentOutput,
    Budget,
    Clock,
    Configuration,
    ErrorKind,
    ExperimentContext,
    Item,
    Json,
    Spending,
    UnavailableError,
    Usage,
    UsageError,
    exact_hash,
    experiment_scope,
)
from burnish.domain.mailboxes import Mailbox
from burnish.evaluation.item_runner import describe
from burnish.evaluation.scorers.scorer_set import is_systemic
from burnish.overrides import PromptDescriptor, PromptOverridesStore, descriptor_of, resolve_tag
from burnish.runtime.loops import reading
from burnish.runtime.loops.mailbox_loop import MailboxLoop
from burnish.runtime.loops.message_handler import Delivery, RetryRules
from burnish.runtime.mailboxes.rules import MAX_DELIVERIES

_log = logging.getLogger(__name__)
MAIN_REQUESTS = "main-requests"
_ID_CHARACTERS = 16


def now() -> datetime:
    """The current moment in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class MainLoopRequest(reading.JsonFields):
    """One run of the agent. `request` holds the fields that its prompt names.

    The time that a deadline leaves is `deadline` less `created_at`, both by the sender's clock, and
    counts from when a worker takes the request: a worker's own clock may be wrong.
    """

    request: Mapping[str, Json]
    budget: Budget | None = None
    deadline: datetime | None = None
    experiment: ExperimentContext | None = None
    request_id: UUID = field(default_factory=uuid4)
    created_at: datetime = field(default_factory=now)

    def __post_init__(self) -> None:
        for name, moment in (("deadline", self.deadline), ("created_at", self.created_at)):
            if moment is not None and moment.tzinfo is None:
                raise UsageError(
                    what=f"the request's {name} cannot be used",
                    why="it has no time zone, so it means another moment on another machine",
                    fix="make it with datetime.now(UTC)",
                    code="invalid_request",
                )

    @property
    def seconds(self) -> float | None:
        """How long it may take, by its deadline and its budget; None is no limit."""
        limits = []
        if self.deadline is not None:
            limits.append((self.deadline - self.created_at).total_seconds())
        if self.budget is not None and self.budget.max_seconds is not None:
            limits.append(self.budget.max_seconds)
        return min(limits) if limits else None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> MainLoopRequest:
        """From the form that travels."""
        return cls(
            request=reading.of_type(value, "request", dict),
            budget=reading.optional(value, "budget", reading.budget),
            deadline=reading.optional(value, "deadline", reading.moment),
            experiment=reading.optional(value, "experiment", ExperimentContext.of),
            request_id=UUID(value["request_id"]),
            created_at=reading.moment(value["created_at"]),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class MainLoopResult(reading.JsonFields):
    """What the agent answered, or why it did not.

    `overrides_tag` is the tag that was asked for, and `overridden` whether there was one; `stale`
    names sections whose override was made for another text and was left out. `exceeded` is the
    first limit of the budget that the run went past.
    """

    request_id: UUID
    output: AgentOutput | None = None
    usage: Spending = field(default_factory=Spending)
    error: str | None = None
    error_kind: ErrorKind | None = None
    exceeded: str | None = None
    overrides_tag: str | None = None
    overridden: bool = False
    stale: tuple[str, ...] = ()
    configuration_hash: str = ""
    latency_ms: float = 0.0
    completed_at: datetime = field(default_factory=now)

    @property
    def success(self) -> bool:
        """Whether there is an answer."""
        return self.error is None

    @classmethod
    def of(cls, value: Mapping[str, Any]) -> MainLoopResult:
        """From the form that travels."""
        return cls(
            request_id=UUID(value["request_id"]),
            output=reading.optional(value, "output", reading.output),
            usage=Spending.of(value["usage"]),
            error=reading.optional(value, "error", reading.text),
            error_kind=reading.optional(value, "error_kind", ErrorKind),
            exceeded=reading.optional(value, "exceeded", reading.text),
            overrides_tag=reading.optional(value, "overrides_tag", reading.text),
            overridden=reading.of_type(value, "overridden", bool),
            stale=tuple(map(reading.text, value["stale"])),
            configuration_hash=reading.of_type(value, "configuration_hash", str),
            latency_ms=reading.number(value["latency_ms"]),
            completed_at=reading.moment(value["completed_at"]),
        )


reading.declare(MainLoopRequest, "burnish.main-request")
reading.declare(MainLoopResult, "burnish.main-result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What a request runs with. `stale` sections had an override for another text."""

    configuration: Configuration
    tag: str
    overridden: bool = False
    stale: tuple[str, ...] = ()


class MainLoop(MailboxLoop[MainLoopRequest, MainLoopResult]):
    """An agent behind a mailbox.

    The tag of the request's experiment is looked up for each request, so a changed tag counts at
    once; without an experiment it is `stable`. Where there is no tag of that name, the agent's own
    texts count; any other tag that is missing is refused. What fails in the agent is an answer with
    an `error`; a model or a store that is away is tried again. Without `requests` the loop serves an
    EvalLoop only.
    """

    request_type = MainLoopRequest

    def __init__(
        self,
        *,
        agent: Agent,
        requests: Mailbox[MainLoopRequest, MainLoopResult] | None = None,
        overrides_store: PromptOverridesStore | None = None,
        descriptor: PromptDescriptor | None = None,
        timeout_seconds: float | None = 120.0,
        concurrency: int = 16,
        max_deliveries: int = MAX_DELIVERIES,
        rules: RetryRules | None = None,
        clock: Clock | None = None,
        name: str = "main",
    ) -> None:
        super().__init__(
            name=name,
            requests=requests,
            concurrency=concurrency,
            max_deliveries=max_deliveries,
            rules=rules,
            clock=clock,
        )
        self.agent = agent
        self.timeout_seconds = timeout_seconds
        self._store = overrides_store
        self.descriptor = descriptor or descriptor_of(agent.name, agent.configuration)
        self._told_stale: set[tuple[str, str]] = set()

    async def prepare(self, experiment: ExperimentContext | None) -> Prepared:
        """The agent's configuration under the experiment's tag."""
        tag = DEFAULT_TAG if experiment is None else experiment.overrides_tag
        own = self.agent.configuration
        # Without a store the tag is for the agent's own code to look up.
        resolved = (
            None if self._store is None else await resolve_tag(self._store, self.descriptor, tag)
        )
        if resolved is None:
            return Prepared(configuration=own, tag=tag)
        for one in resolved.stale:
            self._tell_stale(tag, one.path, str(one))
        return Prepared(
            configuration=resolved.apply(own),
            tag=tag,
            overridden=True,
            stale=tuple(one.path for one in resolved.stale),
        )

    async def handle(self, request: MainLoopRequest, delivery: Delivery) -> MainLoopResult:
        """Run the agent once."""
        try:
            return await self.execute(request)
        except UnavailableError as error:
            if not delivery.last:
                raise
            return self.failed(request, error)

    async def execute(self, request: MainLoopRequest) -> MainLoopResult:
        """The answer to a request, without a mailbox. Raises when something outside is away."""
        prepared = await self.prepare(request.experiment)
        started = time.perf_counter()
        output: AgentOutput | None = None
        error: tuple[str, ErrorKind] | None = _refusal(request)
        if error is None:
            try:
                output = await self._answer(request, prepared)
            except TimeoutError as failure:
                error = self._too_late(request, failure, time.perf_counter() - started)
            except UnavailableError:
                raise
            except Exception as failure:
                if is_systemic(failure):
                    raise
                error = describe(failure), ErrorKind.AGENT
        result = MainLoopResult(
            request_id=request.request_id,
            output=output,
            error=None if error is None else error[0],
            error_kind=None if error is None else error[1],
            overrides_tag=prepared.tag,
            overridden=prepared.overridden,
            stale=prepared.stale,
            configuration_hash=prepared.configuration.hash,
            latency_ms=(time.perf_counter() - started) * 1000,
        )
        return result if output is None else _with_spending(result, output, request.budget)

    def failed(self, request: MainLoopRequest, error: Exception) -> MainLoopResult:
        """An answer that says why there is none."""
        outside = isinstance(error, UnavailableError)
        return MainLoopResult(
            request_id=request.request_id,
            error=describe(error),
            error_kind=ErrorKind.INFRASTRUCTURE if outside else ErrorKind.AGENT,
            overrides_tag=None if request.experiment is None else request.experiment.overrides_tag,
        )

    async def _answer(self, request: MainLoopRequest, prepared: Prepared) -> AgentOutput:
        limits = [one for one in (self.timeout_seconds, request.seconds) if one is not None]
        item = Item(id=exact_hash(request.request)[:_ID_CHARACTERS], data=request.request)
        with experiment_scope(request.experiment):
            async with asyncio.timeout(min(limits) if limits else None):
                return await self.agent.run(prepared.configuration, item, repeat=0)

    def _too_late(
        self, request: MainLoopRequest, failure: TimeoutError, elapsed: float
    ) -> tuple[str, ErrorKind]:
        granted = request.seconds
        if granted is not None and elapsed >= granted:
            return f"the request left {granted:g} s, and they are over", ErrorKind.TIMEOUT
        if self.timeout_seconds is not None and elapsed >= self.timeout_seconds:
            return f"no answer within {self.timeout_seconds:g} s", ErrorKind.TIMEOUT
        return describe(failure), ErrorKind.AGENT  # The agent's own time-out, not ours.

    def _tell_stale(self, tag: str, path: str, why: str) -> None:
        """Once a section: a stale tag would fill the log."""
        if (tag, path) not in self._told_stale and len(self._told_stale) < 1000:
            self._told_stale.add((tag, path))
            _log.warning("the tag %s is partly left out: %s", tag, why)


def _refusal(request: MainLoopRequest) -> tuple[str, ErrorKind] | None:
    """Why a request is not even started: nothing of its time or its budget is left."""
    if request.seconds is not None and request.seconds <= 0:
        return "its deadline was over when it was sent", ErrorKind.TIMEOUT
    if request.budget is not None:
        limit = request.budget.exhausted(Usage(), trials=-1, evaluations=-1, seconds=-1)
        if limit is not None:
            return f"its budget allows no call ({limit} is 0)", ErrorKind.AGENT
    return None


def _with_spending(
    result: MainLoopResult, output: AgentOutput, budget: Budget | None
) -> MainLoopResult:
    """What was paid is paid: the answer stays, and says which limit it went past."""
    amounts = {} if budget is None else budget.amounts(output.spending.total)
    limits = {} if budget is None else budget.to_json()
    exceeded = [name for name, amount in amounts.items() if amount > limits.get(name, math.inf)]
    return replace(result, usage=output.spending, exceeded=exceeded[0] if exceeded else None)
