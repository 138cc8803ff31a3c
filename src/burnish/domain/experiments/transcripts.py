"""Transcript of a run: the messages, steps and tool calls that an agent left in its trace.

A step is one message of the assistant, with the calls that it makes; steps are numbered from 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from burnish.domain.json_values import Json
from burnish.domain.wording import counted

_MOST_OF_A_MESSAGE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class CallMade:
    """One tool call: where it stands, what it was given, and what came back, if anything did."""

    step: int
    name: str
    arguments: Json
    id: str = ""
    result: str | None = None
    failed: bool = False
    agent: str = ""


@dataclass(frozen=True)
class Transcript:
    """The messages of a run in order; `ended` says why it ended, where that is known."""

    messages: tuple[Mapping[str, Any], ...]
    ended: str = ""

    @classmethod
    def of(cls, trace: Json) -> Transcript | None:
        """The transcript in a trace; None where there is none."""
        told = trace.get("transcript") if isinstance(trace, Mapping) else None
        if not isinstance(told, (list, tuple)) or not all(isinstance(one, Mapping) for one in told):
            return None
        assert isinstance(trace, Mapping)
        return cls(tuple(told), str(trace.get("ended") or ""))

    @cached_property
    def calls(self) -> tuple[CallMade, ...]:
        """All tool calls in order, each with the next answer that names it."""
        found: list[CallMade] = []
        for step, message in self.numbered():
            if message.get("role") == "tool":
                _answer(found, message)
            if message.get("role") != "assistant":
                continue
            for call in _calls_of(message):
                name, arguments = name_and_arguments(call)
                found.append(
                    CallMade(
                        step=step,
                        name=name,
                        arguments=arguments,
                        id=str(call.get("id") or ""),
                        agent=str(message.get("agent") or ""),
                    )
                )
        return tuple(found)

    @cached_property
    def steps(self) -> int:
        """How many messages the assistant wrote, those of sub-agents included."""
        return sum(1 for one in self.messages if one.get("role") == "assistant")

    @cached_property
    def turns(self) -> int:
        """How often the user spoke; what sub-agents are given to do is no turn."""
        return sum(1 for one in self.messages if is_turn(one))

    def numbered(self) -> Iterator[tuple[int, Mapping[str, Any]]]:
        """Each message with the step that it belongs to; what comes before the first step has 0."""
        step = 0
        for message in self.messages:
            step += message.get("role") == "assistant"
            # What the user says next leads to the next step.
            yield step, message

    def text(self, most: int, *, around: int | None = None) -> str:
        """The transcript as text of about so many characters; what is far from a step goes first.

        Without a step to stand around, it is the end: what failed mostly stands there.
        """
        blocks = [_block(step, message, most) for step, message in self.numbered()]
        places = [step for step, _ in self.numbered()]
        middle = len(blocks) - 1
        if around in places:
            middle = places.index(around)
        return "\n".join(_window(blocks, middle, most))

    def step_text(self, step: int, most: int) -> str:
        """One step with the results of its calls."""
        blocks = [
            _block(place, message, most)
            for place, message in self.numbered()
            if place == step and message.get("role") != "user"
        ]
        return _shortened("\n".join(blocks), most)


def is_turn(message: Mapping[str, Any]) -> bool:
    """Whether it is a message of the user, and not a task of a sub-agent."""
    return message.get("role") == "user" and not message.get("agent")


def text_of(message: Mapping[str, Any]) -> str:
    """What a message says; parts and values as JSON."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(content, ensure_ascii=False)


def call_text(name: str, arguments: Json) -> str:
    """A call as a reason or a transcript shows it."""
    if not isinstance(arguments, Mapping):
        return f"{name}({'' if arguments is None else json.dumps(arguments, ensure_ascii=False)})"
    given = (f"{key}={json.dumps(one, ensure_ascii=False)}" for key, one in arguments.items())
    return f"{name}({', '.join(given)})"


def _answer(calls: list[CallMade], message: Mapping[str, Any]) -> None:
    """Put a tool's message to the latest call without an answer that has its id."""
    asked = str(message.get("tool_call_id") or "")
    for place in range(len(calls) - 1, -1, -1):
        if asked and calls[place].id == asked and calls[place].result is None:
            failed = bool(message.get("error"))
            calls[place] = replace(calls[place], result=text_of(message), failed=failed)
            return


def _calls_of(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("tool_calls") or ()
    return [one for one in calls if isinstance(one, Mapping)] if isinstance(calls, Sequence) else []


def name_and_arguments(call: Mapping[str, Any]) -> tuple[str, Json]:
    """Of a call as ours or as chat endpoints write it, with the arguments as JSON text."""
    told = call.get("function")
    call = told if isinstance(told, Mapping) else call
    arguments = call.get("arguments")
    if isinstance(arguments, str):
        try:
            parsed = json.loads(arguments)
        except ValueError:
            parsed = arguments
        arguments = parsed if isinstance(parsed, Mapping) else arguments
    return str(call.get("name") or ""), arguments


def _block(step: int, message: Mapping[str, Any], most: int) -> str:
    role = str(message.get("role") or "message")
    said = _shortened(text_of(message), int(most * _MOST_OF_A_MESSAGE))
    if role != "assistant":
        who = f"tool {message['name']}" if role == "tool" and message.get("name") else role
        return f"{who}{' (error)' if message.get('error') else ''}: {said}"
    who = f"step {step}, {message['agent']}" if message.get("agent") else f"step {step}"
    calls = [f"calls {call_text(*name_and_arguments(one))}" for one in _calls_of(message)]
    told = [_shortened(one, int(most * _MOST_OF_A_MESSAGE)) for one in calls]
    return "\n".join(f"{who}: {one}" for one in ([said] if said or not told else []) + told)


def _window(blocks: Sequence[str], middle: int, most: int) -> list[str]:
    """Blocks around one of them, as many as fit; the nearer ones first, later before earlier."""
    if not blocks:
        return []
    first = last = middle
    used = len(blocks[middle])
    grows = True
    while grows:
        grows = False
        if last + 1 < len(blocks) and used + len(blocks[last + 1]) <= most:
            last += 1
            used, grows = used + len(blocks[last]), True
        if first > 0 and used + len(blocks[first - 1]) <= most:
            first -= 1
            used, grows = used + len(blocks[first]), True
    shown = list(blocks[first : last + 1])
    if first:
        shown.insert(0, _left_out(first))
    if last + 1 < len(blocks):
        shown.append(_left_out(len(blocks) - last - 1))
    return shown


def _left_out(number: int) -> str:
    return f"… ({counted(number, 'message')} left out) …"


def _shortened(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = max(most // 2, 1)
    return f"{text[:half]}… ({len(text) - 2 * half} characters left out) …{text[-half:]}"
