"""Other tools' files in, a project out that validates and evaluates."""

import json
import tomllib

import pytest

CONFIG = """
description: greetings
prompts:
  - |
    - role: system
      content: "Greet in {{language}}.\\nNothing else."
    - role: user
      content: "{{ name }} says hello"
  - "Say hello to {{name}}"
providers: [anthropic:other]
defaultTest:
  vars: {language: English}
tests:
  - vars: {name: [Ada, Bo]}
    assert:
      - {type: icontains, value: "{{name}}"}
      - {type: javascript, value: "process.exit(1)"}
  - file://cases.csv
"""
CASES = """name,language,__expected,__expected2,__threshold
Cy,French,contains: bonjour,starts-with: Cy,0.5
Di,Welsh,equals: helo,,
"""
SAMPLES = "".join(
    json.dumps({"input": f"{n} is", "choices": ["even", "odd"], "target": "AB"[n % 2]}) + "\n"
    for n in range(20)
)
EVALS = "".join(
    json.dumps(
        {
            "input": [
                {"role": "system", "content": "Repeat."},
                {"role": "user", "content": f"word {n}"},
            ],
            "ideal": f"word {n}",
        }
    )
    + "\n"
    for n in range(4)
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "promptfooconfig.yaml").write_text(CONFIG)
    (tmp_path / "cases.csv").write_text(CASES)
    (tmp_path / "parity.jsonl").write_text(SAMPLES)
    (tmp_path / "words.jsonl").write_text(EVALS)
    return tmp_path


def test_a_promptfoo_config_is_imported_validated_and_evaluated(here, folder):
    made = here.document(folder, "import", "promptfooconfig.yaml", "-o", "greet")
    project = folder / "greet"

    valid = here.document(project, "validate")
    result = here.document(project, "eval")

    assert (made["kind"], made["guessed"], made["rows"]) == ("promptfoo", True, 4)
    assert [one["place"] for one in made["not_taken"]] == ["test 1, assert 2", "provider 1"]
    settings = tomllib.loads((project / "burnish.toml").read_text())
    assert settings["agent"]["model"] == "scripted/echo"
    assert settings["suite"]["pass_threshold"] == 0.0
    text = (project / "prompts" / "system.md").read_text()
    assert text == "Greet in {{language}}.\nNothing else.\n"
    assert (project / "prompts" / "other-2.txt").read_text() == "Say hello to {{name}}"
    assert "javascript" in (project / "IMPORTED.md").read_text()
    assert valid["scorers"] == ["asserts"]
    # Echoed: both names are there; "Cy says hello" starts as it should, which is half; the last fails.
    assert (result["items"], result["failed"], result["errors"]) == (4, 1, 0)
    assert result["score"] == pytest.approx((1 + 1 + 0.5 + 0) / 4)


def test_choices_of_an_inspect_dataset_are_labels(here, folder):
    out, _ = here.run(folder, "import", "parity.jsonl")
    project = folder / "parity"

    result = here.document(project, "eval", BURNISH_AGENT_MODEL="scripted/first-label")

    assert "inspect (by its content): 20 rows" in out
    assert "name your model in burnish.toml" in out
    settings = tomllib.loads((project / "burnish.toml").read_text())
    assert settings["agent"]["labels"] == ["A", "B"]
    assert settings["suite"]["split"] == {"train": 0.4, "validation": 0.4, "test": 0.2}
    assert (result["score"], result["errors"]) == (0.5, 0)


def test_samples_of_openai_evals_are_compared_with_their_ideal(here, folder):
    here.run(folder, "import", "words.jsonl", "--from", "openai-evals", "-o", "evals")

    result = here.document(folder / "evals", "eval")

    assert result["score"] == 1.0


def test_rows_alone_go_into_a_file(here, folder):
    made = here.document(folder, "import", "cases.csv", "-o", "rows.jsonl")

    assert made["files"] == ["rows.jsonl"]
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    assert [row["name"] for row in rows] == ["Cy", "Di"]


def test_files_that_exist_are_kept_unless_told_otherwise(here, folder):
    here.run(folder, "import", "words.jsonl")

    assert "burnish.toml" in here.err(folder, "import", "words.jsonl", code=3)
    here.run(folder, "import", "words.jsonl", "--force")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("none.yaml", None, "no such file"),
        ("bad.yaml", "a: 1\ntests: {b: c: d}\n", "bad.yaml, line 2"),
        ("bad.jsonl", '{"input": "a", "target": "b"}\n{\n', "bad.jsonl, line 2"),
        ("own.jsonl", '{"text": "a"}\n', "--from promptfoo|inspect|openai-evals"),
        ("x.toml", "a = 1", "not a known kind"),
    ],
)
def test_what_cannot_be_imported_says_where_and_writes_nothing(here, tmp_path, name, content, told):
    if content is not None:
        (tmp_path / name).write_text(content)

    said = here.err(tmp_path, "import", name, "-o", "out", code=2)

    assert told in said
    assert not (tmp_path / "out").exists()
