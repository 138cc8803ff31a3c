"""Opik's words into ours: prompts, results, ids."""

import uuid

import pytest

from burnish.domain import Configuration, ErrorKind
from burnish.domain.opik import OpikItem, OpikRun, OpikScore
from burnish.integrations.opik.experiments import configuration_of
from burnish.integrations.opik.mirror.documents import made_id, usable_id
from burnish.integrations.opik.projection import result_of

ITEM = OpikItem(id="i", experiment_id="e", item_id="row", trace_id="t")


def message(role, content):
    return {"role": role, "content": content}


@pytest.mark.parametrize(
    ("metadata", "sections"),
    [
        ({}, {}),
        ({"configuration": {"prompt": {"p": [message("system", "S")]}}}, {"system": "S"}),
        (
            {"configuration": {"prompt": [message("user", "A"), message("user", ["B", 1])]}},
            {"user": "A", "user_2": '["B", 1]'},
        ),
        (
            {"configuration": {"prompt": {"a b": [message("user", "A")], "2": "B"}}},
            {"a_b.user": "A", "_2.prompt": "B"},
        ),
        ({"agent_config": {"system": "S", "user": "U"}}, {"system": "S", "user": "U"}),
        ({"agent_config": {"messages": [message("user", "U")]}}, {"user": "U"}),
        ({"configuration": {"anything": [1]}}, {"configuration": '{"anything": [1]}'}),
        ({"configuration": {"prompt": {"p": [message(None, None), 7]}}}, {"prompt": ""}),
    ],
)
def test_prompts_become_sections(metadata, sections):
    assert configuration_of(metadata).sections == sections


def test_settings_of_the_model_become_parameters():
    found = configuration_of(
        {
            "agent_config": {"system": "S", "model": "m", "tools": [], "optimizer": "O"},
            "optimizer_metadata": {"model_parameters": {"temperature": 0.25}},
        }
    )

    assert found.parameters == {"model": "m", "temperature": 0.25}


def test_a_configuration_of_ours_comes_back_as_it_was():
    ours = Configuration.of(
        {"sections": {"system": "S"}, "parameters": {"t": 1}, "examples": [{"q": "a"}]}
    )

    assert configuration_of({"configuration": ours.to_json()}).hash == ours.hash


def test_a_configuration_that_cannot_be_is_shown_as_text():
    odd = {"agent_config": {"system": "S", "x": {"\u00e9": 1, "e\u0301": 2}}}

    assert "S" in configuration_of(odd).sections["configuration"]


def scores(**values):
    return [OpikScore(trace_id="t", name=name, document={"value": v}) for name, v in values.items()]


def result(run, *, finished=True):
    return result_of(run, repeat=0, item_hash="h", objective="goal", finished=finished)


def test_the_objectives_score_counts_and_else_the_mean():
    named = result(OpikRun(item=ITEM, scores=scores(goal=0.5, other=1)))
    unnamed = result(OpikRun(item=ITEM, scores=scores(a=0.5, b=1, broken=None)))

    assert (named.score, unnamed.score) == (0.5, 0.75)
    assert [one.error is None for one in unnamed.scores] == [True, True, False]


def test_without_a_score_it_waits_until_the_end():
    waiting = OpikRun(item=ITEM, trace={"id": "t", "output": "text"})

    assert result(waiting, finished=False) is None
    ended = result(waiting)
    assert (ended.error.kind, ended.output.text, ended.passed) == (ErrorKind.SCORER, "text", False)


def test_a_kind_of_error_of_ours_comes_back_as_it_was():
    info = {"exception_type": "timeout", "message": "too slow", "traceback": ""}

    error = result(OpikRun(item=ITEM, trace={"id": "t", "error_info": info})).error

    assert (error.kind, error.message) == (ErrorKind.TIMEOUT, "too slow")


def test_traces_are_shown_within_bounds_and_in_a_tree():
    spans = [
        {"id": str(n), "parent_span_id": str(n - 1), "name": "x" * 30_000, "start_time": f"{n:04}"}
        for n in range(300)
    ]
    spans += [{"id": "loop", "parent_span_id": "loop", "name": "itself"}]

    trace = result(OpikRun(item=ITEM, trace={"id": "t"}, spans=spans)).output.trace

    assert trace["spans_left_out"] == 101
    assert len(trace["spans"][0]["name"]) <= 20_001
    depth, at = 0, trace
    while at.get("spans"):
        depth, at = depth + 1, at["spans"][0]
    assert depth >= 100


@pytest.mark.parametrize("identity", ["r0", "1875f7ed-2bcc-475a-9d84-b7969f7d7ccb", "", "é\ud800"])
def test_made_ids_are_of_version_7_and_always_the_same(identity):
    made = usable_id(identity, "row", milliseconds=1_700_000_000_000)

    parsed = uuid.UUID(made)
    assert (parsed.version, parsed.variant) == (7, uuid.RFC_4122)
    assert parsed.int >> 80 == 1_700_000_000_000
    assert made == usable_id(identity, "row", milliseconds=1_700_000_000_000)
    assert made != usable_id(identity, "trace", milliseconds=1_700_000_000_000)
    assert usable_id(made, "row", milliseconds=0) == made
    assert made_id("a", "b", milliseconds=1) < made_id("a", "b", milliseconds=2)
