"""promptfoo's configs and tables: what is taken, what is listed, and that nothing is run."""

import json

import pytest

from burnish.domain import AgentOutput, UsageError
from burnish.evaluation.scorers.assert_checks import Check, check_output
from burnish.integrations.imports import Kind, guess_kind, read_foreign
from burnish.integrations.imports.promptfoo.asserts import comma_separated, expected_text
from burnish.integrations.imports.promptfoo.config import openai_name


@pytest.fixture
def read(written):
    def import_config(config, *name, **files):
        path = written(config, *name, **files)
        assert guess_kind(path) is Kind.PROMPTFOO
        return read_foreign(path, Kind.PROMPTFOO)

    return import_config


def left(project):
    return [str(one) for one in project.findings.not_taken]


def test_a_config_becomes_rows_sections_model_and_scorer(read):
    project = read(
        """
        prompts: ["Translate {{text}} to {{language}}."]
        providers:
          - id: openai:chat:gpt-4o-mini
            config: {temperature: 0.2}
        defaultTest:
          vars: {language: French}
          assert: [{type: not-contains, value: sorry}]
        tests:
          - description: a greeting
            vars: {text: "hello"}
            assert: [{type: icontains, value: bonjour, weight: 2}]
          - vars: {text: "bye", language: German}
            threshold: 0.5
            assert: [{type: contains-any, value: 'tschüss, "auf Wiedersehen"'}]
        """
    )

    assert project.sections == {"user": "Translate {{text}} to {{language}}."}
    assert (project.model, project.parameters) == ("openai/gpt-4o-mini", {"temperature": 0.2})
    assert project.scorers == [{"kind": "asserts"}]
    sorry = {"type": "not-contains", "value": "sorry"}
    assert project.rows == [
        {
            "language": "French",
            "text": "hello",
            "assert": [sorry, {"type": "icontains", "value": "bonjour", "weight": 2}],
            "description": "a greeting",
        },
        {
            "language": "German",
            "text": "bye",
            "assert": {
                "threshold": 0.5,
                "assert": [
                    sorry,
                    {"type": "contains-any", "value": ["tschüss", "auf Wiedersehen"]},
                ],
            },
        },
    ]
    assert project.pass_threshold == 0.0
    assert left(project) == []


def test_lists_of_values_give_all_combinations(read):
    config = """
        prompts: ["{{a}} {{b}}"]
        tests:
          - vars: {a: ["1", "2"], b: [x, y]}
            assert: [{type: contains, value: "{{a}}"}]
        """
    project = read(config)
    kept = read(
        config.replace(
            "tests:", "defaultTest: {options: {disableVarExpansion: true}}\n        tests:"
        )
    )

    assert [(row["a"], row["b"]) for row in project.rows] == [
        ("1", "x"),
        ("1", "y"),
        ("2", "x"),
        ("2", "y"),
    ]
    assert [row["assert"][0]["value"] for row in project.rows] == ["1", "1", "2", "2"]
    assert [row["a"] for row in kept.rows] == [["1", "2"]]


def test_code_is_listed_with_its_place_and_the_row_keeps_the_rest(read, tmp_path):
    (tmp_path / "grade.py").write_text("raise SystemExit('it was run')")
    project = read(
        """
        prompts: ["{{q}}", "file://make.py:build", "file://make.js"]
        tests:
          - vars: {q: 1}
            assert:
              - {type: javascript, value: "output > 3"}
              - {type: python, value: "file://grade.py"}
              - {type: contains, value: "file://grade.py"}
              - {type: contains, value: "{{ q | upper }}"}
              - {type: contains, value: x, transform: "output.trim()"}
              - {type: similar, value: x}
              - {type: contains, value: ok}
          - vars: {q: "file://load.js"}
          - file://tests.py
          - vars: {q: 2}
            assert: [{type: javascript, value: "1"}]
        """
    )

    assert [row["assert"] for row in project.rows] == [[{"type": "contains", "value": "ok"}]]
    assert [row["q"] for row in project.unchecked] == [2]
    told = left(project)
    assert [one.split(" (")[0] for one in told if one.startswith("test 1")] == [
        "test 1, assert 1: javascript",
        "test 1, assert 2: python",
        "test 1, assert 3: contains",
        "test 1, assert 4: contains",
        "test 1, assert 5: contains",
        "test 1, assert 6: similar",
    ]
    assert any(one.startswith("prompt 2: file://make.py:build") for one in told)
    assert any(one.startswith("prompt 3: file://make.js") for one in told)
    assert any(one.startswith("test 2: the whole test") for one in told)
    assert any(one.startswith("test 3: file://tests.py") for one in told)


