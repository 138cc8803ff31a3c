"""Traces that become rows: which are picked, left out, drawn and redacted, and where they go."""

import asyncio
import json
from pathlib import Path

import pytest

from burnish.app.datasets.uploads import store_rows
from burnish.app.wiring import Workspace, build_suite
from burnish.cli.invocation import run_command
from burnish.config.settings import load_settings
from burnish.domain import UsageError
from burnish.domain.opik import OpikItem, OpikScore
from burnish.evaluation.datasets import Dataset
from burnish.integrations.imports.traces import (
    Feedback,
    Selection,
    Trace,
    TraceKind,
    guess_trace_kind,
    read_traces,
    select_rows,
)
from burnish.models.scripted import ScriptedModel


def trace(number, text=None, **given):
    return Trace(id=f"t{number}", tool="otlp", input=text or f"question {number}", **given)


def ids(traces, **selection):
    return [row["id"] for row in select_rows(traces, Selection(**selection)).rows]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (["feedback.helpful<0.5"], ["t1"]),
        (["feedback.helpful >= 0.5"], ["t2"]),
        (["feedback.helpful != 0.2"], ["t2", "t3"]),
        (["name=Answer"], ["t2"]),
        (["tags~beta"], ["t3"]),
        (["error"], ["t3"]),
        (["metadata.tries=2"], ["t1"]),
        (["source.time>=2026-11-02"], ["t3"]),
        (["feedback.helpful<0.5", "name=answer"], []),
    ],
)
def test_conditions_pick(where, found):
    traces = [
        trace(1, feedback=(Feedback("helpful", 0.2),), metadata={"tries": 2}),
        trace(2, feedback=(Feedback("helpful", 0.8),), name="answer"),
        trace(3, tags=("beta-users",), error="cut", time="2026-11-03T10:00:00Z"),
    ]

    assert ids(traces, where=where) == found


@pytest.mark.parametrize(
    "selection",
    [
        *({"where": ["what is this?"]}, {"redact": ["("]}, {"sample": 0}, {"sample_by": "luck"}),
        *({"cluster_by": "words"}, {"sample_by": "cluster", "cluster_by": "luck"}),
    ],
)
def test_what_cannot_be_meant_is_refused(selection):
    with pytest.raises(UsageError):
        Selection(**selection)


def test_duplicates_empty_inputs_and_test_items_are_left_out_and_counted():
    traces = [trace(1, "Same  question"), trace(2, "same question"), trace(3, "known"), trace(4)]
    nothing = Trace(id="t5", tool="otlp", output="an answer")

    found = select_rows([*traces, nothing], Selection(exclude=["Known"]))

    assert [row["id"] for row in found.rows] == ["t1", "t4"]
    assert found.left_out == {"duplicates": 1, "in the test split": 1, "without an input": 1}


def test_failures_come_first_and_unlike_texts_are_drawn_together():
    marks = [0.9, 0.1, None, 0.5]
    traces = [
        trace(n, feedback=() if mark is None else (Feedback("good", mark),))
        for n, mark in enumerate(marks)
    ]
    texts = ["where is my order one", "where is my order two", "refund of a broken lamp"]
    alike = [trace(n, text) for n, text in enumerate(texts)]

    assert ids([*traces, trace(9, error="cut")], sample=3, sample_by="failure") == [
        "t9",
        "t1",
        "t3",
    ]
    for seed in range(5):
        assert "t2" in ids(alike, sample=2, sample_by="cluster", cluster_by="words", seed=seed)
    drawn = ids(traces, sample=2, sample_by="random", seed=3)
    assert drawn == ids(traces, sample=2, sample_by="random", seed=3)


@pytest.mark.parametrize(
    ("secret", "shown"),
    [
        ("ann.b+c@mail.example.co.uk", "[email]"),
        ("sk-proj-abcdefghijklmnop", "[key]"),
        ("Bearer abcdef0123456789xyz", "[key]"),
        ("4111 1111 1111 1111", "[card]"),
        ("+49 30 1234 5678", "[phone]"),
        ("(030) 1234-5678-90", "[phone]"),
        ("ann%40example.org", "[email]"),
    ],
)
def test_personal_data_is_taken_out_of_every_place(secret, shown):
    hidden = trace(
        f"of-{secret}",
        f"call {secret} now",
        output={"text": secret, "more": [secret]},
        name=secret,
        feedback=(Feedback("good", 1, secret),),
        tags=(secret,),
        session=secret,
        user=secret,
        metadata={secret: secret},
        steps=({"name": "chat", "input": secret},),
        error=secret,
    )

    found = select_rows([hidden], Selection())

    assert secret not in json.dumps(found.rows)
    assert found.rows[0]["input"] == f"call {shown} now"


