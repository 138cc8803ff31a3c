"""Lists and summaries in words: narrow terminals, interrupted runs, unknown costs, checks of rows."""

from __future__ import annotations

import io
from dataclasses import replace
from types import SimpleNamespace

import pytest
from rich.console import Console

from burnish.app.evaluate.leases import evaluation_state
from burnish.cli.commands.list import Listed, listing_json, print_listing
from burnish.cli.display.evaluation import FailingItem, print_failing
from burnish.cli.display.optimizations.status import optimization_listing_json, print_optimizations
from burnish.cli.wording import cost_words
from burnish.domain import (
    AgentOutput,
    Configuration,
    Experiment,
    ExperimentStatus,
    ExperimentSummary,
    ExperimentType,
    ItemResult,
    OptimizationStatus,
)
from burnish.testing.samples.optimizations import make_record

RUNNING = Experiment(
    id="01a1eef1-ce60-77a3-8bd1-fd20c46c71d6",
    name="triage of long tickets on tickets",
    type=ExperimentType.REGULAR,
    status=ExperimentStatus.RUNNING,
    agent_name="a",
    configuration=Configuration.of({}),
    suite_name="s",
    dataset_id=None,
    planned_items=40,
)

EMPTY = ExperimentSummary(
    runs=0, passed=0, failed=0, errors=0, infrastructure_errors=0, score=None, pass_rate=None
)


def printed(show, *arguments, width=60):
    text = io.StringIO()
    show(Console(file=text, width=width), *arguments)
    return text.getvalue()


def test_sixty_columns_break_no_words():
    listed = [Listed(RUNNING, EMPTY, "interrupted")]
    record = replace(make_record(status=OptimizationStatus.RUNNING), name="gepa of long tickets")

    for text in (printed(print_listing, listed), printed(print_optimizations, [record])):
        lines = [line for line in text.splitlines() if line.strip()]
        assert len(lines) == 4, "title, head, rule and one line"
        assert " of long tickets" in lines[-1] and "interrupted" in lines[-1]
    assert "planned" not in text
    assert "trials" in printed(print_optimizations, [record], width=100)


@pytest.mark.parametrize(("owner", "state"), [(None, "interrupted"), ("elsewhere|x", "running")])
async def test_an_evaluation_that_nobody_works_on_is_interrupted(owner, state):
    async def owner_of(experiment_id):
        return owner

    workspace = SimpleNamespace(evaluation_jobs=SimpleNamespace(owner=owner_of))

    told = await evaluation_state(workspace, RUNNING)

    assert told == state
    assert listing_json(Listed(RUNNING, EMPTY, told))["state"] == state


def test_an_optimization_that_nobody_works_on_is_interrupted_in_json_too():
    record = make_record(status=OptimizationStatus.RUNNING)

    assert optimization_listing_json(record)["state"] == "interrupted"


def test_it_is_said_what_is_unknown():
    assert cost_words(None) == "cost unknown"
    assert cost_words(0.5) == "$0.5000"


def test_checks_of_a_row_are_shown_in_words():
    result = ItemResult(
        item_id="i", item_hash="h", repeat=0, output=AgentOutput(text="no"), score=0.0, passed=False
    )
    checks = [{"type": "contains", "value": "Paris"}, {"type": "not-regex", "value": "x+"}]

    text = printed(
        print_failing, [FailingItem(result, {"assert": checks, "n": {"a": 1}})], width=200
    )

    assert 'assert: contains "Paris" and not-regex "x+", n: {"a": 1}' in text
