"""What a winner trades, and whether held-out items bear it out, in words and in tone."""

from dataclasses import replace

import pytest
from test_report_samples import headline, material, page, result, verdict

from burnish.app.report.runs.evidence import change_words, is_proven, is_refuted, trade_words
from burnish.cli.display.optimizations.results import (
    chosen_words,
    objective_rows,
    objective_warnings,
    search_verdict,
)
from burnish.optimization.objective import read_objective


def side(number, score, tokens, **more):
    return {
        "candidate_id": f"o1-{number}",
        "number": number,
        "score": score,
        "tokens": tokens,
        "cost_usd": tokens / 1000,
        "latency_ms": None,
        **more,
    }


def document(improvement, *, allowance, table=None, **changes):
    found = result()
    found["improvement"] = {**found["improvement"], **improvement}
    before, after, top = side(0, 0.5, 100), side(2, 0.49, 40), side(1, 0.6, 400)
    found["objective"] = {
        **read_objective(table or {"pareto": ["tokens"], "tolerance": 0.05}).to_json(),
        "baseline": before,
        "chosen": after,
        "held_out": {"baseline": {"tokens": 200.0}, "chosen": {"tokens": 50.0}},
        "allowance": allowance,
        "unmeasured": 0,
        "notes": [],
        "front": [after, before, top],
        **changes,
    }
    return found


PROVEN = {"delta": -0.01, "ci_low": -0.04, "ci_high": 0.02, "p_value": 0.9}
LIKELY = {"delta": -0.01, "ci_low": -0.2, "ci_high": 0.2, "p_value": 0.9}
REFUTED = {"delta": -0.06, "ci_low": -0.2, "ci_high": 0.1, "p_value": 0.9}


@pytest.mark.parametrize(
    ("improvement", "allowance", "refuted", "proven"),
    [
        (PROVEN, 0.05, False, True),
        (LIKELY, 0.05, False, False),
        (REFUTED, 0.05, True, False),
        ({"delta": -0.05, "ci_low": -0.05, "p_value": 1.0}, 0.05, False, True),
        ({"delta": 0.0, "ci_low": 0.0, "p_value": 1.0}, 0.0, True, False),
        ({"delta": 0.2, "ci_low": 0.1, "p_value": 0.001}, 0.0, False, True),
        ({"delta": 0.2, "ci_low": 0.1, "p_value": 0.2}, 0.0, False, False),
        ({"delta": 0.2, "ci_low": 0.1, "p_value": 0.001}, -0.3, True, False),
        ({"delta": 0.2, "ci_low": 0.1, "p_value": 0.001}, -0.15, False, False),
        ({"delta": 0.2, "ci_low": 0.1, "p_value": 0.001}, -0.05, False, True),
    ],
)
def test_what_was_saved_counts_with_the_score(improvement, allowance, refuted, proven):
    found = document(improvement, allowance=allowance)

    assert (is_refuted(found), is_proven(found)) == (refuted, proven)


def test_a_result_of_an_older_program_is_judged_by_its_score():
    found = result()

    assert not is_refuted(found)
    assert is_proven(found)
    assert trade_words(found) == ""
    assert objective_rows(found) == []
    assert objective_warnings(found) == []


@pytest.mark.parametrize(
    ("improvement", "words", "tone", "title"),
    [
        (PROVEN, "better by the objective: score -0.010 with 75% fewer tokens", "good", "Better"),
        (LIKELY, "probably better by the objective, not proven", "warn", "Probably better"),
        (REFUTED, "not better by the objective", "bad", "Not better"),
    ],
)
def test_the_verdict_is_by_the_objective(improvement, words, tone, title):
    found = document(improvement, allowance=0.05)
    spec = {"objective": found["objective"]}
    html = page(record=replace(material().record, result=found, spec=spec))

    assert str(search_verdict(found)).startswith(words)
    assert headline(html).startswith(f"{title} by the objective: score −")
    assert "75% fewer tokens on 20 held-out items" in headline(html)
    assert f'class="verdict {tone}"' in html
    assert "within 0.05 of the best" in verdict(html)


def test_changes_are_told_for_what_is_known():
    before, after = side(0, 0.5, 100), side(1, 0.5, 150)

    assert change_words(["tokens", "cost"], before, after) == "50% more tokens and 50% higher cost"
    assert change_words(["latency"], before, after) == ""
    assert change_words(["tokens"], before, before) == "the same tokens"
    assert change_words(["tokens"], None, after) == ""


def test_the_chosen_point_says_what_it_gives_for_what():
    found = document(PROVEN, allowance=0.05)

    assert chosen_words(found) == (
        "candidate 2: gives 0.110 of score for 90% fewer tokens against candidate 1"
    )
    alone = document(PROVEN, allowance=0.05, front=[side(2, 0.49, 40)])
    assert chosen_words(alone) == "candidate 2, which scores best too"


def test_notes_and_what_could_not_be_measured_are_told():
    found = document(PROVEN, allowance=0.05, unmeasured=2, notes=["racing is off"])

    assert objective_warnings(found) == [
        "racing is off",
        "2 trials could not win by tokens, which is unknown there",
    ]