CANARY = "canary@example.org"
EXPORTS = {
    TraceKind.OTLP: {
        "resourceSpans": [
            {
                "resource": {"attributes": [{"key": "service", "value": {"stringValue": "x"}}]},
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": "a1",
                                "spanId": "1",
                                "name": "answer",
                                "attributes": [
                                    {"key": "input.value", "value": {"stringValue": "where?"}},
                                    {"key": "output.value", "value": {"stringValue": "here"}},
                                    {"key": "user.id", "value": {"stringValue": "u"}},
                                    {"key": "session.id", "value": {"stringValue": "s"}},
                                    {"key": "metadata", "value": {"stringValue": '{"a": "b"}'}},
                                    {
                                        "key": "tag.tags",
                                        "value": {"arrayValue": {"values": [{"stringValue": "t"}]}},
                                    },
                                ],
                                "status": {"code": 2, "message": "failed"},
                                "events": [
                                    {
                                        "name": "exception",
                                        "attributes": [
                                            {
                                                "key": "exception.message",
                                                "value": {"stringValue": "no"},
                                            }
                                        ],
                                    }
                                ],
                            }
                        ]
                    }
                ],
            }
        ]
    },
    TraceKind.OPENINFERENCE: {
        "name": "answer",
        "context": {"trace_id": "a1", "span_id": "1"},
        "attributes": {
            "input.value": "where?",
            "output.value": "here",
            "user.id": "u",
            "session.id": "s",
            "metadata": {"a": "b"},
            "llm.input_messages": [{"message.role": "user", "message.content": "where?"}],
        },
        "status_code": "ERROR",
        "status_message": "failed",
        "events": [],
    },
    TraceKind.LANGFUSE: {
        "id": "a1",
        "name": "answer",
        "input": {"question": "where?", "more": ["m"]},
        "output": "here",
        "sessionId": "s",
        "userId": "u",
        "tags": ["t"],
        "metadata": {"a": "b"},
        "observations": [
            {
                "id": "o1",
                "traceId": "a1",
                "type": "GENERATION",
                "name": "chat",
                "model": "m",
                "modelParameters": {"stop": "x"},
                "input": [{"role": "user", "content": "where?"}],
                "output": "here",
                "level": "ERROR",
                "statusMessage": "failed",
                "metadata": {"c": "d"},
            }
        ],
        "scores": [
            {"id": "s1", "name": "helpful", "value": 0.2, "source": "API", "comment": "no date"}
        ],
    },
    TraceKind.OPIK: {
        "trace": {
            "id": "a1",
            "name": "answer",
            "input": {"question": "where?"},
            "output": {"answer": "here"},
            "thread_id": "s",
            "tags": ["t"],
            "metadata": {"a": "b"},
            "error_info": {"exception_type": "E", "message": "failed", "traceback": "tb"},
            "feedback_scores": [{"name": "helpful", "value": 0.2, "reason": "no date"}],
            "comments": [{"text": "rude"}],
        },
        "spans": [
            {
                "id": "o1",
                "type": "llm",
                "name": "chat",
                "model": "m",
                "input": {"messages": [{"role": "user", "content": "where?"}]},
                "output": {"text": "here"},
                "error_info": {"exception_type": "E", "message": "failed"},
                "metadata": {"c": "d"},
            }
        ],
    },
}
# Of a format rather than of the user: with anything else in them nothing could be read.
FIXED = ("key", "type", "role", "level", "source", "status_code", "message.role")


def with_canary(value, name=""):
    """The same with the canary in every text and in names of the user's own."""
    if isinstance(value, dict):
        own = name in ("metadata", "modelParameters")
        return {
            (f"{key} {CANARY}" if own else key): with_canary(one, key) for key, one in value.items()
        }
    if isinstance(value, list):
        return [with_canary(one, name) for one in value]
    if not isinstance(value, str) or name in FIXED:
        return value
    return value.replace("b", f"b {CANARY}") if value.startswith("{") else f"{value} {CANARY}"


