"""Inspect's samples and OpenAI's evals as rows, sections and scorers."""

import json

import pytest

from burnish.domain import UsageError
from burnish.integrations.imports import Kind, guess_kind, read_foreign


@pytest.fixture
def read(tmp_path):
    def import_rows(rows, name="rows.jsonl", kind=None):
        path = tmp_path / name
        text = rows if isinstance(rows, str) else "".join(json.dumps(row) + "\n" for row in rows)
        path.write_text(text)
        return read_foreign(path, kind or guess_kind(path))

    return import_rows


def test_inspect_samples_look_for_their_targets(read):
    project = read(
        [
            {"input": "Capital of Peru?", "target": "Lima", "id": 1, "metadata": {"area": "x"}},
            {"input": "Bigger than 3?", "target": ["4", "5"], "sandbox": "docker"},
            {"input": "Anything?"},
        ]
    )

    assert project.kind == Kind.INSPECT
    assert project.rows == [
        {"id": 1, "input": "Capital of Peru?", "target": "Lima", "metadata": {"area": "x"}},
        {"input": "Bigger than 3?", "target": ["4", "5"]},
    ]
    assert project.unchecked == [{"input": "Anything?"}]
    assert project.sections == {"user": "{{input}}"}
    (scorer,) = project.scorers
    assert scorer == {"kind": "contains", "field": "target", "match": "any", "ignore_case": True}
    assert [str(one) for one in project.findings.not_taken] == [
        "rows.jsonl: the key sandbox (nothing here stands for it)"
    ]


def test_inspect_choices_are_answered_by_letter(read):
    project = read(
        json.dumps(
            [
                {"input": "Odd?", "choices": ["2", "3"], "target": "B"},
                {"input": "Even?", "choices": ["5", "6", "7"], "target": "6"},
            ]
        ),
        name="rows.json",
    )

    assert [row["target"] for row in project.rows] == ["B", "B"]
    assert project.rows[0]["choices"] == "A) 2\nB) 3"
    assert project.sections["user"] == "{{input}}\n\n{{choices}}"
    assert "letter" in project.sections["system"]
    assert project.labels == ("A", "B", "C")
    assert project.scorers == [{"kind": "exact_match", "field": "target"}]


def test_inspect_tables_may_hold_json_in_cells(read):
    project = read(
        'input,target,choices\nOdd?,B,"2,3"\nEven?,A,"[""4, or so"", ""5""]"\n', name="rows.csv"
    )

    assert [row["choices"] for row in project.rows] == ["A) 2\nB) 3", "A) 4, or so\nB) 5"]


def test_openai_evals_share_a_system_text_as_a_section(read):
    def chat(text):
        return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]

    project = read(
        [
            {"input": chat("2+2"), "ideal": "4"},
            {"input": chat("1+2"), "ideal": ["3", "three"]},
            {"input": chat("?")},
        ]
    )

    assert project.kind == Kind.OPENAI_EVALS
    assert project.rows == [
        {"input": "2+2", "ideal": "4"},
        {"input": "1+2", "ideal": ["3", "three"]},
    ]
    assert project.unchecked == [{"input": "?"}]
    assert project.sections == {"system": "Be brief.", "user": "{{input}}"}
    assert project.scorers == [{"kind": "exact_match", "field": "ideal"}]
    assert any("is a guess" in note for note in project.findings.notes)


def test_different_system_texts_stay_in_the_rows_and_turns_are_folded(read):
    project = read(
        [
            {
                "input": [
                    {"role": "system", "content": "One."},
                    {"role": "system", "name": "example_user", "content": "a"},
                    {"role": "system", "name": "example_assistant", "content": "b"},
                    {"role": "user", "content": [{"type": "text", "text": "c"}]},
                ],
                "ideal": "d" * 100,
            },
            {"input": "plain", "ideal": "x"},
        ]
    )

    assert project.sections == {"system": "{{system}}", "user": "{{input}}"}
    assert project.rows[0]["input"] == "User: a\n\nAssistant: b\n\nUser: c"
    assert [row["system"] for row in project.rows] == ["One.", ""]
    assert project.scorers[0]["kind"] == "contains"
    assert all("_folded" not in row for row in project.rows)


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ('{"input": "a", "target": "b"}\n{"input": \n', r"line 2.*not valid JSON"),
        ('{"input": "a", "target": "b"}\n{"target": "b"}\n', r"line 2: it has no `input`"),
        ('{"input": [{"content": 1}], "target": "b"}\n', r"line 1.*message 1 has no role"),
        ('{"input": "a", "target": {"x": 1}}\n', r"line 1: `target` is neither"),
        ('{"input": "a", "choices": ["x"], "target": "C"}\n', r"line 1: the target 'C' is none"),
        ('{"input": "a", "target": "b", "id": 1}\n' * 2, r"line 2: the id '1' is taken by line 1"),
        ('{"input": "a", "target": "b", "id": [1]}\n', r"line 1: the id is a list"),
        ('{"input": "a"}\n', r"no row says what a right answer is"),
        ("", r"has no rows"),
        ("[1]\n", r"line 1: the row is not an object"),
    ],
)
def test_rows_that_cannot_be_used_are_named(read, rows, told):
    with pytest.raises(UsageError, match=told):
        read(rows, kind=Kind.INSPECT)


@pytest.mark.parametrize(
    ("name", "content"), [("x.txt", "a"), ("x.jsonl", '{"a": 1}'), ("x.csv", "a,b\n1,2\n")]
)
def test_what_shows_no_tool_is_asked_for(tmp_path, name, content):
    (tmp_path / name).write_text(content)

    with pytest.raises(UsageError, match="--from promptfoo|inspect|openai-evals"):
        guess_kind(tmp_path / name)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        guess_kind(tmp_path / "none.yaml")
