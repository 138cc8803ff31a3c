"""Transcript of one run of a DSPy program: what predictors were given and said, and tools gave back."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any

from burnish.domain import Json
from burnish.integrations.dspy.predictors import Predictors
from burnish.integrations.frameworks.framework_agent import plain, text_of, tool_call

# What dspy hands from one step to the next; the transcript has it as messages already.
_CARRIED = ("trajectory", "history", "tools")
_THOUGHTS = ("next_thought", "reasoning", "rationale")
_MOST_MESSAGES = 200


class Transcript:
    """A callback of dspy that notes one run; predictors are named where there are several."""

    def __init__(self, program: Any) -> None:
        by_path = Predictors.of(program).by_path
        self._names = {id(one): path.removesuffix(".instructions") for path, one in by_path.items()}
        self._lock = threading.Lock()
        self._messages: list[dict[str, Json]] = []
        self._started: dict[str, tuple[Any, Mapping[str, Any]]] = {}
        self._told: dict[int, dict[str, Json]] = {}
        self._waiting: list[tuple[str, str]] = []
        self._numbers = 0
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("on_"):  # dspy tells more, from version to version, than is noted here.
            return _ignore
        raise AttributeError(name)

    @property
    def trace(self) -> dict[str, Json] | None:
        """The transcript as a trace; None where nothing was said."""
        if not self._messages:
            return None
        return {"transcript": list(self._messages), "ended": "answer"}

    def on_lm_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        """Count an answer of the model."""
        with self._lock:
            self.calls += exception is None

    def on_module_start(self, call_id: str, instance: Any, inputs: Mapping[str, Any]) -> None:
        """Keep what a predictor is given until it has said something."""
        if id(instance) in self._names:
            with self._lock:
                self._started[call_id] = (instance, dict(inputs.get("kwargs") or inputs))

    def on_module_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        """Note a step of a predictor."""
        with self._lock:
            predictor, given = self._started.pop(call_id, (None, {}))
            if predictor is not None and exception is None:
                self._messages += self._step(predictor, given, _fields(outputs))
                del self._messages[_MOST_MESSAGES:]

    def on_tool_start(self, call_id: str, instance: Any, inputs: Mapping[str, Any]) -> None:
        """Keep which tool it is until it has given something back."""
        with self._lock:
            self._started[call_id] = (instance, {})

    def on_tool_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        """Note what a tool gave back, or how it failed."""
        with self._lock:
            tool, _ = self._started.pop(call_id, (None, {}))
            name = str(getattr(tool, "name", ""))
            asked = next((one for one in self._waiting if one[1] == name), None)
            if asked is not None:
                self._waiting.remove(asked)
            said: dict[str, Json] = {
                "role": "tool",
                "content": text_of(outputs) if exception is None else f"error: {exception}",
                "tool_call_id": asked[0] if asked else "",
                "name": name,
            }
            self._messages.append(said if exception is None else {**said, "error": True})
            del self._messages[_MOST_MESSAGES:]

    def _step(
        self, predictor: Any, given: Mapping[str, Any], said: Mapping[str, Any]
    ) -> Iterator[dict[str, Json]]:
        agent: dict[str, Json] = (
            {"agent": self._names[id(predictor)]} if len(self._names) > 1 else {}
        )
        told = {name: plain(one) for name, one in given.items() if name not in _CARRIED}
        before = self._told.get(id(predictor))
        if before is None:
            self._told[id(predictor)] = {}
            yield {"role": "system", **agent, "content": str(predictor.signature.instructions)}
        if told and before != told:
            self._told[id(predictor)] = told
            yield {"role": "user", **agent, "content": _content(told)}
        calls = [tool_call(self._number(name), name, arguments) for name, arguments in _calls(said)]
        answer: dict[str, Json] = {"role": "assistant", **agent, "content": _answer(said)}
        yield {**answer, "tool_calls": list(calls)} if calls else answer

    def _number(self, name: str) -> str:
        self._numbers += 1
        self._waiting.append((f"call-{self._numbers}", name))
        return f"call-{self._numbers}"


def _ignore(*_: Any, **__: Any) -> None:
    """What is not noted."""


def _fields(answer: Any) -> dict[str, Any]:
    """An answer's fields as they are: `toDict` would take calls of tools apart."""
    read = getattr(answer, "items", None)
    return dict(read()) if callable(read) else {}


def _calls(said: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The calls of a step: of `dspy.ReAct` by its fields, of others by `ToolCalls`."""
    if isinstance(said.get("next_tool_name"), str):
        yield said["next_tool_name"], said.get("next_tool_args") or {}
    for value in said.values():
        for one in getattr(value, "tool_calls", None) or ():
            yield str(one.name), one.args


def _answer(said: Mapping[str, Any]) -> str:
    left = {
        name: plain(one)
        for name, one in said.items()
        if name not in ("next_tool_name", "next_tool_args", *_CARRIED)
        and not hasattr(one, "tool_calls")
    }
    return _content(left)


def _content(fields: Mapping[str, Json]) -> str:
    """One field as its text; several by name, thoughts first."""
    if len(fields) == 1:
        return text_of(next(iter(fields.values())))
    thoughts = [name for name in _THOUGHTS if name in fields]
    ordered = {name: fields[name] for name in (*thoughts, *fields)}
    return json.dumps(ordered, ensure_ascii=False) if ordered else ""