@pytest.mark.parametrize("kind", EXPORTS)
def test_no_text_of_any_export_keeps_the_canary(tmp_path, kind):
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(with_canary(EXPORTS[kind])))
    traces = read_traces(path, kind)

    whole = select_rows(traces, Selection(redact=())).rows
    found = select_rows(traces, Selection())

    assert json.dumps(whole).count(CANARY) >= 12
    assert CANARY not in json.dumps(found.rows)
    assert "canary" not in json.dumps(found.rows)
    assert found.redacted["email"] >= 12
    (row,) = found.rows
    # Another id, the same each time, so that what belongs together still does.
    assert row["id"] == row["source"]["trace"] == select_rows(traces, Selection()).rows[0]["id"]


def test_ids_that_are_uuids_stay():
    given = Trace(id="01900000-0000-7000-8000-000000000001", tool="opik", input="q")

    assert select_rows([given], Selection()).rows[0]["id"] == given.id


def test_cards_that_are_numbers_are_taken_out_and_times_are_not():
    card, nanoseconds = 4111111111111111, 1_763_500_000_000_000_001
    given = trace(1, metadata={"card": card, "at": nanoseconds, "n": 7, "yes": True, "tax": 1234})

    found = select_rows([given], Selection(redact=["card", r"\d{4}"])).rows[0]["metadata"]

    kept = {"at": nanoseconds, "n": 7, "yes": True}
    assert found == {"card": "[card]", "tax": "[redacted]", **kept}


def test_numbers_and_times_are_no_telephones():
    text = "order 12345 of 2026-11-18 at 10:30 cost 12.50 in version 1.2.3"

    assert select_rows([trace(1, text)], Selection()).rows[0]["input"] == text


def test_fields_and_patterns_of_ones_own_are_redacted():
    given = trace(1, "order X-1234", metadata={"account": {"name": "Ann"}, "kept": "yes"})

    found = select_rows(
        [given], Selection(redact=[r"X-\d+"], redact_fields=["metadata.account.name"])
    )

    assert found.rows[0]["input"] == "order [redacted]"
    assert found.rows[0]["metadata"] == {"account": {"name": "[redacted]"}, "kept": "yes"}
    assert found.redacted == {r"X-\d+": 1, "metadata.account.name": 1}


def otlp(tmp_path, *texts):
    spans = [
        {
            "traceId": f"t{number}",
            "spanId": f"s{number}",
            "attributes": [{"key": "input.value", "value": {"stringValue": text}}],
        }
        for number, text in enumerate(texts)
    ]
    path = tmp_path / "traces.json"
    path.write_text(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}))
    return path


def test_rows_are_added_for_training_and_never_twice(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("rows.jsonl").write_text('{"input": "old", "split": "test"}\n')
    source = str(otlp(tmp_path, "old", "new"))

    assert run_command(["import", source, "-o", "rows.jsonl"]) != 0
    assert run_command(["import", source, "-o", "rows.jsonl", "--append", "--json"]) == 0
    told = json.loads(capfd.readouterr().out)
    assert run_command(["import", source, "-o", "rows.jsonl", "--append"]) == 0
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]

    assert told["rows"] == 1
    assert told["left_out"] == {"there already": 1}
    assert [(row["input"], row["split"]) for row in rows] == [("old", "test"), ("new", "train")]


