"""Answers of functions, services and commands as outputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from burnish.domain import AgentOutput, Json, Purpose, Spending, Usage, UsageError, require_json


def as_output(answer: Any) -> AgentOutput:
    """Text, a number, a list or an object as an output; an output passes through."""
    if isinstance(answer, AgentOutput):
        return answer
    if isinstance(answer, str):
        return AgentOutput(text=str(answer))
    if answer is None:
        raise UsageError(
            what="the agent returned nothing",
            why="its function gave back None",
            fix="return the answer as text, or burnish.AgentOutput(text=…)",
            code="no_output",
        )
    data = require_json(answer, where="$.output")
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return AgentOutput(text=text, data=data if isinstance(data, (Mapping, list)) else None)


def read_answer(text: str, trace: Json = None) -> AgentOutput:
    """An output of JSON: `{"output", "trace", "usage"}`, or the answer itself; ValueError for no JSON.

    `trace` is the one where the answer brings none.
    """
    value = json.loads(text)
    if not isinstance(value, Mapping) or not ({"output", "text"} & value.keys()):
        return replace(as_output(value), trace=trace)
    output = as_output(value["output"] if "output" in value else value["text"])
    usage = value.get("usage")
    known = {key: usage[key] for key in Usage.__slots__ if key in usage} if usage else {}
    if known:
        known.setdefault("cost_usd", None)  # A price that is not told is unknown, not 0.
    return AgentOutput(
        text=output.text,
        data=output.data,
        trace=value.get("trace", trace),
        spending=Spending.on(Purpose.AGENT, Usage(**known)) if known else Spending(),
    )
