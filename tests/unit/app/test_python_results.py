"""Results in Python: rows, tables, short texts, and HTML for notebooks; in a running loop too."""

import builtins
import json
from dataclasses import replace

import pytest
from tests.unit.app.test_report_samples import MARKUP, Page

import burnish
from burnish.domain import UsageError
from burnish.integrations.tracking.facts import facts_of

ROWS = [{"id": f"r{n}", "q": f"{n} {MARKUP}", "label": "x" if n % 2 else "y"} for n in range(12)]


def agent(answer="x"):
    return burnish.Agent(
        name=f"a {MARKUP}",
        configuration={"sections": {"system": f"Say {MARKUP}.", "user": "{{q}}"}},
        run=lambda configuration, item: answer,
    )


def suite(**parts):
    return burnish.Suite(dataset=ROWS, scorers=[{"kind": "exact_match", "field": "label"}], **parts)


def evaluate(tmp_path, **parts):
    return burnish.evaluate(agent(**parts), suite(), db=tmp_path / "b.db")


def optimize(tmp_path):
    budget = burnish.Budget(max_trials=3)
    return burnish.optimize(agent(), suite(), "edits", budget, seed=1, db=tmp_path / "b.db")


async def test_every_sync_call_works_where_a_loop_runs(tmp_path):
    scored = evaluate(tmp_path)
    found = optimize(tmp_path)
    shorter = burnish.compress(
        agent(), suite(), burnish.Budget(max_trials=2), seed=1, db=tmp_path / "b.db"
    )

    assert scored.score == found.baseline.score == 0.5
    assert len(scored.rows) == 12
    assert shorter.report.status == "completed"


def test_a_run_is_a_row_and_a_flat_dict(tmp_path):
    result = evaluate(tmp_path, answer=MARKUP)

    row, flat = result.rows[1], result.to_dicts()[1]
    assert row["id"] == row["item_id"] == "r1"
    assert row["rounds"] == []
    assert flat == {
        "id": "r1",
        "repeat": 0,
        "split": None,
        "input": {"q": f"1 {MARKUP}", "label": "x"},
        "output": MARKUP,
        "score": 0.0,
        "reason": row["scores"][0]["reason"],
        "passed": False,
        "cost_usd": None,
        "latency_ms": row["latency_ms"],
        "cached": False,
        "rounds": 0,
        "error": None,
    }
    assert json.loads(json.dumps(result.to_dicts())) == result.to_dicts()


def test_reasons_of_several_scorers_name_them(tmp_path):
    def polite(output, item):
        return burnish.Score(value=0.0, reason="curt")

    both = burnish.Suite(
        dataset=ROWS[:1], scorers=[{"kind": "exact_match", "field": "label"}, polite]
    )

    row = burnish.evaluate(agent(), both, db=tmp_path / "b.db").rows[0]

    assert row["reason"] == 'exact_match: expected "y", got "x"; polite: curt'


def test_a_trial_is_a_row(tmp_path):
    result = optimize(tmp_path)

    rows = result.to_dicts()
    assert [one["number"] for one in rows] == [0, 1, 2, 3]
    assert rows[0]["candidate_id"] == result.baseline.candidate_id
    assert rows[1]["parents"] == [0]
    assert {one["status"] for one in rows} == {"completed"}


def test_texts_are_a_few_lines(tmp_path):
    scored, found = evaluate(tmp_path), optimize(tmp_path)

    assert "score 0.500 (0.25–0.75), 6 of 12 passed, 0 errors, cost unknown" in repr(scored)
    assert "search 0.500 → 0.500" in repr(found)
    assert "none of the 3 candidates tried scored above the baseline" in repr(found)
    for text in (repr(scored), repr(found)):
        assert len(text) < 600
        assert len(text.splitlines()) < 8


def test_a_search_that_was_stopped_before_its_first_score_can_be_shown(tmp_path):
    found = optimize(tmp_path)
    nothing = {"baseline": None, "best": None, "improvement": None, "why_not_improved": None}
    result = replace(
        found,
        document={**found.document, **nothing},
        record=replace(found.record, result={**found.document, **nothing}),
        candidates={},
        trials=[],
    )

    assert "no score yet" in repr(result)
    assert "No trial has a score yet" in result._repr_html_()
    assert "No trial has a score yet" in result.plot()._repr_html_()
    with pytest.raises(UsageError, match="no trial has a score yet"):
        result.plot().save(tmp_path / "none.svg")
    assert "best_score" not in facts_of(result).metrics


def test_what_a_notebook_shows_is_harmless_and_its_style_stays_within(tmp_path):
    for result, parts in (
        (evaluate(tmp_path, answer=MARKUP), {"scores", "runs", "score-chart"}),
        (optimize(tmp_path), {"scores", "prompt", "trials", "score-chart"}),
    ):
        html = result._repr_html_()
        page = Page(html)

        assert parts <= set(page.ids)
        assert "img" not in page.tags
        assert "script" not in page.tags
        style = html.partition("<style>")[2].partition("</style>")[0]
        assert style.startswith(".burnish-result {")
        assert style.count("{") == style.count("}")
        assert ":root" not in style
        assert "\nbody" not in style


def test_a_result_whose_database_is_gone_is_shown_as_text(tmp_path):
    result = evaluate(tmp_path)
    for one in tmp_path.iterdir():
        one.unlink()

    assert result._repr_html_() is None
    assert "score 0.500" in repr(result)


def test_the_plot_is_a_chart_and_a_file(tmp_path):
    plot = optimize(tmp_path).plot()

    assert "score-chart" in Page(plot._repr_html_()).ids
    written = plot.save(tmp_path / "scores.svg").read_text(encoding="utf-8")
    assert written.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
    assert "<style>" in written


def test_without_pandas_it_says_what_to_install(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **options):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *rest, **options)

    result = evaluate(tmp_path)
    monkeypatch.setattr(builtins, "__import__", without)

    with pytest.raises(UsageError, match="pip install pandas"):
        result.to_pandas()


def test_a_data_frame_has_the_inputs_as_columns(tmp_path):
    pytest.importorskip("pandas", reason="pandas is not installed: pip install pandas")

    frame = evaluate(tmp_path).to_pandas()

    assert list(frame["id"]) == [one["id"] for one in ROWS]
    assert list(frame["input.label"]) == [one["label"] for one in ROWS]
    assert frame["score"].mean() == 0.5
