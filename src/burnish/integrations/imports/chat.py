"""Chat messages of other tools as sections, or as one text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

SYSTEM_ROLES = ("system", "developer")
_TITLES = {"user": "User", "assistant": "Assistant", "tool": "Tool", "function": "Tool"}


class NotChatError(ValueError):
    """A value that is no list of chat messages; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message: who speaks, and the text."""

    role: str
    text: str


def read_turns(value: Any) -> list[Turn]:
    """Messages with `role` and `content`, the content as text."""
    if not isinstance(value, list) or not value:
        raise NotChatError("it is not a list of messages")
    return [_turn(message, number) for number, message in enumerate(value, start=1)]


def role_text(turns: Sequence[Turn], role: str) -> str:
    """All that is said in a role, joined."""
    return "\n\n".join(turn.text for turn in turns if turn.role == role and turn.text)


def spoken_text(turns: Sequence[Turn]) -> tuple[str, bool]:
    """What is not system or developer, and whether several turns were written as one text."""
    spoken = [turn for turn in turns if turn.role not in SYSTEM_ROLES]
    if len(spoken) == 1 and spoken[0].role == "user":
        return spoken[0].text, False
    lines = [f"{_TITLES.get(turn.role, turn.role.title())}: {turn.text}" for turn in spoken]
    return "\n\n".join(lines), bool(spoken)


def sections_of(turns: Sequence[Turn]) -> tuple[dict[str, str], bool]:
    """Sections by role, and whether several turns were folded into `user`."""
    sections = {role: text for role in SYSTEM_ROLES if (text := role_text(turns, role))}
    text, folded = spoken_text(turns)
    if text:
        sections["user"] = text
    return sections, folded


def _turn(message: Any, number: int) -> Turn:
    if not isinstance(message, Mapping):
        raise NotChatError(f"message {number} is not an object")
    role, name = message.get("role"), message.get("name")
    if not isinstance(role, str) or not role:
        raise NotChatError(f"message {number} has no role")
    if role == "system" and name in ("example_user", "example_assistant"):
        # How OpenAI's evals write a few-shot turn.
        role = str(name).removeprefix("example_")
    return Turn(role, _text(message.get("content"), number))


def _text(content: Any, number: int) -> str:
    if content is None:
        return ""
    if isinstance(content, (str, int, float)):
        return str(content)
    if not isinstance(content, list):
        raise NotChatError(f"the content of message {number} is neither text nor a list of parts")
    texts = []
    for part in content:
        text = part.get("text") if isinstance(part, Mapping) else part
        if not isinstance(text, str):
            named = part.get("type") if isinstance(part, Mapping) else None
            kind = f" but {named[:40]}" if isinstance(named, str) else ""
            raise NotChatError(f"message {number} has a part that is not text{kind}")
        texts.append(text)
    return "\n".join(texts)