def test_files_beside_the_config_are_read_and_no_others(read, tmp_path):
    (tmp_path.parent / "outside.txt").write_text("private")
    project = read(
        """
        prompts: file://prompt.txt
        tests:
          - file://more.yaml
          - cases.csv
          - vars: {doc: "file://doc.txt"}
            assert: [{type: is-json, value: "file://schema.json"}]
          - vars: {doc: "file://../outside.txt"}
          - vars: {doc: "file:///etc/hostname"}
          - https://me:canary@docs.google.com/spreadsheets/x?key=canary
        """,
        prompt__txt="First {{doc}}\n---\nSecond {{doc}}\n",
        more__yaml="- vars: {doc: one}\n  assert: [{type: contains, value: o}]\n",
        cases__csv="doc,__expected\ntwo,starts-with: t\n",
        doc__txt="three",
        schema__json='{"type": "object"}',
    )

    assert [row["doc"] for row in project.rows] == ["one", "two", "three"]
    assert project.rows[2]["assert"] == [{"type": "is-json", "value": {"type": "object"}}]
    assert project.sections == {"user": "First {{doc}}"}
    assert list(project.others.values()) == ["Second {{doc}}"]
    assert "private" not in json.dumps(project.rows)
    assert sum("leads out of" in one for one in left(project)) == 2
    assert "canary" not in "".join(left(project))


@pytest.mark.parametrize(
    "prompt",
    [
        '[{"role": "system", "content": "Be kind."}, {"role": "user", "content": "{{q}}"}]',
        '[{"role": "system", "content": "Be kind."}, {"role": "user", "content": {{ q | dump }}}]',
        "- role: system\n  content: Be kind.\n- role: user\n  content: '{{q}}'\n",
    ],
)
def test_chat_prompts_become_sections(read, prompt):
    tests = [{"vars": {"q": "x"}, "assert": [{"type": "equals", "value": "y"}]}]

    project = read({"prompts": [prompt], "tests": tests}, name="config.json")

    assert project.sections == {"system": "Be kind.", "user": "{{q}}"}


def test_a_prompt_with_logic_gives_way_to_one_without_and_is_kept(read):
    project = read(
        """
        prompts: ["{% if q %}{{q}}{% endif %}", "Plain {{q}}", "{{ q | upper }}"]
        tests: [{vars: {q: x}, assert: [{type: equals, value: y}]}]
        """
    )

    assert project.sections == {"user": "Plain {{q}}"}
    assert list(project.others.values()) == ["{% if q %}{{q}}{% endif %}", "{{ q | upper }}"]
    assert [one.split(" (")[0] for one in left(project)] == [
        "prompt 1: {% if q %}",
        "prompt 3: {{ q | upper }}",
    ]


def test_names_that_rows_need_themselves_are_changed_in_both(read):
    project = read(
        """
        prompts: ["{{id}} of {{ split }} {{missing}}"]
        tests: [{vars: {id: 7, split: odd}, assert: [{type: equals, value: "{{id}}"}]}]
        """
    )

    (row,) = project.rows
    assert project.sections == {"user": "{{id_}} of {{ split_ }} {{missing}}"}
    assert (row["id_"], row["split_"], row["missing"]) == (7, "odd", "")
    assert row["assert"][0]["value"] == "7"


