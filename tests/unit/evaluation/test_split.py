"""Splits: exact, seeded, stratified, stable, and clear about what cannot be done."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.domain import Item, UsageError
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.suite import assign_splits

THIRDS = {"train": 0.4, "validation": 0.4, "test": 0.2}


def items(count, *, labels=("a",), prefix="row"):
    return [
        Item(id=f"{prefix}-{number}", data={"n": number, "label": labels[number % len(labels)]})
        for number in range(count)
    ]


def sizes(assigned):
    return dict(Counter(assigned.values()))


class TestFractions:
    def test_sizes_are_exact(self):
        assert sizes(assign_splits(items(240), THIRDS, seed=7)) == {
            "train": 96,
            "validation": 96,
            "test": 48,
        }

    @given(
        st.integers(3, 200),
        st.lists(st.integers(1, 20), min_size=1, max_size=3),
        st.integers(0, 9),
    )
    @settings(max_examples=50, deadline=None)
    def test_every_row_lands_once_and_sizes_are_within_one_of_the_share(self, count, parts, seed):
        names = ("train", "validation", "test")
        split = {name: part / sum(parts) for name, part in zip(names, parts, strict=False)}

        assigned = assign_splits(items(count), split, seed=seed)

        assert len(assigned) == count
        found = sizes(assigned)
        assert set(found) == set(split)
        for name, fraction in split.items():
            # A split that would get nothing gets one row, at the expense of the largest.
            assert found[name] == 1 or abs(found[name] - fraction * count) < 1 + len(split)

    def test_each_split_gets_a_row_when_there_are_enough(self):
        assert sizes(
            assign_splits(items(3), {"train": 0.98, "test": 0.01, "validation": 0.01}, seed=1)
        ) == {
            "train": 1,
            "test": 1,
            "validation": 1,
        }

    def test_too_few_rows_are_an_error_with_a_fix(self):
        with pytest.raises(UsageError, match="2 rows cannot fill 3 splits") as raised:
            assign_splits(items(2), THIRDS, seed=1)

        assert "fewer splits" in raised.value.fix

    def test_one_split_takes_all(self):
        assert sizes(assign_splits(items(5), {"test": 1.0}, seed=1)) == {"test": 5}
        assert sizes(assign_splits(items(5), {"test": 1}, seed=1)) == {"test": 5}

    def test_fractions_win_over_what_the_rows_say(self):
        rows = [Item(id=str(number), data={}, split="test") for number in range(10)]

        assert sizes(assign_splits(rows, {"train": 1.0}, seed=1)) == {"train": 10}


class TestSeed:
    def test_order_of_rows_and_names_changes_nothing(self):
        rows = items(50, labels=("a", "b", "c"))
        backwards = dict(reversed(THIRDS.items()))

        first = assign_splits(rows, THIRDS, seed=3, stratify_by="label")
        second = assign_splits(rows[::-1], backwards, seed=3, stratify_by="label")

        assert first == second
        assert list(first) == [item.id for item in rows]

    def test_another_seed_is_another_split(self):
        rows = items(50)

        assert assign_splits(rows, THIRDS, seed=1) != assign_splits(rows, THIRDS, seed=2)

    def test_is_the_same_in_every_process(self):
        script = (
            "from burnish.domain import Item; from burnish.evaluation.suite import assign_splits;"
            "rows = [Item(id=f'r{i}', data={'label': 'abc'[i % 3]}) for i in range(30)];"
            "print(assign_splits(rows, {'train': .5, 'test': .5}, seed=1, stratify_by='label'))"
        )

        said = {
            subprocess.run(
                [sys.executable, "-c", script],
                env={**os.environ, "PYTHONHASHSEED": hash_seed},
                capture_output=True,
                check=True,
            ).stdout
            for hash_seed in ("1", "2")
        }

        assert len(said) == 1

    @pytest.mark.parametrize("stratify_by", [None, "label", "n"])
    def test_a_few_more_rows_move_few_of_the_others(self, stratify_by):
        rows = items(200, labels=("a", "b", "c"))
        before = assign_splits(rows, THIRDS, seed=1, stratify_by=stratify_by)

        more = rows + items(6, labels=("a", "b", "c"), prefix="new")
        after = assign_splits(more, THIRDS, seed=1, stratify_by=stratify_by)

        assert sum(before[item_id] != after[item_id] for item_id in before) <= 16


class TestStrata:
    @given(st.lists(st.sampled_from("aaaabbc"), min_size=3, max_size=120), st.integers(0, 9))
    @settings(max_examples=50, deadline=None)
    def test_each_value_is_spread_in_proportion(self, labels, seed):
        rows = [Item(id=str(n), data={"label": label}) for n, label in enumerate(labels)]

        assigned = assign_splits(rows, THIRDS, seed=seed, stratify_by="label")
        unstratified = assign_splits(rows, THIRDS, seed=seed)

        totals = sizes(assigned)
        assert totals == sizes(unstratified)
        cells = Counter((row.data["label"], assigned[row.id]) for row in rows)
        for label, count in Counter(labels).items():
            for name, total in totals.items():
                assert abs(cells[label, name] - count * total / len(rows)) < 2

    def test_balanced_labels_stay_balanced(self):
        assigned = assign_splits(
            items(240, labels=("positive", "negative")),
            {"train": 40, "validation": 80, "test": 120},
            seed=7,
            stratify_by="label",
        )

        cells = Counter(
            (int(item_id.split("-")[1]) % 2, name) for item_id, name in assigned.items()
        )
        assert cells == {
            (label, name): count
            for label in (0, 1)
            for name, count in {"train": 20, "validation": 40, "test": 60}.items()
        }

    def test_a_value_for_each_row_still_gives_exact_sizes(self):
        assigned = assign_splits(items(100), THIRDS, seed=1, stratify_by="n")

        assert sizes(assigned) == {"train": 40, "validation": 40, "test": 20}

    def test_rows_without_the_field_are_one_value(self):
        rows = [*items(10), *(Item(id=f"bare-{n}", data={"x": [n]}) for n in range(10))]

        assigned = assign_splits(rows, {"train": 0.5, "test": 0.5}, seed=1, stratify_by="label")

        bare = [name for item_id, name in assigned.items() if item_id.startswith("bare")]
        assert Counter(bare) == {"train": 5, "test": 5}

    def test_an_unknown_field_names_the_nearest(self):
        with pytest.raises(UsageError, match="did you mean 'label'") as raised:
            assign_splits(items(10), THIRDS, seed=1, stratify_by="lable")

        assert raised.value.code == "unknown_field"

    def test_a_dataset_is_streamed(self):
        dataset = Dataset.of([{"text": str(n), "label": n % 2} for n in range(20)])

        assigned = assign_splits(dataset, THIRDS, seed=1, stratify_by="label")

        assert tuple(assigned) == dataset.index().ids
        assert assigned == assign_splits(dataset.items(), THIRDS, seed=1, stratify_by="label")


class TestCounts:
    def test_rows_beyond_the_counts_are_in_no_split(self):
        assigned = assign_splits(
            items(100, labels=("a", "b")), {"train": 10, "test": 20.0}, seed=1, stratify_by="label"
        )

        assert sizes(assigned) == {"train": 10, "test": 20}

    def test_more_than_there_are_is_an_error(self):
        with pytest.raises(UsageError, match="30 rows are asked for and the dataset has 20"):
            assign_splits(items(20), {"train": 10, "test": 20}, seed=1)


class TestField:
    def test_rows_name_their_own_split(self):
        rows = [{"text": "x", "split": "test"}, {"text": "y", "split": "train"}]

        assigned = assign_splits(Dataset.of(rows), "field", seed=1)

        assert list(assigned.values()) == ["test", "train"]

    def test_rows_without_one_are_named_with_their_place(self):
        rows = [
            {"id": "first", "text": "x", "split": "test"},
            {"id": "second", "text": "y", "split": "dev"},
            {"id": "third", "text": "z"},
        ]

        with pytest.raises(UsageError) as raised:
            assign_splits(Dataset.of(rows), "field", seed=1)

        assert "2 rows name no split: 'second' (row 2), 'third' (row 3); they say 'dev'" in str(
            raised.value
        )

    def test_many_rows_without_one_are_counted(self):
        with pytest.raises(UsageError, match=r"25 rows name no split: .* and 15 more"):
            assign_splits(items(25), "field", seed=1)


class TestBadSizes:
    @pytest.mark.parametrize(
        ("split", "message"),
        [
            ({}, "names no sizes"),
            (None, "names no sizes"),
            ("random", "'random' is not a way to split"),
            ({"train": 0.5, "valid": 0.5}, "did you mean 'validation'"),
            ({"train": 0.5, "dev": 0.5}, "use train, validation, test"),
            ({"train": 0.5, "test": 0.4}, "the fractions sum to 0.9, not to 1"),
            ({"train": 0.5, "test": 40}, "the fractions sum to 40.5"),
            ({"train": 1.0, "test": 0}, "test = 0 is not a size"),
            ({"train": -1, "test": 2}, "train = -1 is not a size"),
            ({"train": True}, "train = True is not a size"),
            ({"train": float("nan")}, "train = nan is not a size"),
            ({"train": "0.5"}, "train = '0.5' is not a size"),
        ],
    )
    def test_are_refused_with_a_reason(self, split, message):
        with pytest.raises(UsageError, match=message) as raised:
            assign_splits(items(10), split, seed=1)

        assert raised.value.code == "invalid_split"
