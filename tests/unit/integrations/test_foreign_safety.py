"""No file crashes an import, grows it without measure, or makes it run anything."""

import builtins
import json
import string
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnish.domain import AgentOutput, BurnishError, Item, UsageError
from burnish.evaluation.datasets import Dataset
from burnish.evaluation.scorers.asserts import Asserts
from burnish.integrations.imports import Kind, guess_kind, read_foreign
from burnish.integrations.imports.files import BrokenYamlError, parse_yaml


def bomb(levels=12, width=10, merge=False):
    lines = ["a0: &a0 {k: v}" if merge else "a0: &a0 [lol, lol]"]
    for level in range(1, levels):
        inner = ", ".join([f"*a{level - 1}"] * width)
        value = f"{{<<: [{inner}], k{level}: v}}" if merge else f"[{inner}]"
        lines.append(f"a{level}: &a{level} {value}")
    return "\n".join(lines)


@pytest.mark.parametrize("merge", [False, True])
def test_alias_bombs_are_refused_at_once(merge):
    with pytest.raises(BrokenYamlError, match="grow without measure"):
        parse_yaml(bomb(merge=merge))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: &a [*a]", "names nothing that is complete"),
        ("[" * 100 + "]" * 100, "levels deep"),
        ("!!python/object/apply:os.system [echo]", "not valid YAML"),
        ("a: !!binary aGVsbG8=", "binary"),
        ("a: b: c", "not valid YAML"),
        ("a: !!timestamp 2024-99-99", "cannot be read"),
        ("a: !!int ''", "cannot be read"),
        ("? [1, 2]\n: x", "unhashable|not text"),
        ("a: 0x" + "f" * 5000, "too many digits"),
        ("---\na: 1\n---\nb: 2", "not valid YAML"),
        ("a: \x01", "not valid YAML"),
    ],
)
def test_yaml_that_cannot_be_used_says_why(text, told):
    with pytest.raises(BrokenYamlError, match=told):
        parse_yaml(text)


def test_yaml_becomes_json_values():
    text = "2: 2024-01-02\ntrue: .nan\nnull: !!set {a, b}\nshared: &x [1]\nagain: *x"

    assert parse_yaml(text) == {
        "2": "2024-01-02",
        "true": "nan",
        "null": ["a", "b"],
        "shared": [1],
        "again": [1],
    }


def test_without_the_library_the_way_to_get_it_is_said(monkeypatch, tmp_path):
    real = builtins.__import__

    def missing(name, *rest):
        if name == "yaml":
            raise ImportError(name)
        return real(name, *rest)

    path = tmp_path / "config.yaml"
    path.write_text("tests: []")
    monkeypatch.setattr(builtins, "__import__", missing)

    with pytest.raises(UsageError, match=r"pip install 'burnish\[yaml\]'") as caught:
        read_foreign(path, Kind.PROMPTFOO)
    assert caught.value.code == "missing_extra"


def test_broken_yaml_is_named_by_line(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("prompts:\n  - 'open\ntests: []\n")

    with pytest.raises(UsageError, match=r"config.yaml, line \d+"):
        read_foreign(path, Kind.PROMPTFOO)


WORDS = st.sampled_from(
    (
        *(
            "prompts",
            "tests",
            "vars",
            "assert",
            "type",
            "value",
            "threshold",
            "weight",
            "providers",
        ),
        *("defaultTest", "options", "provider", "metadata", "input", "target", "ideal", "choices"),
        *("id", "split", "role", "content", "contains", "regex", "is-json", "llm-rubric", "path"),
        *("assert-set", "not-equals", "{{q}}", "{{id}}", "{% if %}", "(a+)+", "file://x.csv"),
        *("file://*.py", "a,b", "openai:x", "$ref", "transform", "description", "system", "raw"),
        *("levenshtein", "contains-any", "", "\ud800", "\x00", "é", "[", "{"),
    )
)
TEXTS = WORDS | st.text(string.printable, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)
ASSERTS = st.dictionaries(
    st.sampled_from(["type", "value", "weight", "threshold", "assert"]), VALUES, max_size=4
)
TESTS = st.fixed_dictionaries(
    {}, optional={"vars": VALUES, "assert": st.lists(ASSERTS, max_size=3), "threshold": VALUES}
)
CONFIGS = st.fixed_dictionaries(
    {"tests": st.lists(TESTS | TEXTS, max_size=3)},
    optional={"prompts": VALUES, "providers": VALUES, "defaultTest": TESTS | VALUES},
)
SAMPLES = st.lists(
    st.fixed_dictionaries(
        {"input": VALUES},
        optional={"target": VALUES, "ideal": VALUES, "choices": VALUES, "id": TEXTS},
    )
    | VALUES,
    max_size=3,
)


def imported(name, text):
    """Read it by its content and as each kind; only Burnish's own errors may come out."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(text)
        projects = []
        for kind in (None, *Kind):
            try:
                projects.append(read_foreign(path, kind or guess_kind(path)))
            except BurnishError as error:
                assert error.fix
        return projects


def usable(project):
    rows = [json.loads(json.dumps(row)) for row in project.rows]
    Dataset.of(rows).inspect()
    return rows


@settings(max_examples=60)
@given(CONFIGS | SAMPLES)
async def test_documents_of_any_shape_import_or_are_refused(document):
    scorer = Asserts()
    for project in imported("x.json", json.dumps(document).encode()):
        for row in usable(project):
            score = await scorer.score(AgentOutput(text="x"), Item(id="1", data=row))
            assert 0 <= score.value <= 1


@settings(max_examples=40)
@given(st.sampled_from(["x.yaml", "x.csv", "x.jsonl", "x.json"]), st.binary(max_size=60) | TEXTS)
def test_files_of_any_bytes_import_or_are_refused(name, content):
    raw = content if isinstance(content, bytes) else content.encode("utf-8", "replace")
    for project in imported(name, raw):
        usable(project)


@settings(max_examples=40)
@given(st.lists(st.lists(TEXTS, min_size=3, max_size=3), max_size=3))
def test_tables_of_any_cells_import_or_are_refused(rows):
    lines = [
        "q,__expected,__threshold",
        *(",".join(json.dumps(one) for one in row) for row in rows),
    ]
    for project in imported("x.csv", "\n".join(lines).encode("utf-8", "replace")):
        usable(project)
