"""Habits of real configs and samples that files written from the manuals alone do not have."""

import json

import pytest

from burnish.domain import UsageError
from burnish.integrations.imports import Kind, guess_kind, read_foreign
from burnish.integrations.imports.files import parse_yaml
from burnish.integrations.imports.promptfoo.asserts import expected_text


@pytest.fixture
def read(written):
    def import_text(text, *name, **files):
        path = written(text, *name, **files)
        return read_foreign(path, guess_kind(path))

    return import_text


def left(project):
    return [str(one) for one in project.findings.not_taken]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Yes", "Yes"),
        ("off", "off"),
        ("true", True),
        ("12:30", "12:30"),
        ("2024-05-01", "2024-05-01"),
        ("089", 89),
        ("-0x1f", -31),
        ("0o17", 15),
        ("1_000", 1000),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.2.3", "1.2.3"),
        ("~", None),
        ("{a: &x {b: 1}, c: {<<: *x}}", {"a": {"b": 1}, "c": {"b": 1}}),
    ],
)
def test_words_without_quotes_mean_what_they_do_in_yaml_1_2(text, value):
    assert parse_yaml(text) == value


def test_only_lists_of_texts_and_several_files_give_several_rows(read):
    project = read(
        """
        prompts: ["{{turns}} {{page}} {{tag}}"]
        tests:
          - vars:
              turns: [{user: hello}, {assistant: hi}]
              page: file://page*.json
              tag: file://tags.json
            assert: [{type: contains, value: hi}]
        """,
        page1__json='{"number": 1}',
        page2__json='{"number": 2}',
        tags__json='["red", "blue"]',
    )

    assert [row["page"] for row in project.rows] == [{"number": 1}, {"number": 2}]
    assert project.rows[0]["turns"] == [{"user": "hello"}, {"assistant": "hi"}]
    assert project.rows[0]["tag"] == ["red", "blue"]


def test_a_scenario_runs_each_test_with_each_of_its_data_sets(read):
    project = read(
        """
        prompts: ["Say {{word}} in {{language}}"]
        scenarios:
          - description: colours
            config:
              - vars: {language: Spanish, red: rojo}
                assert: [{type: not-contains, value: sorry}]
              - file://german.yaml
            tests:
              - vars: {word: red}
                assert:
                  - {type: contains, value: "{{red}}"}
                  - {type: python, value: "len(output)"}
          - config: [{vars: {language: Dutch, word: blue}, assert: [{type: is-json}]}]
            weight: 2
          - file://nowhere.yaml
        """,
        german__yaml="vars: {language: German, red: rot}",
    )

    sorry = {"type": "not-contains", "value": "sorry"}
    assert [(row["language"], row["word"], row["assert"]) for row in project.rows] == [
        ("Spanish", "red", [sorry, {"type": "contains", "value": "rojo"}]),
        ("German", "red", [{"type": "contains", "value": "rot"}]),
        ("Dutch", "blue", [{"type": "is-json"}]),
    ]
    assert any(
        one.startswith("scenario 1, test 1 with config 2, assert 2: ") for one in left(project)
    )
    assert any(one.startswith("scenario 2: the key weight") for one in left(project))
    assert any("nowhere.yaml (there is no such file" in one for one in left(project))


def test_prompts_in_tables_and_lines_are_read(read):
    project = read(
        """
        prompts: [file://table.csv, file://bare.csv, file://chats.jsonl, file://none.csv]
        tests: [{vars: {thing: tea}, assert: [{type: contains, value: cup}]}]
        """,
        table__csv='label,prompt\nshort,"Describe {{thing}}, briefly"\nlong,Praise {{thing}}\n',
        bare__csv="Mock {{thing}}\n",
        chats__jsonl='[{"role": "user", "content": "Brew {{thing}}"}]\n',
        none__csv="prompt,label\n",
    )

    assert project.sections == {"user": "Describe {{thing}}, briefly"}
    assert list(project.others.values())[:2] == ["Praise {{thing}}", "Mock {{thing}}"]
    assert left(project) == ["prompt 4: file://none.csv (it holds no prompt)"]


def test_a_prompt_with_logic_is_named_as_what_to_rewrite(read):
    project = read(
        """
        prompts: ["{% if polite %}Please {% endif %}fetch {{thing}}"]
        tests: [{vars: {thing: tea}, assert: [{type: contains, value: cup}]}]
        """
    )

    assert any("rewrite it before you evaluate" in note for note in project.findings.notes)


def test_what_stands_beside_a_provider_and_in_options_is_listed(read):
    project = read(
        """
        prompts: ["{{q}}"]
        providers:
          - {id: "openai:gpt-4o-mini", label: small, prompts: [first], delay: 10}
          - {label: nameless}
        tests:
          - vars: {q: tea}
            options: {transform: "output.trim()", transformVars: "vars"}
            assert: [{type: contains, value: cup}]
        """
    )

    assert project.model == "openai/gpt-4o-mini"
    for expected in ("the key prompts", "the key delay", "provider 2", "look at the output as it"):
        assert any(expected in one for one in left(project)), expected


@pytest.mark.parametrize(
    ("tests", "why"),
    [
        ("huggingface://datasets/some/thing", "only files are read"),
        ("file://make.py:cases", "it is code"),
        ("cases.yaml", "there is no such file"),
    ],
)
def test_a_config_without_usable_tests_says_which_were_left_and_why(read, tests, why):
    with pytest.raises(UsageError, match="no test cases") as raised:
        read(f'prompts: ["{{{{q}}}}"]\ntests: "{tests}"')

    assert why in raised.value.why
    assert "beside it" in raised.value.fix


@pytest.mark.parametrize("cell", ["guardrails", "not-guardrails", "is-refusal"])
def test_a_check_that_needs_no_value_is_not_compared_with(cell):
    assert expected_text(cell) == {"type": cell}


def test_metadata_of_a_table_keeps_commas_that_are_escaped(read):
    project = read(
        """\
        thing,__expected,__metadata:tags[]
        tea,contains:cup,"hot\\, sweet,green"
        """,
        name="cases.csv",
    )

    assert project.rows[0]["metadata"] == {"tags": ["hot, sweet", "green"]}


def test_a_sample_that_is_all_system_asks_its_last_text(read):
    def said(*texts):
        return [{"role": "system", "content": text} for text in texts]

    rows = [
        {"input": said("Answer in one word.", "Colour of grass?"), "ideal": "green"},
        {"input": said("Answer in one word.", "Colour of snow?"), "ideal": "white"},
    ]
    project = read("".join(json.dumps(row) + "\n" for row in rows), name="rows.jsonl")

    assert project.kind == Kind.OPENAI_EVALS
    assert project.sections == {"system": "Answer in one word.", "user": "{{input}}"}
    assert [row["input"] for row in project.rows] == ["Colour of grass?", "Colour of snow?"]
    assert any("said as the system" in note for note in project.findings.notes)


def test_a_pointer_of_git_lfs_says_how_to_fetch_the_file(read):
    with pytest.raises(UsageError, match="Git LFS") as raised:
        read("version https://git-lfs.github.com/spec/v1\nsize 9\n", name="rows.jsonl")

    assert "git lfs pull" in raised.value.fix


def test_columns_that_are_not_known_are_named(read):
    with pytest.raises(UsageError, match="Question, Answer") as raised:
        read("Question,Answer\nHow many?,4\n", name="rows.csv")

    assert "input and target" in raised.value.why
