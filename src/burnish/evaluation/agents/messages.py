"""Sections rendered to chat messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from burnish.domain import Configuration, Json, Message, UsageError, render

_ROLES = ("system", "developer", "user", "assistant")


def role_of(path: str) -> str:
    """The chat role a section speaks in: its path's first part, or system for any other name."""
    first = path.split(".", 1)[0]
    return first if first in _ROLES else "system"


def chat_messages(
    configuration: Configuration,
    fields: Mapping[str, Json],
    *,
    order: Sequence[str],
    answers: Mapping[str, str],
) -> tuple[Message, ...]:
    """System first, then the examples as turns, then the item.

    Sections of one role stand in the agent's declared order (others follow by name) and are joined
    by a blank line. `answers` maps an example's output to the words the model should say.
    """
    texts = _texts_by_role(configuration, order)
    messages = [
        Message(role, render(texts[role], fields))
        for role in ("system", "developer")
        if role in texts
    ]
    user = texts.get("user", "")
    for number, example in enumerate(configuration.examples):
        shown, output = _example_parts(example, number)
        messages.append(Message("user", render(user, shown)))
        messages.append(Message("assistant", answers.get(output, output)))
    messages.extend(
        Message(role, render(texts[role], fields))
        for role in ("user", "assistant")
        if role in texts
    )
    return tuple(message for message in messages if message.content)


def _texts_by_role(configuration: Configuration, order: Sequence[str]) -> dict[str, str]:
    declared = [path for path in order if path in configuration.sections]
    added = sorted(path for path in configuration.sections if path not in order)
    by_role: dict[str, list[str]] = {}
    for path in (*declared, *added):
        by_role.setdefault(role_of(path), []).append(configuration.sections[path])
    return {role: "\n\n".join(text for text in texts if text) for role, texts in by_role.items()}


def _example_parts(example: Mapping[str, Json], number: int) -> tuple[Mapping[str, Json], str]:
    shown, output = example.get("input"), example.get("output")
    if not isinstance(shown, Mapping) or not isinstance(output, str):
        raise UsageError(
            what=f"example {number} cannot be shown",
            why="it needs an object `input` with the item's fields and a text `output`",
            fix='write {"input": {"review": "…"}, "output": "positive"}',
            code="invalid_example",
        )
    return shown, output
