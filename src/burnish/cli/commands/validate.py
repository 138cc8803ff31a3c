"""`burnish validate`: check everything, call nothing."""

from __future__ import annotations

import shlex
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import typer
from rich.console import Console
from rich.text import Text

from burnish.app.datasets.row_checks import RowChecks, placeholder_doubts
from burnish.app.optimize.model_choices import chosen_models
from burnish.app.suite_fit import check_fit
from burnish.app.wiring import build_agent, build_suite
from burnish.cli.console import Streams
from burnish.cli.display.rows import print_rows
from burnish.cli.options import Config, Db, Json
from burnish.cli.project_location import ProjectLocation
from burnish.cli.running import run
from burnish.cli.wording import harmless, one_line
from burnish.config.schema import Settings
from burnish.config.search import SearchSpec, build_optimizer_of
from burnish.config.served_project import models_in
from burnish.config.settings import model_settings
from burnish.domain import Agent, Model, UsageError
from burnish.domain.wording import counted
from burnish.evaluation.agents import CommandAgent
from burnish.evaluation.power import compared_items, detectable_gain, detectable_words
from burnish.evaluation.suite import Suite
from burnish.models import as_model

_LISTED_WARNINGS = 10
_MOST_LABELS = 12


def validate(
    context: typer.Context, json_output: Json = False, config: Config = None, db: Db = None
) -> None:
    """Check config, dataset, scorers and model. Nothing is called and nothing is paid."""
    streams: Streams = context.obj
    location = ProjectLocation.of(context, config, db)
    checked = run(_check(location))
    if streams.json_output:
        streams.print_document(_document(location, checked))
    else:
        _print(streams.console, location, checked)


@dataclass(frozen=True, slots=True)
class _Checked:
    settings: Settings
    agent: Agent
    suite: Suite
    models: list[str]
    splits: Mapping[str, Counter[str]]
    optimizer: str
    doubts: tuple[str, ...]

    @property
    def warnings(self) -> list[str]:
        """All that is no error and may not be meant."""
        return [*self.doubts, *map(str, self.suite.dataset.index().warnings)]

    @property
    def compared(self) -> tuple[int, str]:
        """How many items decide a comparison, and what they are called."""
        return compared_items({name: labels.total() for name, labels in self.splits.items()})


async def _check(location: ProjectLocation) -> _Checked:
    settings = location.settings()
    opened: dict[str, Model] = {}

    def open_model(name: Any) -> Model:
        if not isinstance(name, str):
            raise UsageError(
                what=f"the model {name!r} cannot be used",
                why=f"it is a {type(name).__name__}, not a name",
                fix='write it like "openai/gpt-4o-mini"',
                code="unknown_model",
            )
        return opened.setdefault(name, as_model(name, model_settings(settings.models, name)))

    try:
        suite = build_suite(settings.suite_spec(), open_model, settings.agent_spec())
        agent = build_agent(settings.agent_spec(), open_model)
        check_fit(agent, suite)
        rows = RowChecks(agent, suite)
        rows.require_whole()
        settings.budget_spec()
        optimizer = SearchSpec.of(settings.optimizer)
        build_optimizer_of(optimizer)
        chosen_models(optimizer, agent)
        for _, name in models_in(optimizer.settings):
            open_model(name)
        splits = _split_labels(suite)
        await agent.close()
    finally:
        for model in opened.values():
            await model.close()
    doubts = (*placeholder_doubts(agent), *rows.doubtful)
    return _Checked(settings, agent, suite, list(opened), splits, optimizer.name, doubts)


def _split_labels(suite: Suite) -> dict[str, Counter[str]]:
    """How often each label stands in each split; one split called `all` when there are none."""
    chosen = suite.splits()
    labels = suite.policy.stratify_by
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for item in suite.dataset.items():
        name = chosen.get(item.id, "none") if chosen else "all"
        found[name][str(item.data.get(labels, "")) if labels else ""] += 1
    order = {"train": 0, "validation": 1, "test": 2}
    return {name: found[name] for name in sorted(found, key=lambda one: order.get(one, 3))}