def test_a_table_of_test_cases_stands_alone(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text(
        "q,__expected1,__expected2,__description,__metric,__threshold,__metadata:area,__prefix\n"
        "1+1,equals:2,levenshtein(3): 22,sum,maths,0.5,numbers,x\n"
        '2+2,"contains-any: 4, four",fn:output==4,,,,,\n'
        "3+3,six: indeed,,,,,,\n"
    )

    project = read_foreign(path, guess_kind(path))

    first, second, third = project.rows
    assert first["assert"] == {
        "threshold": 0.5,
        "assert": [
            {"type": "equals", "value": "2", "metric": "maths"},
            {"type": "levenshtein", "value": "22", "metric": "maths", "threshold": 3.0},
        ],
    }
    assert (first["description"], first["metadata"]) == ("sum", {"area": "numbers"})
    assert second["assert"] == [{"type": "contains-any", "value": ["4", "four"]}]
    assert third["assert"] == [{"type": "equals", "value": "six: indeed"}]
    assert project.sections == {"user": "{{q}}"}
    assert [one.split(" (")[0] for one in left(project)] == [
        "cases.csv: the column __prefix",
        "cases.csv, line 3, assert 2: javascript",
    ]


def test_broken_rows_are_named_by_file_and_line(tmp_path):
    path = tmp_path / "cases.csv"
    path.write_text("q,__expected\n1,2\n1,2,3\n")

    with pytest.raises(UsageError, match=r"cases.csv, line 3: 3 cells where the header has 2"):
        read_foreign(path, Kind.PROMPTFOO)


def test_rubrics_ask_the_judge_that_the_config_names(read):
    config = """
        providers: [anthropic:x, openai:gpt-4o]
        defaultTest: {options: {provider: "openai:gpt-4o-mini"}}
        tests:
          - vars: {q: x}
            assert:
              - {type: llm-rubric, value: "polite about {{q}}", threshold: 0.7}
              - {type: factuality, value: "x is x"}
        """

    project = read(config)
    without = read(config.replace("openai:gpt-4o-mini", "other:y").replace(", openai:gpt-4o", ""))

    assert project.scorers == [{"kind": "asserts", "model": "openai/gpt-4o-mini"}]
    assert project.model == "openai/gpt-4o"
    rubric, fact = project.rows[0]["assert"]
    assert rubric == {"type": "llm-rubric", "value": "polite about x", "threshold": 0.7}
    assert fact["type"] == "llm-rubric"
    assert fact["value"].endswith("x is x")
    assert without.scorers == [{"kind": "asserts"}]
    assert any("need a judge" in note for note in without.findings.notes)


def test_unknown_keys_are_listed_and_do_no_harm(read):
    project = read(
        """
        prompts: ["{{q}}"]
        redteam: {plugins: [x]}
        assertionTemplates: {short: {type: regex, value: "^.{1,9}$"}}
        tests:
          - vars: {q: x}
            surprise: 1
            options: {transform: "output.trim()"}
            assert: [{$ref: "#/assertionTemplates/short"}, {type: contains, value: y, rubricPrompt: z}]
        """
    )

    assert [one["type"] for one in project.rows[0]["assert"]] == ["regex", "contains"]
    assert [one.split(" (")[0] for one in left(project)] == [
        "promptfooconfig.yaml: the key redteam",
        "test 1: the key surprise",
        "test 1: the option transform",
        "test 1, assert 2: rubricPrompt of contains",
    ]


def test_too_many_combinations_are_refused_and_not_built(read):
    values = [str(number) for number in range(100)]
    tests = [
        {"vars": dict.fromkeys("abcd", values), "assert": [{"type": "equals", "value": "x"}]},
        {"vars": {"a": 1}, "assert": [{"type": "equals", "value": "x"}]},
    ]

    project = read({"prompts": ["{{a}}"], "tests": tests}, name="config.json")

    assert len(project.rows) == 1
    assert "100,000,000 combinations" in left(project)[0]


@pytest.mark.parametrize("config", ["prompts: [x]\n", "prompts: [x]\ntests: []\n", "tests: 3\n"])
def test_a_config_without_tests_is_refused(read, config):
    with pytest.raises(UsageError, match="no test cases"):
        read(config)


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("openai:gpt-4o", "openai/gpt-4o"),
        ("openai:chat:gpt-4o", "openai/gpt-4o"),
        ("openai:chat:ft:gpt-4o:me::1", "openai/ft:gpt-4o:me::1"),
        ("openai:embedding:x", None),
        ("openai:chat:", None),
        ("openai", None),
        ("anthropic:messages:x", None),
        ("file://provider.js", None),
    ],
)
def test_names_of_models(name, model):
    assert openai_name(name) == model


@pytest.mark.parametrize(
    ("cell", "read_as"),
    [
        ("Paris", {"type": "equals", "value": "Paris"}),
        ("contains", {"type": "equals", "value": "contains"}),
        ("http://x", {"type": "equals", "value": "http://x"}),
        ("is-json", {"type": "is-json"}),
        ("not-icontains: no", {"type": "not-icontains", "value": "no"}),
        ("similar(0.8):x", {"type": "similar", "value": "x", "threshold": 0.8}),
        ("grade: is it kind?", {"type": "llm-rubric", "value": "is it kind?"}),
        ("fn: 1", {"type": "javascript", "value": "1"}),
        ("file://check.js", {"type": "javascript", "value": "file://check.js"}),
    ],
)
def test_expected_cells(cell, read_as):
    assert expected_text(cell) == read_as


def test_comma_separated_parts():
    assert comma_separated('a, "b, c" ,d') == ["a", "b, c", "d"]


def test_an_assert_s_own_provider_judges_and_the_agent_s_model_does_not(read):
    project = read(
        """
        prompts: ["Say {{q}}"]
        providers: [openai:gpt-4o-mini]
        tests:
          - vars: {q: x}
            assert:
              - {type: llm-rubric, value: polite, provider: "openai:gpt-4o"}
              - {type: llm-rubric, value: short, provider: "openai:o1"}
        """
    )

    assert project.scorers == [{"kind": "asserts", "model": "openai/gpt-4o"}]
    assert len(left(project)) == 1
    assert "one judge grades all asserts" in left(project)[0]


def test_word_counts_and_finish_reasons_are_taken_and_others_say_what_is_so(read):
    project = read(
        """
        prompts: ["Say {{q}}"]
        providers: [openai:gpt-4o-mini]
        tests:
          - vars: {q: x}
            assert:
              - {type: word-count, value: {min: 2, max: 4}}
              - {type: finish-reason, value: stop}
              - {type: latency, threshold: 200}
              - {type: bleu, value: x}
        """
    )

    assert [one["type"] for one in project.rows[0]["assert"]] == ["word-count", "finish-reason"]
    assert "objectives weigh it" in left(project)[0]
    assert "similarity" in left(project)[1]
    assert not any("no code" in one for one in left(project))


@pytest.mark.parametrize(
    ("value", "text", "passes"),
    [
        (2, "one two", True),
        (2, "one", False),
        ({"min": 2}, "one two three", True),
        ({"max": 2}, "one two three", False),
    ],
)
def test_words_are_counted(value, text, passes):
    check = Check(type="word-count", value=value)

    assert (check_output(check, AgentOutput(text=text), text) is None) is passes
