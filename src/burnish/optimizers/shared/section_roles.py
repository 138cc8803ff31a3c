"""Roles of sections in words: what a text is for and where it goes, by its path and placeholders."""

from __future__ import annotations

from burnish.domain import placeholders


def role_of(section: str, text: str) -> str:
    """What a section is and where it goes."""
    names = ", ".join(f"{{{{{name}}}}}" for name in placeholders(text))
    filled = f" In each task {names} is replaced by the task's own text." if names else ""
    empty = "" if text.strip() else " It is empty so far."
    parts = section.split(".")
    what = _described(parts)
    if what is None and parts[-1] in ("system", "developer"):
        what = "It is the system message: the assistant reads it before every task."
    elif what is None and (parts[-1] == "user" or names):
        what = "It is a template of the message with which the assistant is given each task."
    elif what is None:
        what = "It is a part of what the assistant reads before every task."
    return what + filled + empty


def is_description(section: str) -> bool:
    """Whether a section describes a tool, a parameter or a field, in place of giving a job."""
    parts = section.split(".")
    return _described(parts) is not None and parts[-1] != "system"


def tool_of(section: str) -> str | None:
    """The tool or sub-agent that a section belongs to."""
    parts = section.split(".")
    if parts[0] == "agents" and len(parts) > 3 and parts[2] in ("tools", "agents"):
        return tool_of(".".join(parts[2:]))
    return parts[1] if parts[0] in ("tool", "tools", "agents") and len(parts) > 1 else None


def advice_for(section: str) -> str:
    """What such a text should say; empty for texts that give a job."""
    parts = section.split(".")
    if not is_description(section):
        return ""
    if "parameters" in parts[2:]:
        return (
            "Say in a few sentences what the value means, which form or which of the allowed values "
            "it takes and when, and when it must be given. The parameter's name and type stay as "
            "they are."
        )
    if parts[0] == "output":
        return (
            "Say in a few sentences what the field holds and how it is written. Its name and type "
            "stay as they are."
        )
    return (
        "Say in a few sentences what the tool does, when to call it and when another one, what has "
        "to be called before it, and what its arguments must be. Its name and the types of its "
        "parameters stay as they are."
    )


def _described(parts: list[str]) -> str | None:
    """Of texts of tools, sub-agents and output fields; None for all others."""
    if parts[0] == "output" and len(parts) > 1:
        return f"It describes the field `{'.'.join(parts[1:])}` of the assistant's answer to it."
    if parts[0] == "agents" and len(parts) > 2:
        return _of_agent(parts)
    if parts[0] not in ("tool", "tools") or len(parts) < 2:
        return None
    if len(parts) > 3 and parts[2] == "parameters":
        return (
            f"It describes the parameter `{'.'.join(parts[3:])}` of the tool `{parts[1]}` to the "
            "assistant, which decides by it what to give the tool."
        )
    return (
        f"It describes the tool `{parts[1]}` to the assistant, which decides by it when and how "
        "to call the tool."
    )


def _of_agent(parts: list[str]) -> str | None:
    name, rest = parts[1], parts[2:]
    if rest[0] in ("tools", "agents"):
        inner = _described(rest)
        return inner and inner.replace("the assistant", f"the sub-agent `{name}`")
    if rest == ["system"]:
        return f"It is the system message of the sub-agent `{name}`, which the assistant calls."
    if rest[0] == "parameters":
        return (
            f"It describes the parameter `{'.'.join(rest[1:])}` with which the assistant calls the "
            f"sub-agent `{name}`."
        )
    return (
        f"It describes the sub-agent `{name}` to the assistant, which decides by it when and how to "
        "call it."
    )
