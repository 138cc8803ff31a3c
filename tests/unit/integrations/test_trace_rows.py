"""Traces that become rows: which are picked, left out, drawn and redacted, and where they go."""

import asyncio
import json
from pathlib import Path

import pytest

from burnish.app.wiring import Workspace
from burnish.cli.invocation import run_command
from burnish.domain import UsageError
from burnish.domain.opik import OpikItem, OpikScore
from burnish.integrations.imports.traces import (
    Feedback,
    Selection,
    Trace,
    TraceKind,
    guess_trace_kind,
    read_traces,
    select_rows,
)


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
    [{"where": ["what is this?"]}, {"redact": ["("]}, {"sample": 0}, {"sample_by": "luck"}],
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
        assert "t2" in ids(alike, sample=2, sample_by="cluster", seed=seed)
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
    ],
)
def test_personal_data_is_taken_out_of_every_place(secret, shown):
    hidden = trace(
        1,
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
