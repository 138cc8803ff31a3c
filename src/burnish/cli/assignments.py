"""--set and --section: parts of the config, named on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from burnish.domain import UsageError


def assigned(settings: Sequence[str], sections: Sequence[str]) -> dict[str, Any]:
    """What was given, as overrides of the config by dotted path."""
    from burnish.config.settings import parse_value  # noqa: PLC0415

    chosen: dict[str, Any] = {}
    for given in settings:
        path, value = _assignment("--set", given, "agent.parameters.temperature=0.2")
        chosen[path] = parse_value(value)
    for given in sections:
        path, value = _assignment("--section", given, "system=@prompts/other.md")
        chosen[f"agent.sections.{path}"] = _text_or_file(value)
    return chosen


def _assignment(option: str, given: str, example: str) -> tuple[str, str]:
    path, equals, value = given.partition("=")
    if not equals or not path.strip():
        raise UsageError(
            what=f"{option} {given!r} cannot be used",
            why="it is not of the form KEY=VALUE",
            fix=f"write it like {option} {example}",
            code="bad_usage",
        )
    return path.strip(), value


def _text_or_file(value: str) -> str:
    if not value.startswith("@"):
        return value
    path = Path(value[1:]).expanduser()
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            what=f"the section's file {path} cannot be read",
            why=getattr(error, "strerror", None) or str(error),
            fix="name a text file, relative to the current folder",
            code="missing_file",
        ) from error
