"""Trace: one answer of an agent in production, with what people and judges said of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from burnish.domain import Json
from burnish.integrations.imports.chat import NotChatError, read_turns, spoken_text

_INPUT_KEYS = ("input", "question", "query", "prompt", "text", "message", "messages")
_OUTPUT_KEYS = ("output", "answer", "response", "text", "content", "message", "messages")


@dataclass(frozen=True, slots=True)
class Feedback:
    """A score of a trace by a person, a judge or a rule, and the comment with it."""

    name: str
    value: Json
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """One trace; `steps` are its spans in the order in which they began."""

    id: str
    tool: str
    input: Json = None
    output: Json = None
    name: str = ""
    time: str | None = None
    error: str | None = None
    feedback: tuple[Feedback, ...] = ()
    tags: tuple[str, ...] = ()
    session: str | None = None
    user: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)
    steps: tuple[Mapping[str, Json], ...] = ()

    def to_row(self) -> dict[str, Json]:
        """The dataset row: texts where they can be told, what they were read from beside them."""
        row: dict[str, Json] = {"id": self.id}
        for name, value, keys in (
            ("input", self.input, _INPUT_KEYS),
            ("output", self.output, _OUTPUT_KEYS),
        ):
            row[name] = spoken(value, keys)
            if row[name] != value:
                row[f"{name}_recorded"] = value
        if self.feedback:
            row["feedback"] = {one.name: one.value for one in self.feedback}
        if comments := [one.comment for one in self.feedback if one.comment]:
            row["comment"] = "\n".join(dict.fromkeys(comments))
        told: dict[str, Json] = {
            "name": self.name,
            "error": self.error,
            "tags": list(self.tags),
            "session": self.session,
            "user": self.user,
            "metadata": dict(self.metadata),
            "steps": [dict(step) for step in self.steps],
        }
        row |= {name: value for name, value in told.items() if value}
        row["source"] = {"tool": self.tool, "trace": self.id, "time": self.time}
        return row


def spoken(value: Json, keys: tuple[str, ...]) -> Json:
    """The text of a value: itself, the words of chat messages, or an object's field of such a name."""
    if isinstance(value, list):
        try:
            turns = read_turns(_chat(value))
        except NotChatError:
            return value
        return turns[0].text if len(turns) == 1 else spoken_text(turns)[0] or value
    if isinstance(value, Mapping):
        named = [key for key in keys if value.get(key)]
        single = (
            list(value) if len(value) == 1 and isinstance(next(iter(value.values())), str) else []
        )
        for key in (*named[:1], *single):
            text = spoken(value[key], keys)
            if isinstance(text, str):
                return text
    return value


def parsed(value: Any) -> Json:
    """What a text of JSON stands for, where it is an object or a list; else as it is."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)  # type: ignore[no-any-return]
        except (ValueError, RecursionError):
            return value
    return value  # type: ignore[no-any-return]


def _chat(messages: list[Any]) -> list[Any]:
    """Messages as OpenTelemetry writes them, in parts, in the usual form."""
    return [
        {**one, "content": [{"text": _part(part)} for part in one["parts"]]}
        if isinstance(one, Mapping) and isinstance(one.get("parts"), list)
        else one
        for one in messages
    ]


def _part(part: Any) -> Any:
    if not isinstance(part, Mapping):
        return part
    return part.get("content") if part.get("type") == "text" else json.dumps(part)
