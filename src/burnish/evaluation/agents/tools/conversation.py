"""Conversation of a tool agent with its model and tools: a bounded loop over one item.

Model calls go through the call cache. What a tool answered is recorded before it is used, so that work
that was killed calls no tool again that had answered.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from burnish.domain import (
    Json,
    Message,
    Model,
    ModelRequest,
    ModelResponse,
    PaidAnswerError,
    ToolCall,
    ToolCallRecords,
    UnavailableError,
    Usage,
    UsageError,
    canonical_hash,
    paid_in,
)
from burnish.evaluation.agents.tools.roster import Roster, SubAgent, task_schema
from burnish.evaluation.agents.tools.tool import Tool, ToolFailure, broken_rule
from burnish.support.deadlines import deadline
from burnish.support.hints import did_you_mean

DEFAULT_STEPS = 20
_LONGEST_ERROR = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one run of one item may take; the first that is reached ends it.

    Steps are answers of the model, each agent's own; the others count with all sub-agents.
    """

    max_steps: int = DEFAULT_STEPS
    max_seconds: float | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """One agent of a conversation: its model, what it may call and where its sections are."""

    model: Model
    roster: Roster
    models: Mapping[str, Model]
    path: str = ""
    max_steps: int = DEFAULT_STEPS
    schema: Mapping[str, Json] | None = None
    labels: tuple[str, ...] = ()


@dataclass(slots=True)
class Ending:
    """How an agent ended: its last words, why, and the transcript of the way there."""

    text: str = ""
    ended: str = "answer"
    finish_reason: str | None = None
    ttft_ms: float | None = None
    transcript: list[dict[str, Json]] = field(default_factory=list)


@dataclass(slots=True)
class _Observation:
    text: str
    error: bool = False
    milliseconds: float = 0.0
    transcript: list[dict[str, Json]] = field(default_factory=list)

    def to_json(self) -> dict[str, Json]:
        return {"text": self.text, "error": self.error, "milliseconds": self.milliseconds}


