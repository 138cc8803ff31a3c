"""`burnish validate` and `doctor` find, before anything is paid, what would fail later."""

import json

import pytest

CONFIG = """
[agent]
name = "a"
model = "scripted/first-label"
labels = ["x", "y"]
[agent.sections]
system = "Classify."
user = "{{text}}"
[suite]
dataset = "rows.jsonl"
scorers = [{ kind = "exact_match", field = "label" }]
"""
GOOD = [{"text": "a", "label": "x"}, {"text": "b", "label": "y"}]


def project(tmp_path, rows=GOOD, config=CONFIG):
    (tmp_path / "burnish.toml").write_text(config)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"label": "x"}, "{{text}} takes is missing in 1 of 3 rows, first in line 3"),
        ({"text": "c"}, "'label', which a scorer reads, is missing in 1 of 3 rows"),
        ({"text": "c", "label": None}, "'label', which a scorer reads, is null in 1 of 3 rows"),
    ],
)
def test_rows_that_would_fail_are_refused(here, tmp_path, row, words):
    message = here.err(project(tmp_path, [*GOOD, row]), "validate", code=2)

    assert words in " ".join(message.split())


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"text": "c", "label": " "}, "'label' is empty in 1 of 3 rows"),
        ({"text": "c", "label": "X"}, "'label' is 'X', which is none of the agent's labels"),
    ],
)
def test_labels_that_no_answer_can_match_are_told(here, tmp_path, row, words):
    found = here.document(project(tmp_path, [*GOOD, row]), "validate")

    assert found["valid"]
    assert words in found["warnings"][0]


def test_asserts_that_cannot_be_used_are_told(here, tmp_path):
    rows = [
        {"text": "a", "assert": [{"type": "regex", "value": "a"}]},
        {"text": "b", "assert": [{"kind": "contains"}]},
    ]
    config = CONFIG.replace('{ kind = "exact_match", field = "label" }', '"asserts"')

    (told,) = here.document(project(tmp_path, rows, config), "validate")["warnings"]

    assert "'assert', which a scorer reads, cannot be used (assert 1: it has no `type`)" in told
    assert told.endswith("in 1 of 2 rows, first in line 2")


def test_a_path_into_a_text_is_refused(here, tmp_path):
    config = CONFIG.replace("{{text}}", "{{text}} {{label.x}}")

    message = here.err(project(tmp_path, config=config), "validate", code=2)

    assert "{{label.x}} takes is missing in 2 of 2 rows" in " ".join(message.split())


@pytest.mark.parametrize("name", ["ticket text", "имя", "text|upper"])
def test_a_malformed_placeholder_is_named(here, tmp_path, name):
    only = project(tmp_path, config=CONFIG.replace("{{text}}", f"{{{{{name}}}}}"))
    assert f"{{{{{name}}}}} is no placeholder" in here.err(only, "validate", code=2)

    beside = project(tmp_path, config=CONFIG.replace("{{text}}", f"{{{{text}}}} {{{{{name}}}}}"))
    assert f"! section user: {{{{{name}}}}} is no placeholder" in here.out(beside, "validate")


@pytest.mark.parametrize("command", [["validate"], ["optimize", "--dry-run"], ["optimize"]])
def test_a_meta_model_of_no_provider_is_refused(here, tmp_path, command):
    config = CONFIG + '[optimizer]\nname = "gepa"\nmodel = "vlm/x"\n'

    message = here.err(project(tmp_path, config=config), *command, code=2)

    assert "did you mean vllm/x" in message
    assert "base_url" in message, "a way on to a server that speaks OpenAI's language"
    assert "kept:" not in message, "nothing was started"


def test_doctor_asks_judge_refiner_and_meta_model(here, tmp_path):
    judge = '{ kind = "judge", model = "scripted/constant:j", criteria = "Good?" }'
    config = CONFIG.replace("scorers = [", f"scorers = [{judge}, ")
    config += '[suite.refine]\nmodel = "scripted/constant:r"\nlimit = 1\n'
    config += '[optimizer]\nname = "gepa"\nmodel = "scripted/constant:m"\n'

    checks = here.document(project(tmp_path, config=config), "doctor")["checks"]

    told = {one["name"]: one["detail"] for one in checks if one["name"].startswith("model ")}
    assert list(told) == [
        f"model scripted/{name}"
        for name in ("first-label", "constant:j", "constant:r", "constant:m")
    ]
    assert told["model scripted/constant:m"].startswith("optimizer: answered")


def test_a_prompt_file_s_byte_order_mark_is_not_sent(here, tmp_path):
    config = CONFIG.replace('system = "Classify."', 'system = { file = "system.md" }')
    folder = project(tmp_path, config=config)
    (folder / "system.md").write_bytes(b"\xef\xbb\xbfClassify.")
    marked = here.document(folder, "validate")["configuration_hash"]

    (folder / "system.md").write_bytes(b"Classify.")

    assert here.document(folder, "validate")["configuration_hash"] == marked


def test_empty_rows_of_a_table_are_counted(here, tmp_path):
    folder = project(tmp_path, config=CONFIG.replace("rows.jsonl", "rows.csv"))
    (folder / "rows.csv").write_text("text,label\na,x\n,\n\nb,y\n")

    found = here.document(folder, "validate")

    assert found["dataset"]["rows"] == 2
    assert [one.rpartition("rows.csv, ")[2] for one in found["warnings"]] == [
        "line 3: the row is empty and is left out",
        "line 4: the row is empty and is left out",
    ]


def test_the_state_folder_ignores_itself_in_git(here, tmp_path):
    here.run(project(tmp_path), "eval")

    assert (tmp_path / ".burnish" / ".gitignore").read_text() == "*\n"
