"""The few-shot optimizer shows training items only, balanced, and gets better at choosing them."""

from __future__ import annotations

import statistics
from collections import Counter
from types import SimpleNamespace

import pytest
from driver import FakeHistory, Run
from worlds import LABELS, REVIEWS

from burnish.domain import Configuration, Item, SearchSpace, StopReason, UsageError
from burnish.evaluation.agents.prompt_agent import chat_messages
from burnish.optimizers import FewShot
from burnish.optimizers.examples.search import Row, Shown, describe_row


def items_of(count: int = 30, **more) -> dict[str, Item]:
    found = {}
    for number in range(count):
        for split, letter in (("train", "t"), ("validation", "v"), ("test", "x")):
            one = f"{letter}{number:02}"
            data = {"review": f"text {one}", "label": LABELS[number % 2], "note": one, **more}
            found[one] = Item(id=one, data=data, split=split)
    return found


def good_count(candidate) -> int:
    """How many of the good examples (texts that end in 0 to 3) are shown."""
    shown = [one["input"]["review"] for one in candidate.configuration.examples]
    return sum(int(text[-1]) < 4 for text in shown)


def world(candidate, item):
    total = len(candidate.configuration.examples)
    level = 0.5 + 0.08 * good_count(candidate) - 0.05 * (total - good_count(candidate))
    return float(int(item[1:]) < 30 * min(level, 0.95)), LABELS[int(item[1:]) % 2]


def new_run(optimizer=None, **more) -> Run:
    items = more.pop("items", items_of())
    splits = {
        name: tuple(one.id for one in items.values() if one.split == name)
        for name in ("train", "validation", "test")
    }
    given = {"baseline": REVIEWS, "labels": LABELS, "world": world, "splits": splits, **more}
    return Run(optimizer=optimizer or FewShot(), items=items, **given)


def shown_ids(candidate) -> list[str]:
    return [
        one["input"]["review"].removeprefix("text ") for one in candidate.configuration.examples
    ]


def test_only_training_items_are_shown_and_only_what_the_prompt_needs():
    run = new_run().go(max_trials=24)

    assert len(run.trials) > 12
    for one in list(run.candidates.values())[1:]:
        assert all(shown.startswith("t") for shown in shown_ids(one))
        assert all(set(example["input"]) == {"review"} for example in one.configuration.examples)
        assert len(set(shown_ids(one))) == len(shown_ids(one))


def test_the_first_rows_are_balanced_and_of_several_lengths():
    run = new_run().go(max_trials=4)

    rows = [one.configuration.examples for one in list(run.candidates.values())[1:]]

    assert len({len(row) for row in rows}) >= 3
    for row in rows:
        counts = Counter(example["output"] for example in row)
        assert max(counts.values()) - min(counts[label] for label in LABELS) <= 1


def test_what_it_shows_can_be_rendered():
    run = new_run().go(max_trials=4)

    messages = chat_messages(
        run.candidates["c-1"].configuration,
        Item(id="1", data={"review": "now"}),
        order=("system", "user"),
        answers={"positive": "good", "negative": "bad"},
    )

    assert messages[-1].content == "now"
    assert {one.content for one in messages if one.role == "assistant"} <= {"good", "bad"}


def test_it_gets_better_at_choosing():
    scores = []
    for seed in range(3):
        run = new_run(seed=seed).go(max_trials=32)
        first = max(one.objective_score for one in run.trials[:5])
        scores.append(run.best.objective_score - first)
        assert good_count(run.best_candidate) >= 3

    assert statistics.mean(scores) > 0.05


def test_parents_are_true_and_nothing_is_tried_twice():
    run = new_run(FewShot(patience=100)).go(max_trials=32)

    assert not run.refused
    later = [one for one in run.candidates.values() if one.number > 4]
    assert any(one.parent_candidate_ids != ("c-0",) for one in later)
    for one in later:
        (parent,) = one.parent_candidate_ids
        theirs = shown_ids(run.candidates[parent])
        if theirs:
            assert len(set(theirs) ^ set(shown_ids(one))) <= 2


def test_the_smaller_of_both_limits_counts():
    run = new_run(FewShot(max_examples=8), space=SearchSpace(max_examples=3)).go(max_trials=12)

    assert max(len(one.configuration.examples) for one in run.candidates.values()) == 3
    assert not run.refused


