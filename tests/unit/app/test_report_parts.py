"""The parts of a report that decide something: diff, front, family, axes, choice of items."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.line_counts import lines_run

from burnish.app.report.html.family import MAX_WHOLE, family_of
from burnish.app.report.html.lineage_graph import lay_out
from burnish.app.report.html.marks import frame
from burnish.app.report.html.markup import script_json
from burnish.app.report.html.material import Change, Material, prompt_tokens
from burnish.app.report.html.pareto_chart import field_of
from burnish.app.report.html.prompt_changes import ADDED, REMOVED, SAME, word_diff
from burnish.app.report.html.reading import (
    MAX_CHANGED,
    MAX_UNCHANGED,
    choose,
    classify,
    expected_fields,
)
from burnish.app.report.html.score_chart import new_bests
from burnish.app.report.html.trial_table import MAX_ROWS, trial_table
from burnish.domain import ExperimentStatus
from burnish.models import count_tokens
from burnish.optimization.objective import front
from burnish.testing.samples.optimizations import make_candidate, make_record, make_trial

text = st.text(alphabet="ab .,\n\t", max_size=40)


@given(text, text)
def test_a_diff_holds_both_texts_whole(before, after):
    pieces = word_diff(before, after)

    assert "".join(piece for kind, piece in pieces if kind != ADDED) == before
    assert "".join(piece for kind, piece in pieces if kind != REMOVED) == after


def test_a_diff_is_by_words_and_keeps_what_moved_little():
    before = "Route the ticket to billing or technical."
    after = "Be brief.\nRoute the support ticket to billing or technical."

    assert word_diff(before, after) == [
        (ADDED, "Be brief.\n"),
        (SAME, "Route the "),
        (ADDED, "support "),
        (SAME, "ticket to billing or technical."),
    ]


def test_a_sentence_that_is_wholly_new_is_not_cut_into_scraps():
    pieces = word_diff("Classify the sentiment of the review.", "Say whether the text is happy.")

    assert [kind for kind, _ in pieces] == [REMOVED, ADDED, SAME]


def test_a_diff_of_long_texts_is_quick():
    before = "\n".join(f"the rule {n} is the rule of the day {n * 7}" for n in range(900))
    after = before.replace("rule 5", "law 5").replace("day 63", "night 63")

    assert (REMOVED, "rule ") in word_diff(before, after)
    assert lines_run(lambda: word_diff(before, after)) < 200_000  # word by word: millions


def test_the_front_has_what_nothing_as_short_beats():
    lengths = {0: (30, 0.4), 1: (20, 0.5), 2: (25, 0.45), 3: (40, 0.9), 4: (20, 0.1), 5: (45, 0.9)}
    scores = {number: score for number, (_, score) in lengths.items()}
    candidates = [make_candidate(number) for number in lengths]
    tokens = {f"o1-{number}": length for number, (length, _) in lengths.items()}
    material = replace(run(candidates, scores, "o1-3"), tokens=tokens)

    field = field_of(material)

    assert field.axis == "Tokens of the prompt"
    assert [one.number for one in front(field.points, ["tokens"])] == [1, 3]


def test_tokens_that_the_agent_reports_count_more_than_those_of_its_prompt():
    candidates = [make_candidate(number) for number in range(2)]
    material = run(candidates, {0: 0.1, 1: 0.2}, "o1-1")
    summary = replace(make_trial().summary, avg_tokens=321.5)
    trials = {key: replace(one, summary=summary) for key, one in material.trials.items()}

    field = field_of(replace(material, trials=trials))

    assert field.axis == "Tokens of an evaluation"
    assert [field.along(one) for one in field.points] == [321.5, 321.5]


def run(candidates, scores, best):
    trials = {
        f"o1-{number}": make_trial(number, objective_score=score)
        for number, score in scores.items()
    }
    record = make_record(best_candidate_id=best)
    return Material(record=record, candidates=candidates, trials=trials)


def chain(length, width):
    """A path of so many steps whose every candidate has so many children beside it."""
    candidates = [make_candidate(0)]
    parent = candidates[0]
    while parent.step_index < length:
        step = parent.step_index + 1
        born = [
            make_candidate(len(candidates) + n, step_index=step, parent_candidate_ids=(parent.id,))
            for n in range(width)
        ]
        candidates += born
        parent = born[0]
    return candidates, parent


def test_a_small_family_is_shown_whole_with_the_way_to_the_best_lit():
    candidates, best = chain(3, 2)
    material = run(candidates, {one.number: one.step_index / 9 for one in candidates}, best.id)

    family = family_of(material)

    assert family.whole
    assert family.lit == {"o1-0", "o1-1", "o1-3", "o1-5"}


@pytest.mark.parametrize(("length", "width"), [(5, 900), (800, 2), (4_000, 1), (1, 5_000)])
def test_a_large_family_is_cut_to_what_is_around_the_way(length, width):
    candidates, best = chain(length, width)
    material = run(candidates, {one.number: one.step_index / 5_000 for one in candidates}, best.id)

    family = family_of(material)
    layout = lay_out(family, material.by_id)

    assert len(family.shown) <= 2 * MAX_WHOLE
    assert {candidates[0].id, best.id} <= {one.id for one in family.shown}
    shown = {one.id: one for one in family.shown}
    assert set(layout.places) == set(shown)
    assert all(parent in shown[child].parent_candidate_ids for parent, child in layout.edges)
    places = [*layout.places.values(), *layout.more.values()]
    assert len(places) == len(set(places))
    assert sum(family.hidden_children.values()) + len(shown) <= len(candidates)
    assert bool(layout.jumps) == (length > 24)


def test_candidates_without_parents_and_of_odd_steps_have_a_place_too():
    candidates = [
        make_candidate(0),
        make_candidate(1, parent_candidate_ids=()),
        make_candidate(2, step_index=0, parent_candidate_ids=("o1-1", "nobody")),
    ]
    material = run(candidates, {0: 0.1, 1: 0.2, 2: 0.3}, "o1-2")

    layout = lay_out(family_of(material), material.by_id)

    assert len(set(layout.places.values())) == 3
    assert layout.edges == [("o1-1", "o1-2")]


def test_only_completed_trials_become_best():
    candidates = [make_candidate(number) for number in range(4)]
    material = run(candidates, {0: 0.4, 1: 0.9, 2: 0.4, 3: 0.5}, "o1-3")
    pruned = make_trial(1, objective_score=0.9, status=ExperimentStatus.PRUNED)
    trials = {**material.trials, "o1-1": pruned}

    bests = new_bests(Material(record=material.record, candidates=candidates, trials=trials))

    assert bests == [(0, 0.4), (3, 0.5)]


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8))
def test_axes_hold_every_value_on_few_round_ticks(values):
    area = frame(range(len(values)), values)

    rounding = 1e-6 * (area.y.high - area.y.low)
    assert area.y.low - rounding <= min(values)
    assert max(values) <= area.y.high + rounding
    assert 2 <= len(area.y.ticks) <= 9
    assert all(tick == int(tick) for tick in area.x.ticks)


def test_scores_from_0_to_1_have_no_ticks_beyond():
    area = frame([0, 1], [0.02, 0.98])

    assert (area.y.low, area.y.high) == (0.0, 1.0)


def test_items_are_sorted_into_broken_fixed_and_unchanged():
    before = {"a": 1.0, "b": 0.0, "c": 0.5, "only before": 1.0}
    after = {"a": 0.0, "b": 1.0, "c": 0.5 + 1e-15, "only after": 1.0}

    changes = classify(before, after)

    assert changes == {"a": Change.BROKEN, "b": Change.FIXED, "c": Change.UNCHANGED}
    assert choose(changes, after) == ["a", "b", "c"]


def test_of_many_items_some_of_each_kind_are_chosen():
    kinds = {"b": (1.0, 0.0), "f": (0.0, 1.0), "u": (0.5, 0.5)}
    before = {f"{kind}{n:04}": pair[0] for kind, pair in kinds.items() for n in range(1_000)}
    after = {f"{kind}{n:04}": pair[1] for kind, pair in kinds.items() for n in range(1_000)}

    chosen = choose(classify(before, after), after)

    counts = {kind: sum(one.startswith(kind) for one in chosen) for kind in kinds}
    assert counts == {"b": MAX_CHANGED // 2, "f": MAX_CHANGED // 2, "u": MAX_UNCHANGED}


def test_tokens_are_those_of_sections_and_examples():
    candidate = make_candidate(0)

    assert prompt_tokens([candidate]) == {"o1-0": count_tokens("Route, version 0.")}


def test_expected_fields_are_found_where_a_spec_names_them():
    spec = {"suite": {"scorers": [{"kind": "exact_match", "field": "label"}, "my:score"]}}

    assert list(expected_fields(spec)) == ["label"]
    assert list(expected_fields({"agent": {"field": "x"}, "seed": 3})) == []


def test_json_in_a_script_has_nothing_that_ends_it():
    text = script_json({"a": "</script><!--&\u2028\u2029"})

    assert text == r'{"a":"\u003c/script\u003e\u003c!--\u0026\u2028\u2029"}'


def test_of_very_many_trials_the_best_and_the_way_to_them_are_listed():
    candidates = [make_candidate(number) for number in range(MAX_ROWS + 500)]
    scores = {one.number: 1.0 if one.number == 42 else one.number / 1e5 for one in candidates}

    html = trial_table(run(candidates, scores, "o1-42"))

    assert html.count("<tr id=") == MAX_ROWS
    assert '<tr id="c0"' in html
    assert '<tr id="c42"' in html
    assert '<tr id="c1"' not in html
    assert "Of 6,500 candidates" in html
