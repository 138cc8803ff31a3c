"""`burnish.toml` with `BURNISH_*` variables and flags over it, read and checked."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from burnish.config.schema import (
    AgentTable,
    BudgetTable,
    ImagesTable,
    MirrorTable,
    RefineTable,
    Settings,
    SuiteTable,
    UserTable,
    WorkspaceTable,
)
from burnish.config.search import DEFAULT_OPTIMIZER, settings_for_another
from burnish.domain import UsageError
from burnish.models.settings import WITHOUT_BATCHES, ModelSettings
from burnish.support.hints import did_you_mean

CONFIG_NAME = "burnish.toml"


def load_settings(path: Path, overrides: Mapping[str, Any] | None = None) -> Settings:
    """The settings of a file, with `BURNISH_*` variables over it and `overrides` over both.

    Overrides are named by dotted path, such as `agent.model`.
    """
    values = read_tables(path)
    over = {**from_environment(), **(overrides or {})}
    _forget_other_optimizer(values, over)
    for dotted, value in over.items():
        _set(values, dotted, value)
    try:
        return Settings.model_validate(values).placed_in(path.parent)
    except ValidationError as error:
        raise explained(error, path) from None


def model_settings(models: Mapping[str, Any], name: str) -> ModelSettings:
    """A model's settings: those of its provider, with its own over them.

    `batch` for all models leaves alone those that cost nothing.
    """
    provider = name.split("/", 1)[0]
    merged: dict[str, Any] = {}
    for switch in ("cache", "batch"):
        if switch in models and not (switch == "batch" and provider in WITHOUT_BATCHES):
            merged[switch] = models[switch]
    for key in (provider, name):
        table = models.get(key)
        if isinstance(table, Mapping):
            merged.update(table)
    return ModelSettings.of(merged)


def with_batch(models: Mapping[str, Any], name: str, batch: bool) -> dict[str, Any]:
    """The same tables, by which this model is asked in batches or in single calls."""
    own = models.get(name)
    table = own if isinstance(own, Mapping) else {}
    return {**models, name: {**table, "batch": batch}}


def read_tables(path: Path) -> dict[str, Any]:
    """The tables of a file as they stand in it, unchecked."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise UsageError(
            what=f"there is no {path}",
            why=f"{path.absolute().parent} holds none",
            fix="run `burnish init` here for a runnable example, or name one with --config",
            code="missing_file",
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(
            what=f"{path.name} cannot be read",
            why=str(error),
            fix="correct the file at that place; it is TOML",
            code="broken_config",
        ) from error
    except OSError as error:
        raise UsageError(
            what=f"{path.name} cannot be read",
            why=error.strerror or str(error),
            fix="check the path and its permissions",
            code="missing_file",
        ) from error


_TABLES = ("agent", "suite", "optimizer", "budget", "images", "mirror")


def from_environment() -> dict[str, Any]:
    """`BURNISH_AGENT_MODEL=x` sets `agent.model`; values are TOML where they parse, else text."""
    found: dict[str, Any] = {}
    for name, text in os.environ.items():
        for table in _TABLES:
            prefix = f"BURNISH_{table.upper()}_"
            if name.startswith(prefix) and len(name) > len(prefix):
                found[f"{table}.{name[len(prefix) :].lower()}"] = parse_value(text)
    return found


def parse_value(text: str) -> Any:
    """A value as in TOML where it parses as such, else the text itself."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _forget_other_optimizer(values: dict[str, Any], over: Mapping[str, Any]) -> None:
    """Another optimizer than the file's gets none of the settings beside its name, but the model."""
    table = values.get("optimizer")
    chosen = over.get("optimizer.name")
    if not isinstance(table, dict) or chosen in (None, table.get("name", DEFAULT_OPTIMIZER)):
        return
    values["optimizer"] = settings_for_another(table, str(chosen))


def _set(values: dict[str, Any], dotted: str, value: Any) -> None:
    parts = dotted.split(".")
    for depth, part in enumerate(parts[:-1]):
        rest = ".".join(parts[depth:])
        inner = values.get(part)
        # A quoted key may hold dots itself, and a section may stand beside one it is the start of.
        sibling = parts[:2] == ["agent", "sections"] and part in values and not _is_table(inner)
        if rest in values or sibling:
            values[rest] = value
            return
        inner = values.setdefault(part, {})
        if not _is_table(inner):
            raise UsageError(
                what=f"{dotted} cannot be set",
                why=f"{'.'.join(parts[: depth + 1])} is not a table",
                fix="name a key of burnish.toml, such as agent.parameters.temperature",
                code="invalid_config",
            )
        values = inner
    values[parts[-1]] = value


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) and set(value) != {"file"}


def explained(error: ValidationError, path: Path) -> UsageError:
    """What is wrong with a file, in words."""
    # An unknown key first: what is missing is often only misspelt.
    found = sorted(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
    problems = [_problem(one) for one in found]
    more = f" (and {len(problems) - 1} more: {'; '.join(problems[1:4])})" if problems[1:] else ""
    return UsageError(
        what=f"{path.name} cannot be used",
        why=problems[0] + more,
        fix=f"correct it in {path}",
        code="invalid_config",
    )


def _problem(error: Any) -> str:
    place = [str(part) for part in error["loc"]]
    dotted = ".".join(place)
    if error["type"] == "extra_forbidden":
        return f"unknown key {dotted!r}{_nearest(place)}"
    if error["type"] == "missing":
        return f"{dotted!r} is missing"
    return f"{dotted!r}: {error['msg'][0].lower()}{error['msg'][1:]}"


def _nearest(place: list[str]) -> str:
    tables: dict[str, type[BaseModel]] = {
        "agent": AgentTable,
        "suite": SuiteTable,
        "budget": BudgetTable,
        "images": ImagesTable,
        "mirror": MirrorTable,
    }
    known = tables[place[0]] if len(place) > 1 and place[0] in tables else Settings
    if place[:2] == ["suite", "refine"] and len(place) > 2:
        known = RefineTable
    if place[:2] == ["suite", "user"] and len(place) > 2:
        known = UserTable
    if place[:2] == ["agent", "workspace"] and len(place) > 2:
        known = WorkspaceTable
    names = [name for name in known.model_fields if name != "requested"]
    return "; " + did_you_mean(place[-1], names, f"known are {', '.join(names)}", cutoff=0.5)
