"""The configuration that an Opik experiment ran under, from what its metadata says about it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from burnish.domain import Configuration, UsageError

_OWN = ("sections", "parameters", "examples")
_NOT_NAME = re.compile(r"[^A-Za-z0-9_-]+")
# Of `agent_config`, what is no prompt and no parameter of the model.
_NO_PARAMETERS = ("messages", "system", "user", "optimizer", "tools", "project_name")


def configuration_of(metadata: Mapping[str, Any]) -> Configuration:
    """Prompts as sections, the model and its settings as parameters; what is neither stays out."""
    configuration = metadata.get("configuration")
    given = configuration if isinstance(configuration, Mapping) else {}
    if given and not set(given) - set(_OWN):
        # As our own mirror sends it.
        try:
            return Configuration.of(given)
        except UsageError:
            pass
    sections = _sections(given.get("prompt")) or _agent_sections(metadata)
    if not sections and configuration:
        sections = {"configuration": _text(configuration)}
    wanted = {"sections": sections, "parameters": _parameters(metadata, given)}
    try:
        return Configuration.of(wanted)
    except UsageError:
        # Numbers or texts that no configuration can hold: shown, and not lost.
        return Configuration.of({"sections": {"configuration": _text(wanted)}})


def _sections(prompts: Any) -> dict[str, str]:
    if isinstance(prompts, Mapping) and len(prompts) == 1:
        return _messages(next(iter(prompts.values())))
    if isinstance(prompts, Mapping):
        return {
            f"{_name(name)}.{path}": text
            for name, messages in prompts.items()
            for path, text in _messages(messages).items()
        }
    return _messages(prompts)


def _messages(messages: Any) -> dict[str, str]:
    """By role; a role that comes again is numbered."""
    if isinstance(messages, str):
        return {"prompt": messages}
    if not isinstance(messages, Sequence):
        return {}
    found: dict[str, str] = {}
    times: dict[str, int] = {}
    for message in messages:
        if not isinstance(message, Mapping):
            continue
        role = _name(message.get("role"))
        times[role] = times.get(role, 0) + 1
        path = role if times[role] == 1 else f"{role}_{times[role]}"
        found[path] = _text(message.get("content"))
    return found


def _agent_sections(metadata: Mapping[str, Any]) -> dict[str, str]:
    agent = metadata.get("agent_config")
    if not isinstance(agent, Mapping):
        return {}
    named = {role: agent[role] for role in ("system", "user") if isinstance(agent.get(role), str)}
    return named or _messages(agent.get("messages"))


def _parameters(metadata: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    agent = metadata.get("agent_config")
    if isinstance(agent, Mapping):
        found.update({name: agent[name] for name in agent if name not in _NO_PARAMETERS})
    tools = given.get("tools")
    if tools:
        found["tools"] = tools
    about = metadata.get("optimizer_metadata")
    settings = about.get("model_parameters") if isinstance(about, Mapping) else None
    if isinstance(settings, Mapping):
        found.update(settings)
    return {str(name): value for name, value in found.items() if value is not None}


def _name(value: Any) -> str:
    name = _NOT_NAME.sub("_", str(value or "prompt")).strip("-") or "prompt"
    return name if name[0].isalpha() or name[0] == "_" else f"_{name}"


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True)
