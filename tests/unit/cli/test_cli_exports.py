"""Exports are well-formed whatever the items and the answers hold."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from burnish.app.evaluate.baselines import Baseline, ItemOutcome
from burnish.app.evaluate.records import Record
from burnish.app.evaluate.result import EvaluationResult
from burnish.cli.exports.formats import csv_lines, json_document, json_lines, junit_lines, safe_cell
from burnish.cli.exports.markdown import MARKER, Compared, evaluation_markdown
from burnish.cli.exports.page import html_lines
from burnish.domain import (
    AgentOutput,
    Configuration,
    ErrorKind,
    Experiment,
    ExperimentStatus,
    ExperimentSummary,
    ExperimentType,
    ItemError,
    ItemResult,
    Purpose,
    Score,
    Spending,
    Usage,
)
from burnish.evaluation.statistics import Interval

PASSED, FAILED = ItemOutcome(1.0, True), ItemOutcome(0.0, False)
NASTY = "</td><script>alert(1)</script> & \"x\" 'y' \x00\x1b ]]> =1+1"


def result(item_id, *, passed=True, text="fine", error=None):
    return ItemResult(
        item_id=item_id,
        item_hash="h",
        repeat=0,
        score=float(passed),
        passed=passed,
        output=None if error else AgentOutput(text=text),
        scores=() if error else (Score(float(passed), "" if passed else NASTY, name="exact"),),
        error=error,
        spending=Spending.on(Purpose.AGENT, Usage(input_tokens=400, cached_tokens=300))
        if item_id == "a"
        else Spending(),
    )


RECORDS = [
    Record(result("a"), {"question": "=HYPERLINK(1)", "n": -1}),
    Record(result("b", passed=False, text=NASTY), {"question": NASTY, "other": [1, {"x": None}]}),
    Record(result("c", passed=False, error=ItemError(kind=ErrorKind.TIMEOUT, message=NASTY)), {}),
]


@pytest.fixture
def outcome():
    experiment = Experiment(
        id="0199-1",
        name=f"run {NASTY}",
        type=ExperimentType.REGULAR,
        status=ExperimentStatus.COMPLETED,
        agent_name="agent",
        configuration=Configuration.of({"sections": {"system": "Hi {{question}} <b>"}}),
        suite_name="suite",
        dataset_id=None,
        planned_items=3,
    )
    summary = ExperimentSummary(
        runs=3, passed=1, failed=2, errors=1, infrastructure_errors=1, score=1 / 3, pass_rate=1 / 3
    )
    return EvaluationResult(
        experiment=experiment,
        summary=summary,
        score_interval=Interval(0.1, 0.9),
        pass_interval=Interval(0.1, 0.9),
        answers=Counter(),
        warnings=(NASTY,),
    )


async def records(chosen=RECORDS):
    for record in chosen:
        yield record


async def text_of(pieces):
    return "".join([piece async for piece in pieces])


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@x", "\t=1", "  =1", "\r=1", "\n=1", "=cmd|' /C calc'!A0"]
)
def test_text_that_a_spreadsheet_would_run_is_quoted(text):
    assert safe_cell(text) == "'" + text


@pytest.mark.parametrize("value", ["plain", "a=b", "", None, -1, 0.5, True])
def test_other_cells_stay_as_they_are(value):
    assert safe_cell(value) == value


async def test_csv_has_a_line_for_each_run_and_no_live_formula():
    text = await text_of(csv_lines(records(), scorers=["exact"], fields=["question", "n", "other"]))

    rows = list(csv.DictReader(io.StringIO(text, newline="")))

    assert [row["item_id"] for row in rows] == ["a", "b", "c"]
    assert rows[0]["input.question"] == "'=HYPERLINK(1)"
    assert rows[0]["input.n"] == "-1"
    assert rows[1]["output"] == NASTY
    assert rows[2]["error_kind"] == "timeout"
    assert [row["cached_tokens"] for row in rows] == ["300", "0", "0"]
    assert [row["cached_share"] for row in rows] == ["0.75", "", ""]


async def test_jsonl_is_one_object_a_line():
    text = await text_of(json_lines(records()))

    assert [json.loads(line)["item_id"] for line in text.splitlines()] == ["a", "b", "c"]


async def test_json_is_one_document(outcome):
    document = json.loads(await text_of(json_document(outcome, records())))

    assert document["experiment"]["id"] == "0199-1"
    assert document["summary"]["items"] == 3
    assert [one["passed"] for one in document["results"]] == [True, False, False]


async def test_junit_parses_and_counts_failures_and_errors(outcome):
    root = ET.fromstring(await text_of(junit_lines(outcome, records())))

    suite = root.find("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    assert len(root.findall(".//testcase")) == 3
    assert len(root.findall(".//failure")) == 1
    assert len(root.findall(".//error")) == 1


async def test_the_page_shows_foreign_text_and_never_runs_it(outcome):
    page = await text_of(html_lines(outcome, records()))

    assert page.count("<script>") == 1
    assert "alert(1)</script>" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "\x1b" not in page


async def test_the_page_asks_no_server_for_anything(outcome):
    page = await text_of(html_lines(outcome, records()))

    assert "default-src 'none'" in page
    for outside in ("http://", "https://", "src=", "@import", "url("):
        assert outside not in page, outside


# A link, a picture, a mention, an issue, HTML, a table's end, a fence, and ends of code spans.
BREAKING = (
    "[x](http://evil) ![p](http://evil/p.png) @team #1 <img src=x> | cell\n\n```\n``a`` `b` \\` $x$"
)


@pytest.mark.parametrize("compared", [True, False])
async def test_markdown_shows_foreign_text_and_nothing_else_happens(outcome, compared):
    failed = [
        Record(result(f"{BREAKING} {number}", passed=False, text=BREAKING), {})
        for number in range(30)
    ]
    before = Baseline(id="0", outcomes={one.result.item_id: PASSED for one in failed})
    after = Baseline(id="1", outcomes={one.result.item_id: FAILED for one in failed})
    named = replace(outcome, experiment=replace(outcome.experiment, name=BREAKING))

    text = await evaluation_markdown(
        named, records(failed), Compared(before, after) if compared else None
    )

    page = MarkdownIt("gfm-like", {"linkify": False}).render(text.removeprefix(MARKER))
    tags = set(re.findall(r"</?([a-z0-9]+)", re.sub(r"<code>.*?</code>", "", page)))
    allowed = {"h3", "table", "thead", "tbody", "tr", "th", "td", "p", "strong", "ul", "li"}
    assert tags <= allowed
    assert "@" not in re.sub(r"<code>.*?</code>", "", page)
    assert page.count("<li>") == 20
    if compared:
        assert "worse than the baseline" in page
        assert "30 items broken" in page and "and 10 more" in page


async def test_markdown_names_what_a_change_fixed(outcome):
    before = Baseline(id="0", outcomes={"a": FAILED, "b": PASSED})
    after = Baseline(id="1", outcomes={"a": PASSED, "b": PASSED})

    text = await evaluation_markdown(outcome, records(), Compared(before, after))

    assert "**1 item fixed, which did not pass before**\n\n`a`" in text
    assert "broken" not in text
