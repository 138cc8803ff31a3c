"""The report's page: harmless, alone, small, and the same for the same data."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from test_report_samples import (
    MARKUP,
    NASTY,
    NOW,
    Page,
    item_change,
    item_result,
    material,
    page,
    result,
    unbeaten,
)
from tests.support.line_counts import lines_run

from burnish.app.report.html import render_page
from burnish.app.report.html.material import Change, EventTally, ItemComparison, Side
from burnish.domain import (
    Configuration,
    ErrorKind,
    ExperimentStatus,
    ItemError,
    OptimizationStatus,
    Spending,
    Usage,
)
from burnish.testing.samples.optimizations import (
    make_candidate,
    make_record,
    make_rejection,
    make_trial,
)


def hostile():
    """Every text that somebody else wrote is nasty."""
    configuration = Configuration.of(
        {
            "sections": {"system": f"Do {NASTY[:-1]}"},
            "parameters": {NASTY[:-1]: NASTY[:-1]},
            "examples": [{NASTY[:-1]: NASTY[:-1]}],
        }
    )
    plain = material()
    candidates = [
        replace(one, rationale=NASTY, **({"configuration": configuration} if one.number else {}))
        for one in plain.candidates
    ]
    error = ItemError(kind=ErrorKind.AGENT, message=NASTY)
    change = replace(
        item_change(item_id=NASTY, fields={NASTY: NASTY, "label": [NASTY]}, before=NASTY),
        after=Side(score=1.0, results=(item_result(text=NASTY, error=error, output=None),)),
    )
    items = ItemComparison(
        held_out=True,
        counts={Change.FIXED: 1, Change.BROKEN: 0, Change.UNCHANGED: 0},
        shown=(change,),
    )
    document = result(
        stop_message=NASTY, best={"candidate_id": "o1-2", "score": 0.6, "note": NASTY}
    )
    names = ("name", "objective_name", "agent_name", "suite_name", "optimizer_name", "created_at")
    return {
        "record": replace(
            plain.record, result=document, stop_reason=NASTY, **dict.fromkeys(names, NASTY)
        ),
        "candidates": candidates,
        "trials": {key: replace(one, error=NASTY) for key, one in plain.trials.items()},
        "rejections": [
            make_rejection(0, reason_code=NASTY, message=NASTY, configuration_hash=NASTY)
        ],
        "spending": Spending({NASTY: Usage(calls=1)}),
        "items": items,
        "events": EventTally(
            counts={NASTY: 1}, first={NASTY: NASTY}, last={NASTY: NASTY}, statuses=((NASTY, NASTY),)
        ),
    }


def test_foreign_text_is_shown_and_does_nothing():
    html = page(**hostile())
    seen = Page(html)

    html.encode("utf-8")
    assert not {"img", "iframe", "link", "object"} & set(seen.tags)
    assert seen.tags.count("script") == 2
    assert not [one for one in seen.attributes if one[1].startswith("on")]
    assert MARKUP in seen.text
    for character in "\u2028\u2029\u202e\x00\x1b":
        assert character not in html


@pytest.mark.parametrize("status", list(OptimizationStatus))
def test_foreign_text_is_harmless_in_every_verdict(status):
    error = {"message": NASTY, "fix": NASTY}
    for document in (
        None,
        result(improvement=None, confirmation=NASTY),
        unbeaten()["record"].result,
    ):
        told = document and {**document, "why_not_improved": NASTY}
        record = replace(
            hostile()["record"],
            status=status,
            result=told,
            framework_error=error,
            checkpoint={"phase": NASTY},
        )
        seen = Page(page(record=record))
        assert "img" not in seen.tags
        assert seen.tags.count("script") == 2


def test_embedded_data_is_json_that_cannot_leave_its_script():
    data, _ = Page(page(**hostile())).scripts

    assert not set("<>&\u2028\u2029") & set(data)
    assert json.loads(data)["result"]["stop_message"] == NASTY


def test_nothing_is_asked_of_anybody():
    html = page()
    seen = Page(html)

    assert "http://" not in html
    assert "https://" not in html
    assert "url(" not in html
    assert "@import" not in html
    assert not [one for one in seen.attributes if one[1] in ("src", "srcset", "style", "data")]
    assert all(value.startswith("#") for _, name, value in seen.attributes if name == "href")
    policy = next(v for t, n, v in seen.attributes if n == "content" and "default-src" in v)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy


def test_the_same_data_gives_the_same_page_but_for_the_line_that_says_when():
    later = render_page(material(), NOW.replace(year=2027)).splitlines()

    changed = [
        line for line, other in zip(page().splitlines(), later, strict=True) if line != other
    ]
    assert changed == ["<footer>Made 2026-01-02 03:04:05 UTC by Burnish.</footer>"]


def test_tables_and_charts_are_readable_without_eyes():
    seen = Page(page())

    assert seen.tags.count("caption") == seen.tags.count("table")
    scopes = [one for one in seen.attributes if one[:2] == ("th", "scope")]
    assert len(scopes) == seen.tags.count("th")
    assert seen.tags.count("title") >= 1 + 3
    assert seen.tags.count("desc") == 3
    charts = [
        value for tag, name, value in seen.attributes if tag == "svg" and name == "aria-labelledby"
    ]
    assert len(charts) == 3
    assert all(part in seen.ids for chart in charts for part in chart.split())


def test_five_hundred_long_items_with_many_fields_stay_small():
    fields = {f"field {number}": "y" * 3_000 for number in range(100)}
    shown = tuple(
        item_change(item_id=f"i{number}", fields=fields, before="<" * 9_000)
        for number in range(500)
    )

    html = page(items=replace(material().items, shown=shown))

    assert len(html.encode()) < 5_000_000
    assert "70 fields more" in html


def many_trials(count=5_000):
    words = [f"word{number}" for number in range(400)]
    candidates, trials = [], {}
    for number in range(count + 1):
        text = " ".join(words[(number * step) % 400] for step in range(1, 120))
        parent = number - 1 if number % 10 == 0 else number - number % 10
        candidates.append(
            make_candidate(
                number,
                step_index=1 + candidates[parent].step_index if number else 0,
                parent_candidate_ids=(f"o1-{parent}",) if number else (),
                configuration=Configuration.of({"sections": {"system": f"Do {number}: {text}"}}),
                rationale=f"because <{number}> & {text}",
            )
        )
        status = ExperimentStatus.PRUNED if number % 3 == 1 else ExperimentStatus.COMPLETED
        trials[f"o1-{number}"] = make_trial(number, objective_score=number / 5_000, status=status)
    return {
        "candidates": candidates,
        "trials": trials,
        "tokens": {one.id: 100 + one.number % 250 for one in candidates},
        "record": make_record(
            status=OptimizationStatus.RUNNING, best_candidate_id="o1-5000", best_score=1.0
        ),
    }


def test_twice_as_many_trials_take_about_twice_as_long():
    few, more = many_trials(400), many_trials(800)

    assert lines_run(lambda: page(**more)) < 3 * lines_run(lambda: page(**few))


def test_five_thousand_trials_stay_small_and_usable():
    html = page(**many_trials())

    assert len(html.encode()) < 5_000_000
    assert html.count('<tr id="c') == 5_001
    assert "the graph shows" in html
    assert html.count('class="node ') < 100
    assert '<tr id="c4999"' in html