def test_items_of_the_projects_test_split_do_not_come_in_again(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    Path("burnish.toml").write_text(
        '[agent]\nmodel = "scripted/echo"\nsections = { user = "{{text}}" }\n'
        '[suite]\ndataset = "known.csv"\nsplit = "field"\n'
        'scorers = [{ kind = "exact_match", field = "text" }]\n'
    )
    Path("known.csv").write_text("text,split\nasked in the test,test\nasked in training,train\n")
    source = str(otlp(tmp_path, "Asked in  the test", "asked in training", "never asked"))

    assert run_command(["import", source, "-o", "new.jsonl", "--json"]) == 0

    assert json.loads(capfd.readouterr().out)["left_out"] == {"in the test split": 1}
    assert "in  the test" not in Path("new.jsonl").read_text()


def test_a_project_on_stored_rows_keeps_its_test_split_out_too(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    rows = [{"text": "asked in the test", "split": "test"}, {"text": "other", "split": "train"}]

    async def store():
        async with Workspace.open(".burnish/burnish.db") as workspace:
            await store_rows(workspace, Dataset.of(rows, name="kept"))

    asyncio.run(store())
    Path("burnish.toml").write_text(
        '[agent]\nmodel = "scripted/echo"\nsections = { user = "{{text}}" }\n'
        '[suite]\ndataset = "stored:kept"\nsplit = "field"\n'
        'scorers = [{ kind = "exact_match", field = "text" }]\n'
    )
    source = str(otlp(tmp_path, "asked in the test", "never asked"))

    assert run_command(["import", source, "-o", "new.jsonl", "--json"]) == 0

    assert json.loads(capfd.readouterr().out)["left_out"] == {"in the test split": 1}


def test_items_of_the_test_split_are_known_as_they_were_redacted_and_by_their_trace(
    tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    Path("burnish.toml").write_text(
        '[agent]\nmodel = "scripted/echo"\nsections = { user = "{{input}}" }\n'
        '[suite]\ndataset = "known.jsonl"\nsplit = "field"\n'
        'scorers = [{ kind = "exact_match", field = "output" }]\n'
    )
    source = str(otlp(tmp_path, "write to ann@example.org", '{"a": {"b": [1]}, "c": 2}', "third"))
    assert run_command(["import", source, "-o", "known.jsonl"]) == 0
    rows = [json.loads(line) for line in Path("known.jsonl").read_text().splitlines()]
    # The third was worded anew by hand; only its trace tells.
    rows[2]["input"] = "another wording"
    Path("known.jsonl").write_text(
        "".join(json.dumps({**row, "split": "test"}) + "\n" for row in rows)
    )
    capfd.readouterr()

    assert run_command(["import", source, "-o", "new.jsonl", "--json"]) == 0

    told = json.loads(capfd.readouterr().out)
    assert (told["rows"], told["left_out"]) == (0, {"in the test split": 3})


def test_what_is_added_to_a_split_dataset_is_never_in_its_test_split(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("burnish.toml").write_text(
        '[agent]\nmodel = "scripted/echo"\nsections = { user = "{{input}}" }\n'
        '[suite]\ndataset = "rows.jsonl"\nsplit = { train = 0.3, validation = 0.3, test = 0.4 }\n'
        'scorers = [{ kind = "exact_match", field = "input" }]\n'
    )
    first, later = tmp_path / "first", tmp_path / "later"
    for folder, texts in ((first, range(20)), (later, range(50, 90))):
        folder.mkdir()
        otlp(folder, *(f"question {n}" for n in texts))
    assert run_command(["import", str(first / "traces.json"), "-o", "rows.jsonl"]) == 0
    before = splits_of("burnish.toml")
    text = (later / "traces.json").read_text().replace('"traceId": "t', '"traceId": "u')
    (later / "traces.json").write_text(text)

    source = str(later / "traces.json")
    assert run_command(["import", source, "-o", "rows.jsonl", "--append"]) == 0

    after = splits_of("burnish.toml")
    assert sorted(before.values()).count("test") == 8
    assert {key: after[key] for key in before} == before
    assert {after[key] for key in after.keys() - before.keys()} == {"train"}
    assert len(after) == 60


def splits_of(config):
    suite = build_suite(load_settings(Path(config)).suite_spec(), lambda *_: ScriptedModel([""]))
    return dict(suite.splits())


def test_options_for_traces_are_refused_for_test_cases(tmp_path, capfd):
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"input": "q", "target": "a"}\n')

    assert run_command(["import", str(cases), "--where", "error"]) == 2
    assert "for traces" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"resourceSpans": []}', TraceKind.OTLP),
        ('[{"context": {"trace_id": "1"}, "attributes": {}}]', TraceKind.OPENINFERENCE),
        ('[{"context.trace_id": "1", "attributes.input.value": "x"}]', TraceKind.OPENINFERENCE),
        ('{"trace": {"id": "1"}, "spans": []}', TraceKind.OPIK),
        ('[{"id": "1", "input": {}, "feedback_scores": []}]', TraceKind.OPIK),
        ('[{"id": "1", "input": "q", "observations": []}]', TraceKind.LANGFUSE),
        ('{"data": [{"id": "o", "traceId": "t", "input": "q"}]}', TraceKind.LANGFUSE),
        ('[{"input": "q", "target": "a"}]', None),
        ("not JSON", None),
    ],
)
def test_the_tool_shows_in_the_content(tmp_path, text, kind):
    path = tmp_path / "file.json"
    path.write_text(text)

    assert guess_trace_kind(path) is kind


