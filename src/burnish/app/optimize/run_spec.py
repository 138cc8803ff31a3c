"""Specification of an optimization, kept with it: enough to go on in another process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from burnish.app.optimize.client_lease import is_of_client
from burnish.app.report.runs.lines import python_call
from burnish.config.schema import Settings
from burnish.config.specs import read_schema
from burnish.domain import (
    ConflictError,
    OptimizationRecord,
    UsageError,
    canonical_hash,
    require_json,
)
from burnish.models import ModelSettings
from burnish.optimization.objective import Objective, Point, Ranking

if TYPE_CHECKING:
    from burnish.app.optimize.optimizations import Optimization


_KEY = "objective"
# Stored where a run may choose the model: the agent's own, which the baseline names for that, or
# None where the agent's configuration named one by itself.
AGENT_MODEL = "agent_model"


def with_objective(spec: Mapping[str, Any], objective: Objective) -> dict[str, Any]:
    """What is kept of a run; the score alone is not worth a word."""
    return {**spec, _KEY: objective.to_json()} if objective.measures else dict(spec)


def objective_of(record: OptimizationRecord) -> Objective:
    """What an optimization was started with."""
    return Objective.of_json(record.spec.get(_KEY))


def require_objective(record: OptimizationRecord, objective: Objective) -> None:
    """Refuse to go on with another one: what was best by the first is not by the second."""
    began = objective_of(record)
    if began != objective:
        raise ConflictError(
            what=f"optimization {record.id} cannot go on",
            why=f"it was started for {began.in_words()}, and now it is {objective.in_words()}",
            fix="give it the same objective, or start a new one; results that are there are reused",
            code="objective_changed",
        )


def ranked(record: OptimizationRecord, points: Iterable[Point]) -> Ranking:
    """How the trials of a stored optimization compare."""
    baseline = next((one.measures for one in points if one.number == 0), None)
    return Ranking(objective=objective_of(record), baseline=baseline)


VERSION = 1


def spec_of(settings: Settings, optimization: Optimization) -> dict[str, Any]:
    """The stored form of a config file's run."""
    values = settings.model_dump()
    agent = values["agent"]
    agent["sections"] = dict(optimization.agent.configuration.sections)
    agent["output_schema"] = read_schema(settings.agent.output_schema, settings.folder)
    values["models"] = known_models(settings.models)
    spec = {
        "version": VERSION,
        "folder": str(settings.folder),
        "settings": values,
        "fingerprints": _fingerprints(optimization),
    }
    checked = require_json(spec)
    assert isinstance(checked, dict)
    return checked


def stored_settings(record: OptimizationRecord, here: Path) -> Settings:
    """The settings that a run was started with. `here` serves when its folder has moved."""
    spec = record.spec
    if is_of_client(record):
        raise UsageError(
            what=f"optimization {record.id} cannot be resumed here",
            why="an Opik client runs it, with prompts and functions that only that program has",
            fix="start it again from that program",
            code="run_by_opik_client",
        )
    if call := python_call(record):
        raise UsageError(
            what=f"optimization {record.id} cannot be resumed here",
            why="it was started from Python, with functions that only your program has",
            fix=f"call {call} with the same arguments",
            code="started_from_python",
        )
    if spec.get("version") != VERSION:
        raise _unreadable(record.id, f"its settings have version {spec.get('version')!r}")
    folder = Path(str(spec["folder"]))
    try:
        settings = Settings.model_validate(spec["settings"])
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(str(part) for part in problem["loc"])
        raise _unreadable(record.id, f"{where}: {problem['msg']}") from None
    return settings.placed_in(folder if folder.is_dir() else here)


def project_file(spec: Mapping[str, Any], here: Path) -> Path:
    """The burnish.toml of a run, of the name that `here` has; that one when its folder has moved."""
    own = Path(str(spec.get("folder") or here.parent)) / here.name
    return own if own.exists() else here


def require_unchanged(record: OptimizationRecord, optimization: Optimization) -> None:
    """Refuse to go on where old and new scores could not be compared."""
    then = record.spec.get("fingerprints") or {}
    for part, now in _fingerprints(optimization).items():
        if None not in (now, then.get(part)) and now != then[part]:
            raise ConflictError(
                what=f"optimization {record.id} cannot go on",
                why=f"the {part} has changed since it was started, so scores would not compare",
                fix="start a new one with `burnish optimize`, or undo the change",
                code="code_changed",
            )


def known_models(models: Mapping[str, Any]) -> dict[str, Any]:
    """Whatever else stands in a table that was never read, a key even, is not kept."""
    known = {field.name for field in fields(ModelSettings)}
    return {
        name: {key: inner for key, inner in value.items() if key in known}
        for name, value in models.items()
        if isinstance(value, Mapping)
    } | {name: value for name, value in models.items() if name in known}


def _fingerprints(optimization: Optimization) -> dict[str, str | None]:
    return {
        "agent's code or model": optimization.suite.asked(optimization.agent).fingerprint,
        "models to choose from": canonical_hash(
            {name: model.fingerprint for name, model in optimization.models.items()}
        )
        if optimization.models
        else None,
        "scorers' code or settings": optimization.suite.scorers.fingerprint,
    }


def _unreadable(optimization_id: str, why: str) -> ConflictError:
    return ConflictError(
        what=f"optimization {optimization_id} cannot be resumed",
        why=f"this version of burnish cannot read it: {why}",
        fix="resume it with the version of burnish that started it, or start a new one",
        code="spec_version",
    )