def test_free_text_answers_come_from_the_usual_field():
    items = {
        f"{letter}{n}": Item(id=f"{letter}{n}", data={"q": f"{n}?", "expected": n}, split=split)
        for n in range(8)
        for letter, split in (("t", "train"), ("v", "validation"))
    }
    run = new_run(
        items=items,
        labels=(),
        baseline=Configuration.of({"sections": {"user": "{{q}}"}}),
        world=lambda candidate, item: (0.5, "x"),
    ).go(max_trials=4)

    example = run.candidates["c-1"].configuration.examples[0]
    assert example["output"] == example["input"]["q"].removesuffix("?")


def test_labels_written_in_another_case_are_still_the_labels():
    items = {
        one.id: Item(
            id=one.id,
            data={"review": "x" + one.id, "gold": str(one.data["label"]).upper()},
            split=one.split,
        )
        for one in items_of().values()
    }
    run = new_run(items=items, world=lambda candidate, item: (0.5, "x")).go(max_trials=4)

    outputs = {one["output"] for one in run.candidates["c-2"].configuration.examples}
    assert outputs == set(LABELS)


def test_a_named_field_wins_and_a_wrong_one_is_refused_with_the_nearest():
    named = new_run(FewShot(answer_field="note"), labels=()).go(max_trials=4)
    assert named.candidates["c-1"].configuration.examples[0]["output"].startswith("t")

    wrong = new_run(FewShot(answer_field="lable"))
    wrong.start()
    with pytest.raises(UsageError, match="did you mean 'label'"):
        wrong.optimizer.propose(wrong.state, FakeHistory(wrong), 4)


@pytest.mark.parametrize(
    ("run", "says"),
    [
        (new_run(splits={"validation": ("v00", "v01")}), "train split"),
        (new_run(space=SearchSpace(max_examples=0)), "max_examples"),
        (
            new_run(
                labels=(),
                items={
                    "t1": Item(id="t1", data={"review": "a"}, split="train"),
                    "v1": Item(id="v1", data={"review": "a"}, split="validation"),
                },
            ),
            "answer_field",
        ),
    ],
)
def test_nothing_to_show_is_a_clear_end(run, says):
    run.world = lambda candidate, item: (0.5, "x")
    run.go()

    assert run.decision.reason is StopReason.ALGORITHM_SPECIFIC
    assert says in run.decision.message
    assert len(run.trials) == 1


def test_few_items_are_soon_exhausted():
    run = new_run(
        FewShot(patience=100), items=items_of(2), world=lambda candidate, item: (0.5, "x")
    ).go(max_trials=60)

    assert run.decision.reason is StopReason.CONVERGENCE
    assert len(run.trials) == 1 + 4


def test_a_baseline_with_examples_may_also_lose_them():
    baseline = Configuration.of(
        {
            "sections": dict(REVIEWS.sections),
            "examples": [{"input": {"review": "bad"}, "output": "positive"}],
        }
    )
    run = new_run(
        baseline=baseline,
        world=lambda candidate, item: (float(not candidate.configuration.examples), "x"),
    ).go(max_trials=40)

    assert run.best.objective_score == 1.0
    assert run.decision.reason is StopReason.TARGET_REACHED


def test_a_big_train_split_leaves_the_state_small():
    splits = {"train": tuple(f"t{n}" for n in range(5000)), "validation": ("v00",)}
    run = new_run(splits=splits)
    run.start()

    assert len(run.state.algorithm_data["train"]) == 256


def test_a_row_of_examples_is_named_by_how_they_begin():
    shown = (
        Shown(item_id="3f2a9c0012345678", example={"text": "I was  charged\ntwice"}, kind="x"),
        Shown(item_id="4f2a9c0012345678", example={"text": "word " * 30}, kind="y"),
        Shown(item_id="5f2a9c0012345678", example={"n": 1}, kind="y"),
    )
    pool = SimpleNamespace(shown=shown)

    words = describe_row(pool, Row(places=(0, 1, 2), parent="c0", says="adds two"))

    assert words.startswith("Adds two: “I was charged twice”, “word word")
    assert "…”, “5f2a9c0012345678”." in words
    assert "3f2a" not in words
