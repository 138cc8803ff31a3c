"""Specs turned into the objects that run."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from burnish.config.specs import AgentSpec, SuiteSpec
from burnish.domain import Agent, Configuration, Model, UsageError
from burnish.evaluation.agents import HttpAgent, PromptAgent, PythonAgent
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.imports import load_callable
from burnish.evaluation.refine import RefinePolicy, plan_refinement
from burnish.evaluation.refine.plan import require_fields
from burnish.evaluation.scorers import build_scorers, stratify_field
from burnish.evaluation.suite import Suite, SuitePolicy

OpenModel = Callable[[Any], Model]


def build_agent(spec: AgentSpec, open_model: OpenModel) -> Agent:
    """The agent of a spec: a prompt, a Python function or an HTTP service."""
    configuration = Configuration.of(spec.configuration)
    if spec.run is not None:
        function = load_callable(spec.run, spec.folder) if isinstance(spec.run, str) else spec.run
        return PythonAgent(
            name=spec.name, configuration=configuration, run=function, version=spec.version
        )
    if spec.url is not None:
        return HttpAgent(
            name=spec.name,
            configuration=configuration,
            url=spec.url,
            version=spec.version,
            max_concurrency=spec.concurrency,
            timeout_seconds=spec.timeout_seconds,
            outbound=spec.outbound,
        )
    return PromptAgent(
        name=spec.name,
        configuration=configuration,
        model=open_model(spec.model),
        labels=spec.labels,
        output_schema=read_schema(spec.output_schema, spec.folder),
    )


def build_suite(spec: SuiteSpec, open_model: OpenModel) -> Suite:
    """The suite of a spec, with its scorers built and its dataset found but not yet read."""
    dataset = Dataset.of(spec.dataset)
    scorers = build_scorers(spec.scorers, open_model=open_model, folder=spec.folder)
    stratify = spec.stratify_by or next(
        (field for one in spec.scorers if (field := stratify_field(one))), None
    )
    policy = SuitePolicy(
        repeats=spec.repeats,
        pass_threshold=spec.pass_threshold,
        mode=spec.mode,
        split=spec.split,
        split_seed=spec.split_seed,
        stratify_by=stratify,
    )
    return Suite(
        name=spec.name or dataset.name,
        dataset=dataset,
        scorers=scorers,
        policy=policy,
        refine=plan_refinement(RefinePolicy.of(spec.refine), scorers, spec.mode, open_model),
    )


def check_fit(agent: Agent, suite: Suite) -> None:
    """Refuse, before anything is paid, what every item would fail on."""
    columns = suite.dataset.index().fields
    if isinstance(agent, PromptAgent):
        for name in sorted(agent.configuration.placeholders):
            if name not in columns and name.split(".")[0] not in columns:
                raise UsageError(
                    what=f"the placeholder {{{{{name}}}}} cannot be filled",
                    why=f"the dataset has no such column; it has {', '.join(sorted(columns))}",
                    fix="rename the placeholder or add the column",
                    code="placeholder_unknown",
                )
    require_fields(suite.refine, set(columns))
    missing = suite.scorers.missing_fields(columns)
    if missing:
        raise UsageError(
            what="the scorers cannot compare",
            why=f"the dataset has no column {min(missing)!r}; it has {', '.join(sorted(columns))}",
            fix="correct the scorer's `field` or add the column",
            code="unknown_field",
        )


def read_schema(
    given: Mapping[str, Any] | str | Path | None, folder: Path
) -> Mapping[str, Any] | None:
    """A JSON schema, given as it is or by its file."""
    if given is None or isinstance(given, Mapping):
        return given
    path = folder / given
    try:
        schema = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(
            what="the agent's output_schema cannot be read",
            why=f"{path}: {getattr(error, 'strerror', None) or error}",
            fix="name a JSON file with a JSON schema, relative to burnish.toml",
            code="missing_file",
        ) from error
    if not isinstance(schema, dict):
        raise UsageError(
            what="the agent's output_schema cannot be used",
            why=f"{path} holds a {type(schema).__name__}, not an object",
            fix="write a JSON schema object",
            code="invalid_agent",
        )
    return schema
