"""Rows with an id and a split of their own: agents, scorers and placeholders see both."""

import burnish

ROWS = [
    {"id": f"r{n}", "split": "train" if n else "test", "q": f"q{n}", "expected": f"r{n}"}
    for n in range(4)
]


def evaluate(tmp_path, rows=ROWS, **parts):
    suite = {"dataset": rows, "scorers": ["exact_match"], **parts.pop("suite", {})}
    return burnish.evaluate(
        burnish.Agent(name="a", **parts), burnish.Suite(**suite), db=tmp_path / "b.db"
    )


def test_functions_see_the_row_as_it_was_written(tmp_path):
    seen = []

    def score(output, item):
        seen.append(dict(item))
        return float(str(output) == item["id"])

    result = evaluate(
        tmp_path, run=lambda configuration, item: item["id"], suite={"scorers": [score]}
    )

    assert (result.score, result.errors) == (1.0, 0)
    assert sorted(seen, key=lambda one: one["id"]) == ROWS


def test_a_prompt_may_show_the_id(tmp_path):
    result = evaluate(
        tmp_path,
        model=lambda prompt: prompt,
        configuration={"sections": {"user": "{{id}}"}},
    )

    assert result.score == 1.0


def test_rows_without_an_id_get_none_into_their_data(tmp_path):
    rows = [{"q": f"q{n}", "expected": "q"} for n in range(3)]

    result = evaluate(tmp_path, rows, run=lambda configuration, item: "".join(item)[:1])

    assert (result.score, result.errors) == (1.0, 0)


def test_rows_without_an_id_tell_the_one_that_they_were_given(tmp_path):
    rows = [{"q": f"q{n}"} for n in range(3)]
    asked = []

    def score(output, item):
        asked.append((str(output), item["id"], item.id))
        return float("id" not in item)

    result = evaluate(
        tmp_path, rows, run=lambda configuration, item: item["id"], suite={"scorers": [score]}
    )

    assert (result.score, result.errors) == (1.0, 0)
    assert [len(set(ids)) for ids in asked] == [1, 1, 1]
    assert {ids[0] for ids in asked} == {row["id"] for row in result.rows}


def test_the_hash_leaves_id_and_split_out():
    first, second = (
        burnish.Item(id=one, data={"q": "1"}, split=split)
        for one, split in (("a", "train"), ("b", None))
    )

    assert first.hash == second.hash
    assert (first.row, second.row) == (
        {"id": "a", "split": "train", "q": "1"},
        {"id": "b", "q": "1"},
    )
