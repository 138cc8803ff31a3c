"""The `joint` optimizer: what its race believes, what it shows, and what it finds."""

from __future__ import annotations

import random

import pytest

import burnish
from burnish.app.report.runs.search_report import search_of
from burnish.domain import AgentOutput, Configuration, ItemResult, ModelResponse
from burnish.models.scripted import ScriptedModel
from burnish.optimizers import Joint
from burnish.optimizers.joint.calibration import Calibration, likeliest, shares_of
from burnish.optimizers.joint.optimizer import balanced_order
from burnish.optimizers.joint.race import Entrant, item_values, next_block, probability, worths

LABELS = ("north", "south", "west")
FAVOUR = 5.0


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


def favouring(item, label):
    """The right label is a little likelier than it was, and one label is far likelier than all."""
    told = {one: (FAVOUR if one == "north" else 0.0) + (one == label) for one in LABELS}
    return ItemResult(
        item_id=item,
        score=float(label == "north"),
        passed=label == "north",
        output=AgentOutput(text="north", trace={"label_logprobs": told}),
    )


class TestCalibration:
    right = {f"i{n}": LABELS[n % 3] for n in range(12)}  # noqa: RUF012
    plain = Configuration.of({"sections": {"system": "Name it.", "user": "{{text}}"}})

    def test_a_label_that_is_said_for_its_own_sake_is_weighed_back(self):
        results = {item: favouring(item, label) for item, label in self.right.items()}
        rule = Calibration(labels=self.right, shares=shares_of(LABELS, dict.fromkeys(LABELS, 4)))

        bias = rule.fitted(self.plain, results)

        assert sum(bias.values()) == pytest.approx(0, abs=1e-3)
        foretold = item_values(results, self.right, bias, foretold=True).by_item
        assert sum(item_values(results, self.right).by_item.values()) < 7
        assert min(foretold.values()) > 0.5

    def test_nothing_is_foretold_where_the_score_is_not_that_of_the_likeliest_label(self):
        results = {item: favouring(item, label) for item, label in self.right.items()}
        results["i1"] = ItemResult(
            item_id="i1", score=0.5, passed=False, output=results["i1"].output
        )
        rule = Calibration(labels=self.right, shares=shares_of(LABELS, {}))

        assert rule.fitted(self.plain, results) is None
        assert rule.fitted(self.plain, {"i0": said(1.0, {"north": 0.0})}) is None

    def test_labels_keep_the_shares_that_they_have_among_training_items(self):
        assert shares_of(("a", "b"), {"a": 8}) == {"a": 0.9, "b": 0.1}
        assert likeliest({"a": -1.0, "b": -1.5}, {"b": 1.0}) == "b"


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


def test_a_prompt_that_says_one_label_to_everything_wins_with_its_labels_weighed(tmp_path):
    def one_label_to_all(request):
        label = request.messages[-1].content.split()[-1]
        told = {one: (FAVOUR if one == "north" else 0.0) + (one == label) for one in LABELS}
        return ModelResponse(text="north", label_logprobs=told)

    rows = [{"text": f"sign {n} {LABELS[n % 3]}", "label": LABELS[n % 3]} for n in range(60)]
    result = burnish.optimize(
        agent=burnish.Agent(
            name="signs",
            configuration={
                "sections": {"system": "Name the direction.", "user": "{{text}}"},
                "parameters": {"label_logprobs": True},
            },
            model=ScriptedModel(one_label_to_all),
            labels=LABELS,
        ),
        suite=burnish.Suite(
            dataset=rows,
            scorers=[{"kind": "exact_match", "field": "label"}],
            split={"train": 0.5, "validation": 0.5},
        ),
        optimizer=Joint(),
        budget=burnish.Budget(max_evaluations=200),
        seed=2,
        db=tmp_path / "x.db",
    )

    assert result.baseline.score < 0.5
    assert result.best.score == 1.0
    assert result.best.configuration.parameters["label_bias"]["north"] < -2