def _document(location: ProjectLocation, checked: _Checked) -> dict[str, Any]:
    index = checked.suite.dataset.index()
    return {
        "valid": True,
        "config": str(location.config.absolute()),
        "agent": checked.agent.name,
        "models": checked.models,
        "configuration_hash": checked.agent.configuration.hash,
        "optimizer": checked.optimizer,
        "scorers": list(checked.suite.scorers.names),
        "skipped_judges": list(checked.suite.scorers.skipped),
        "refine": None if (refine := checked.suite.refine) is None else refine.to_json(),
        "dataset": {
            "source": index.source,
            "rows": index.count,
            "columns": list(index.fields),
            "splits": {name: labels.total() for name, labels in checked.splits.items()},
            "detectable": detectable_gain(checked.compared[0]),
            "warnings": [str(warning) for warning in index.warnings],
        },
        "warnings": checked.warnings,
    }


def _print(console: Console, location: ProjectLocation, checked: _Checked) -> None:
    console.print(
        Text.assemble(("✓ ", "bold green"), (f"{location.config} can be evaluated", "bold")),
        soft_wrap=True,
    )
    print_rows(console, [(label, Text(harmless(words))) for label, words in _rows(checked)])
    warnings = checked.warnings
    for warning in warnings[:_LISTED_WARNINGS]:
        console.print(Text.assemble(("! ", "bold yellow"), harmless(warning)), soft_wrap=True)
    if len(warnings) > _LISTED_WARNINGS:
        console.print(Text(f"! and {len(warnings) - _LISTED_WARNINGS} more", style="yellow"))


def _rows(checked: _Checked) -> list[tuple[str, str]]:
    agent, index = checked.agent, checked.suite.dataset.index()
    table = checked.settings.agent
    runs = table.model or table.run or table.url or shlex.join(table.command or ())
    rows = [("agent", f"{agent.name}: {runs}")]
    if isinstance(agent, CommandAgent):
        rows.append(("command", agent.isolation))
    if table.labels:
        rows.append(("labels", ", ".join(table.labels)))
    for path, text in agent.configuration.sections.items():
        rows.append((f"section {path}", one_line(text, 100)))
    rows += [
        ("dataset", f"{index.source}: {counted(index.count, 'row')}"),
        ("columns", ", ".join(index.fields)),
        *_split_rows(checked.splits),
        ("power", detectable_words(*checked.compared)),
        ("scorers", ", ".join(checked.suite.scorers.names)),
        *_refine_rows(checked.suite),
        ("optimizer", checked.optimizer),
    ]
    others = [name for name in checked.models if name != table.model]
    return [*rows, ("models", ", ".join(others))] if others else rows


def _refine_rows(suite: Suite) -> list[tuple[str, str]]:
    """What is refined by what, and what is skipped: nobody should learn it from a bill."""
    rows = [
        ("skipped", f"{name}: its criteria are missing or empty") for name in suite.scorers.skipped
    ]
    plan = suite.refine
    if plan is None:
        return rows
    if not plan.active:
        return [*rows, ("refine", f"inactive: {plan.why_inactive}")]
    until = f"until {plan.policy.target:g}, at most {counted(plan.policy.limit, 'time')} an output"
    return [*rows, ("refine", f"{plan.model_name}, {until}")]


def _split_rows(splits: Mapping[str, Counter[str]]) -> list[tuple[str, str]]:
    rows = []
    for name, labels in splits.items():
        known = sorted((label, number) for label, number in labels.items() if label)
        few = 0 < len(known) <= _MOST_LABELS
        words = ", ".join(f"{number} {one_line(label, 30)}" for label, number in known)
        rows.append((f"split {name}", f"{labels.total():,}{f' ({words})' if few else ''}"))
    return rows