def test_spans_in_columns_and_messages_in_parts_are_put_together(tmp_path):
    path = tmp_path / "spans.json"
    span = {
        "context.trace_id": "0xabc",
        "context.span_id": "1",
        "name": "chat",
        "attributes.llm.input_messages.0.message.role": "user",
        "attributes.llm.input_messages.0.message.content": "first",
        "attributes.llm.input_messages.1.message.role": "assistant",
        "attributes.llm.input_messages.1.message.content": "second",
        "attributes.output.value": '{"answer": "third"}',
        "status_code": "ERROR",
        "status_message": "cut",
        "annotations": [{"name": "tone", "result": {"label": "rude", "explanation": "shouts"}}],
    }
    path.write_text(json.dumps([span]))

    (row,) = (one.to_row() for one in read_traces(path, TraceKind.OPENINFERENCE))

    assert row["id"] == "abc"
    assert row["input"] == "User: first\n\nAssistant: second"
    assert row["output"] == "third"
    assert row["feedback"] == {"tone": "rude"}
    assert (row["comment"], row["error"]) == ("shouts", "cut")


def test_odd_values_of_spans_are_taken_as_they_are(tmp_path):
    odd = [
        {"key": "input.value", "value": {"stringValue": "hello?"}},
        {"key": "count", "value": {"intValue": "many"}},
        {"key": "most", "value": {"intValue": "-9223372036854775808"}},
        {"key": "none", "value": {}},
        "no pair",
    ]
    spans = [
        {"traceId": "x", "spanId": "1", "startTimeUnixNano": "bad", "attributes": odd},
        {"traceId": "x", "spanId": "2", "attributes": "none", "status": {"code": 2}},
    ]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps([{"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}, 7]))

    (row,) = (one.to_row() for one in read_traces(path, TraceKind.OTLP))

    assert (row["input"], row["error"]) == ("hello?", "error")
    assert row["steps"][0]["attributes"] == {"count": "many", "most": -(2**63), "none": None}


@pytest.mark.parametrize("text", ['{"resourceSpans": []}', "[1, null]", ""])
def test_a_file_without_traces_says_so(tmp_path, text):
    path = tmp_path / "empty.json"
    path.write_text(text)

    with pytest.raises(UsageError, match="cannot be imported"):
        read_traces(path, TraceKind.OTLP)


def test_broken_json_is_named_with_its_line(tmp_path):
    path = tmp_path / "broken.json"
    path.write_text('{"resourceSpans": []}\n{"resourceSpans": [')

    with pytest.raises(UsageError, match="line 2"):
        read_traces(path, TraceKind.OTLP)


async def sent_to(db):
    """Two traces of production, and a run of a dataset's row, which is none."""
    async with Workspace.open(db) as workspace:
        texts = {"t1": "Where is it?", "t2": "Thanks!", "t3": "A row of a dataset"}
        await workspace.opik.put_traces(
            [
                {"id": key, "input": {"question": text}, "output": {"answer": "Soon."}}
                for key, text in texts.items()
            ]
        )
        await workspace.opik.put_spans(
            [{"id": "s1", "trace_id": "t1", "name": "model", "type": "llm", "model": "m"}]
        )
        score = {"id": "t1", "value": 0.2, "reason": "no date"}
        await workspace.opik.put_scores([OpikScore(trace_id="t1", name="helpful", document=score)])
        await workspace.opik.put_items(
            [OpikItem(id="i", experiment_id="e", item_id="row", trace_id="t3")]
        )


def test_what_opik_clients_sent_is_imported_without_an_export(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    source = ["import", "stored:opik", "--db", "here.db", "-o", "rows.jsonl"]
    assert run_command(source) != 0
    asyncio.run(sent_to("here.db"))

    assert run_command([*source, "--label", "helpful", "--json"]) == 0

    told = json.loads(capfd.readouterr().out)
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert (told["kind"], told["rows"]) == ("opik", 2)
    assert [row["input"] for row in rows] == ["Where is it?", "Thanks!"]
    first = rows[0]
    assert (first["output"], first["label"], first["comment"]) == ("Soon.", 0.2, "no date")
    assert first["steps"][0]["name"] == "model"
    assert first["source"] == {"tool": "opik", "trace": "t1", "time": None}
