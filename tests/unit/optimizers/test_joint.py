"""The `joint` optimizer: what its race believes, what it shows, and what it finds."""

from __future__ import annotations

import random

import pytest

import burnish
from burnish.app.report.runs.search_report import search_of
from burnish.domain import AgentOutput, ItemResult
from burnish.optimizers import Joint
from burnish.optimizers.joint.optimizer import balanced_order
from burnish.optimizers.joint.race import Entrant, item_values, next_block, probability, worths

LABELS = ("north", "south", "west")


def entrant(number, values):
    return Entrant(id=f"c{number}", number=number, values=values)


class TestRace:
    def test_who_ran_easy_items_only_is_not_taken_for_better(self):
        easy = {f"e{n}": 1.0 for n in range(10)}
        hard = {f"h{n}": 0.0 for n in range(10)}
        one, other = entrant(0, {**easy, **hard}), entrant(1, easy)

        found = worths([one, other])

        assert found["c1"].mean == pytest.approx(found["c0"].mean, abs=0.02)
        assert found["c1"].deviation >= found["c0"].deviation

    def test_few_items_are_believed_less(self):
        chance = random.Random(0)
        many = [
            entrant(n, {f"i{i}": float(chance.random() < 0.3 + 0.05 * n) for i in range(60)})
            for n in range(8)
        ]
        lucky = entrant(9, {f"i{i}": 1.0 for i in range(3)})

        found = worths([*many, lucky])

        assert found["c9"].mean < 0.95
        assert found["c9"].deviation > found["c0"].deviation

    def test_blocks_follow_each_other(self):
        parts = [("a", "b"), ("c", "d")]

        assert next_block(entrant(0, {}), parts) == ("a", "b")
        assert next_block(entrant(0, {"a": 1.0, "b": 0.0, "c": 1.0}), parts) == ("d",)
        assert next_block(entrant(0, dict.fromkeys("abcd", 1.0)), parts) is None

    def test_every_block_has_all_labels(self):
        labels = {f"i{n:02}": LABELS[0 if n < 20 else n % 3] for n in range(30)}

        order = balanced_order(tuple(labels), labels, seed=3)

        assert {labels[item] for item in order[:3]} == set(LABELS)
        assert sorted(order) == sorted(labels)


def said(score, logprobs):
    return ItemResult(
        item_id="i",
        score=score,
        passed=score == 1.0,
        output=AgentOutput(text="north", trace={"label_logprobs": logprobs}),
    )


class TestSoftScores:
    def test_the_right_label_is_weighed_against_the_likeliest_other(self):
        told = {"north": -1.0, "south": -1.0, "west": -9.0}

        assert probability(said(1.0, told), "north") == pytest.approx(0.5)
        assert probability(said(0.0, told), "west") < 0.01
        assert probability(said(0.0, told), "east") is None

    def test_without_probabilities_it_is_the_score(self):
        plain = ItemResult(item_id="i", score=1.0, passed=True, output=AgentOutput(text="north"))

        assert item_values({"i": plain}, {"i": "north"}).by_item == {"i": 1.0}
        assert not item_values({"i": plain}, {"i": "north"}).soft
        soft = item_values({"i": said(1.0, {"north": 0.0, "south": -50.0})}, {"i": "north"})
        assert soft.soft
        assert soft.by_item["i"] == pytest.approx(1.0)


def answer(configuration, item):
    """Both the words of the text and the examples help; either alone does half."""
    listed = all(one in configuration["sections"]["system"] for one in LABELS)
    shown = {one["output"] for one in configuration["examples"]}
    ease = int(item["text"].split()[1]) % 10
    right = ease < 2 + 3 * listed + 4 * (shown == set(LABELS))
    return item["label"] if right else LABELS[(LABELS.index(item["label"]) + 1) % 3]


def optimized(db, suite=None, evaluations=700, **settings):
    return burnish.optimize(
        agent=burnish.Agent(
            name="signs",
            configuration={"sections": {"system": "Name the direction.", "user": "{{text}}"}},
            run=answer,
            labels=LABELS,
            version="1",
        ),
        suite=burnish.Suite(
            dataset=[{"text": f"sign {n}", "label": LABELS[n % 3]} for n in range(100)],
            scorers=[{"kind": "exact_match", "field": "label"}],
            split={"train": 0.4, "validation": 0.6},
            **(suite or {}),
        ),
        optimizer=Joint(**settings),
        budget=burnish.Budget(max_evaluations=evaluations),
        seed=2,
        db=db,
    )


def test_texts_and_examples_are_found_together(tmp_path):
    result = optimized(tmp_path / "x.db")

    best = result.best.configuration
    assert {one["output"] for one in best.examples} == set(LABELS)
    assert all(one in best.sections["system"] for one in LABELS)
    assert result.best.score > result.baseline.score + 0.5
    assert result.evaluations <= 700
    race = result.document["search"]["race"]
    assert race["candidates"] > race["ran_all_items"] > 1
    assert race["soft_scores"] is False
    (words,) = search_of(result.document)["words"]
    assert words.endswith(f"{race['ran_all_items']} of them over all items")


@pytest.mark.parametrize("evaluations", [300, 500])
def test_the_leaders_have_their_trials_where_items_run_twice_too(tmp_path, evaluations):
    result = optimized(tmp_path / "x.db", suite={"repeats": 2}, evaluations=evaluations)

    assert result.best.score > result.baseline.score
    assert result.document["search"]["race"]["ran_all_items"] > 1


def test_no_examples_are_shown_where_none_may_be(tmp_path):
    result = optimized(tmp_path / "x.db", max_examples=0)

    assert not any(one.configuration.examples for one in result.candidates.values())
    assert result.best.score > result.baseline.score
