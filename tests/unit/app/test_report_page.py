"""The report's page: complete, whatever state a run is in."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from test_report_samples import (
    NOW,
    SECTIONS,
    Page,
    headline,
    item_change,
    material,
    page,
    result,
    unbeaten,
    verdict,
)

from burnish.app.report.html import render_page
from burnish.app.report.html.material import Change, Material
from burnish.domain import Configuration, ExperimentStatus, OptimizationStatus
from burnish.testing.samples.optimizations import (
    make_candidate,
    make_mini_batch,
    make_record,
    make_rejection,
    make_trial,
)


def test_every_section_is_there_and_led_to():
    html = page()
    seen = Page(html)

    assert set(SECTIONS) <= set(seen.ids)
    assert all(("a", "href", f"#{name}") in seen.attributes for name in SECTIONS)
    assert len(seen.ids) == len(set(seen.ids))


def test_the_top_says_what_was_run_and_what_came_out():
    seen = Page(page())

    for fact in ("router", "suite", "edits", "budget", "7", "2026-01-01 10:00:00 UTC", "completed"):
        assert fact in seen.text
    for number in ("0.400 → 0.600", "0.400 → 0.650", "30 → 25", "$0.50", "120", "1 ended early"):
        assert number in seen.text
    assert "+0.250" in seen.text
    assert "+0.100 to +0.400, p < 0.001" in seen.text
    assert "6 items fixed, 1 broken" in seen.text


def test_a_clear_gain_is_called_an_improvement():
    assert headline(page()) == "Improved: +0.250 on 20 held-out items"


@pytest.mark.parametrize(
    ("improvement", "words"),
    [
        ({"delta": 0.05, "ci_low": -0.1, "p_value": 0.5}, "Not confirmed"),
        ({"delta": 0.2, "ci_low": 0.01, "p_value": 0.06}, "Not confirmed"),
        ({"delta": -0.05, "ci_low": -0.2, "p_value": 0.5}, "Not improved"),
        ({"held_out": False}, "without held-out proof"),
    ],
)
def test_an_uncertain_gain_is_not(improvement, words):
    document = result()
    document["improvement"] = {**document["improvement"], **improvement}
    record = replace(material().record, result=document)

    assert words in headline(page(record=record))


def test_a_winner_that_was_not_confirmed_is_told_so():
    document = result(
        test=None, improvement=None, confirmation="not confirmed: the budget is spent"
    )
    html = page(record=replace(material().record, result=document))

    assert headline(html) == "Better in the search, not confirmed"
    assert "not confirmed: the budget is spent" in verdict(html)


def test_when_nothing_won_it_says_why_and_shows_the_strongest_challenger():
    html = page(**unbeaten())

    assert headline(html) == "No improvement: nothing beat the baseline"
    assert "None of the 2 candidates tried scored above the baseline." in verdict(html)
    assert "challenger was candidate 2, at 0.300" in verdict(html)
    assert "strongest challenger" in html.partition('id="prompt"')[2]


def test_a_failed_run_says_what_failed_and_how_far_it_came():
    record = make_record(
        status=OptimizationStatus.FAILED,
        stop_reason="error",
        framework_error={"message": "the baseline failed: no <key>", "fix": "set the key"},
    )
    trials = {"o1-0": make_trial(0, status=ExperimentStatus.FAILED, objective_score=None)}

    html = page(record=record, candidates=[make_candidate(0)], trials=trials, items=None)

    Page(html)
    assert headline(html) == "The optimization failed"
    assert "The baseline failed: no &lt;key&gt;." in html
    assert "To fix it: set the key." in html


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (OptimizationStatus.RUNNING, "Not finished"),
        (OptimizationStatus.CANCELLED, "Cancelled before it had a result"),
        (OptimizationStatus.INITIALIZED, "Not started yet"),
    ],
)
def test_a_run_without_a_result_says_where_it_stands(status, words):
    record = make_record(
        status=status,
        best_candidate_id="o1-2",
        best_score=0.6,
        checkpoint={"phase": "search"},
        spec={"settings": {}},
    )

    html = page(record=record)

    assert words in headline(html)
    assert "candidate 2 at 0.600, against 0.400 of the baseline" in verdict(html)
    assert "search" in verdict(html)
    assert ("burnish resume o1" in html) == (status is not OptimizationStatus.CANCELLED)
    # One of Python goes on in its own program.
    assert "burnish resume" not in page(record=replace(record, spec={}))


def test_a_cancelled_run_with_a_result_is_told_as_one():
    record = replace(material().record, status=OptimizationStatus.CANCELLED)

    assert "It was cancelled" in verdict(page(record=record))


def test_a_run_that_never_began_has_a_page_too():
    empty = Material(record=make_record(), candidates=[], trials={})

    seen = Page(render_page(empty, NOW))

    assert set(SECTIONS) <= set(seen.ids)
    assert "No trial has ended yet." in seen.text


def test_lineage_edges_and_links_go_to_true_parents():
    html = page()

    lineage = html.partition('id="lineage"')[2].partition("</section>")[0]
    assert lineage.count('class="edge') == 3
    row = re.search(r'<tr id="c2".*?</tr>', html)[0]
    assert '<a href="#c1">1</a> <a href="#c0">0</a>' in row


def test_points_are_drawn_by_status_and_the_best_so_far_climbs():
    html = page(
        trials={
            **material().trials,
            "o1-1": make_trial(1, objective_score=None, status=ExperimentStatus.FAILED),
        }
    )

    chart = html.partition('id="score-chart"')[2].partition("</svg>")[0]
    assert '"mark completed"' in chart
    assert '"mark failed"' in chart
    assert '"baseline-line"' in chart
    assert re.search(r'class="best-line" d="M[\d. ]+H[\d.]+V[\d.]+H', chart)


def test_the_prompt_diff_marks_words():
    html = page()

    assert "Route, version <del>0</del><ins>2</ins>." in html


def test_parameters_and_examples_are_compared():
    old = Configuration.of(
        {
            "sections": {"system": "x", "gone": "y"},
            "parameters": {"t": 0.0, "k": 1},
            "examples": [{"q": "one"}, {"q": "two"}],
        }
    )
    new = Configuration.of(
        {
            "sections": {"system": "x", "fresh": "z"},
            "parameters": {"t": 0.5, "k": 1},
            "examples": [{"q": "two"}, {"q": "three"}],
        }
    )
    first, second, third = material().candidates
    candidates = [replace(first, configuration=old), second, replace(third, configuration=new)]

    html = page(candidates=candidates)

    assert "<del>0.0</del></td><td><ins>0.5</ins>" in html
    assert "2 before, 2 after, 1 in both." in html
    assert "<code>gone</code> is gone" in html
    assert "<code>fresh</code> is new" in html
    assert "<code>system</code> is unchanged" in html


def test_items_show_input_expectation_outputs_scores_and_feedback():
    html = page().partition('id="items"')[2].partition("</section>")[0]
    text = Page(f"<div>{html}</div>".replace('<div> aria-labelledby="items-title">', "<div>")).text

    for words in ("Is it so?", "yes", "no", "0.000", "1.000", "expected yes", "Expected"):
        assert words in text
    assert "20 held-out items" in text
    assert "1 broken, 6 fixed, 13 unchanged" in text
    assert "17 items are left out of this page" in text
    assert re.findall(r"(?:Broken|Fixed|Unchanged) \d+", text) == [
        "Broken 1",
        "Fixed 1",
        "Unchanged 1",
    ]


def test_long_texts_are_cut_and_say_so():
    long = item_change(before="z" * 100_000)
    items = replace(material().items, shown=(long,))

    html = page(items=items)

    assert "96,000 characters more" in html
    assert len(html) < 60_000


def test_a_collapsed_model_is_warned_of():
    shown = tuple(
        item_change(Change.UNCHANGED, f"i{n}", after="billing", before=f"answer {n}")
        for n in range(12)
    )

    html = page(items=replace(material().items, shown=shown))

    assert "The candidate answers “billing” to 12 of 12" in html
    assert "The baseline answers" not in html


def test_a_candidate_that_only_had_mini_batches_is_told_as_such():
    plain = material()
    trials = {key: one for key, one in plain.trials.items() if key != "o1-1"}

    html = page(trials=trials, mini_batches={"o1-1": [make_mini_batch(1, "e")]})

    assert ">mini-batch<" in re.search(r'<tr id="c1".*?</tr>', html)[0]
    assert "1 mini-batch" in html


def test_many_rejections_are_counted_and_the_first_listed():
    html = page(rejections=[make_rejection(index) for index in range(700)])

    assert "700 proposals refused: 700 duplicate. The first 500 are listed." in html
    assert html.count("it was tried before") == 500


def test_what_the_search_learnt_is_told_and_left_out_where_nothing_was():
    block = {"section": "system", "text": "- Name <b>it</b>.", "in_winner": True, "items": 60}
    search = {
        "reflections": {"asked": 7, "unusable": {"refusal": 2, "cut": 0}, "example": "I'm <sorry>"},
        "sections_left_out": ["user"],
        "blocks": [{**block, "worth": 0.25, "low": 0.1, "high": 0.4}, {"text": "of another kind"}],
    }
    record = replace(material().record, result=result(search=search))

    html = page(record=record)

    assert "reflections asked: 7, of which unusable: 2 (2 refusal)" in html
    assert "I&#x27;m &lt;sorry&gt;" in html
    assert "sections that were not rewritten: user" in html
    assert "- Name &lt;b&gt;it&lt;/b&gt;." in html and "+0.100 to +0.400" in html
    assert "What the search learnt" not in page()