class Conversation:
    """One run of one item. `work` names it, so that the same work goes on where it was left."""

    def __init__(
        self,
        *,
        sections: Mapping[str, str],
        parameters: Mapping[str, Json],
        limits: Limits,
        repeat: int,
        work: str,
        path: str = "",
        records: ToolCallRecords | None,
    ) -> None:
        self._sections = sections
        self._parameters = parameters
        self._limits = limits
        self._repeat = repeat
        self._work = work
        self._path = path
        self._records = records
        self._known: Mapping[str, Mapping[str, Any]] = {}
        self.paid = Usage()
        self.reused = Usage()
        self.milliseconds = 0.0

    async def run(self, speaker: Speaker, messages: Sequence[Message]) -> Ending:
        """The whole of it. What was paid before an outage comes with the error."""
        ending = Ending()
        try:
            async with deadline(self._limits.max_seconds) as timeout:
                if self._records is not None:
                    self._known = await self._records.load(self._work)
                await self._talk(speaker, messages, ending, self._path)
        except TimeoutError:
            if self._limits.max_seconds is None or not timeout.expired():
                raise
            ending.ended = "max_seconds"
        except UnavailableError as error:
            raise PaidAnswerError.of(error, self.paid + paid_in(error)) from error
        return ending

    async def _talk(
        self, speaker: Speaker, messages: Sequence[Message], ending: Ending, path: str
    ) -> None:
        said = list(messages)
        ending.transcript.extend(_entry(one) for one in said)
        tools = speaker.roster.definitions(self._sections, speaker.path)
        taken: set[str] = set()
        step = 0
        while (ended := self._limit(step, speaker)) is None:
            step += 1
            request = ModelRequest(
                messages=tuple(said),
                parameters=self._parameters,
                tools=tools,
                schema=speaker.schema,
                labels=speaker.labels,
                repeat=self._repeat,
            )
            response = await self._ask(speaker.model, request)
            calls = _named_apart(response.tool_calls, step, taken)
            said.append(Message("assistant", response.text, tool_calls=calls))
            ending.transcript.append(_entry(said[-1]))
            ending.text, ending.finish_reason = response.text, response.finish_reason
            ending.ttft_ms = response.ttft_ms if ending.ttft_ms is None else ending.ttft_ms
            if not calls:
                return
            observed = await self._call_all(speaker, calls, f"{path}{step}")
            for call, one in zip(calls, observed, strict=True):
                said.append(Message("tool", one.text, tool_call_id=call.id))
                ending.transcript.extend(one.transcript)
                ending.transcript.append(_entry(said[-1], call.name, error=one.error))
        ending.ended = ended

    def _limit(self, step: int, speaker: Speaker) -> str | None:
        """The limit that allows no further answer; calls that a cache answered count as paid ones."""
        limits, spent = self._limits, self.paid + self.reused
        if step >= speaker.max_steps:
            return "max_steps"
        tokens = spent.input_tokens + spent.output_tokens
        if limits.max_tokens is not None and tokens >= limits.max_tokens:
            return "max_tokens"
        if limits.max_cost_usd is None:
            return None
        if spent.cost_usd is None:
            raise UsageError(
                what="the agent's max_cost_usd cannot be kept",
                why="the price of its model is not known",
                fix="set the model's price in [models], or limit max_tokens instead",
                code="unknown_price",
            )
        return "max_cost_usd" if spent.cost_usd >= limits.max_cost_usd else None

    async def _ask(self, model: Model, request: ModelRequest) -> ModelResponse:
        started = time.perf_counter()
        response = await model.complete(request)
        taken = response.latency_ms
        self.milliseconds += (time.perf_counter() - started) * 1000 if taken is None else taken
        self.paid += response.usage
        if response.cached:
            self.reused += response.reused
        return response

    async def _call_all(
        self, speaker: Speaker, calls: Sequence[ToolCall], path: str
    ) -> list[_Observation]:
        """All at once, in the order of the calls; each is recorded before an outage of one ends all."""
        found = await asyncio.gather(
            *(self._observe(speaker, call, f"{path}/{call.id}") for call in calls),
            return_exceptions=True,
        )
        observed: list[_Observation] = []
        for one in found:
            if isinstance(one, BaseException):
                raise one
            observed.append(one)
        # Calls of one step run side by side; those of sub-agents were counted as they went.
        self.milliseconds += max((one.milliseconds for one in observed), default=0.0)
        return observed

    async def _observe(self, speaker: Speaker, call: ToolCall, path: str) -> _Observation:
        roster = speaker.roster
        tool, sub = roster.tools.get(call.name), roster.agents.get(call.name)
        if tool is None and sub is None:
            every = f"There are {', '.join(roster.names)}." if roster.names else "There is none."
            hint = did_you_mean(call.name, roster.names, every)
            return _Observation(f"error: there is no tool {call.name!r}. {hint}", error=True)
        schema = task_schema() if tool is None else tool.parameters
        broken = broken_rule(call.arguments, schema)
        if broken is not None:
            text = f"error: the arguments of {call.name} break its schema: {broken}"
            return _Observation(text[:_LONGEST_ERROR], error=True)
        assert isinstance(call.arguments, dict)
        if tool is not None:
            return await self._tool(tool, call, call.arguments, path)
        assert sub is not None
        return await self._sub_agent(speaker, sub, str(call.arguments["task"]), path)

    async def _tool(
        self, tool: Tool, call: ToolCall, arguments: Mapping[str, Json], path: str
    ) -> _Observation:
        # By what is asked too: a model that is not cached may ask otherwise the second time.
        key = canonical_hash([self._work, path, call.name, arguments])
        known = self._known.get(path)
        if known is not None and known.get("key") == key:
            return _Observation(known["text"], known["error"], known["milliseconds"])
        started = time.perf_counter()
        try:
            found = _Observation(await tool.call(arguments, idempotency_key=key))
        except (asyncio.CancelledError, UnavailableError):
            raise
        except Exception as error:
            if _is_of_all(error):
                raise
            found = _Observation(_words(error)[:_LONGEST_ERROR], error=True)
        found.milliseconds = (time.perf_counter() - started) * 1000
        if self._records is not None:
            await self._records.add(self._work, path, {**found.to_json(), "key": key})
        return found

    async def _sub_agent(
        self, speaker: Speaker, sub: SubAgent, task: str, path: str
    ) -> _Observation:
        own = f"{speaker.path}agents.{sub.name}."
        system = self._sections.get(f"{own}system", "")
        first = [Message("system", system)] if system else []
        ending = Ending()
        inner = replace(
            speaker,
            model=speaker.models.get(own, speaker.model),
            roster=sub.roster,
            path=own,
            max_steps=sub.max_steps or self._limits.max_steps,
            schema=None,
            labels=(),
        )
        await self._talk(inner, [*first, Message("user", task)], ending, f"{path}/")
        transcript = [{**one, "agent": one.get("agent", sub.name)} for one in ending.transcript]
        if ending.ended == "answer":
            return _Observation(ending.text, transcript=transcript)
        text = f"error: {sub.name} stopped at {ending.ended}. {ending.text}".strip()
        return _Observation(text, error=True, transcript=transcript)


def _is_of_all(error: Exception) -> bool:
    """Whether every call would fail alike, as without a key."""
    from burnish.evaluation.scorers.scorer_set import is_systemic  # noqa: PLC0415 - loads agents

    return is_systemic(error)


def _named_apart(calls: Sequence[ToolCall], step: int, taken: set[str]) -> tuple[ToolCall, ...]:
    """The calls with an id each that no other of the conversation has."""
    named: list[ToolCall] = []
    for number, call in enumerate(calls, start=1):
        own = call.id if call.id and call.id not in taken else f"call_{step}_{number}"
        taken.add(own)
        named.append(replace(call, id=own))
    return tuple(named)


def _entry(message: Message, name: str = "", *, error: bool = False) -> dict[str, Json]:
    told: dict[str, Json] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        told["tool_calls"] = [one.to_json() for one in message.tool_calls]
    if message.tool_call_id:
        told["tool_call_id"] = message.tool_call_id
        told["name"] = name
    if error:
        told["error"] = True
    return told


def _words(error: Exception) -> str:
    if isinstance(error, ToolFailure):
        return f"error: {error}"
    return (
        f"error: {type(error).__name__}: {error}"
        if str(error)
        else f"error: {type(error).__name__}"
    )
