"""What loops say to one another survives the journey, and nothing else is let in."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

import burnish
from burnish.domain import ErrorKind, ExperimentContext, Item
from burnish.optimizers.compress.report import Modification, RejectedModification
from burnish.overrides import descriptor_of
from burnish.runtime import (
    MESSAGE_TYPES,
    EvalRequest,
    EvalResult,
    MainLoopRequest,
    MainLoopResult,
    OptimizationReport,
    OptimizeRequest,
    OptimizeResult,
)
from burnish.runtime.mailboxes.message_types import Packed, UndecodableError

EXPERIMENT = ExperimentContext(
    id="e", name="n", overrides_tag="t", parent_tag="p", flags={"a": True, "b": False}
)
ITEM = Item(id="i", data={"text": "é", "deep": [1, {"x": None}]}, split="test")
SPENT = burnish.Spending.on(
    burnish.Purpose.AGENT, burnish.Usage(calls=1, input_tokens=2, output_tokens=3, cost_usd=None)
)
DESCRIPTOR = descriptor_of("router", {"sections": {"system": "Route.", "user": "{{text}}"}})
MAIN = MainLoopRequest(
    request={"text": "x"},
    budget=burnish.Budget(max_tokens=5),
    deadline=datetime.now(UTC),
    experiment=EXPERIMENT,
)
EVAL = EvalRequest(sample=ITEM, experiment=EXPERIMENT, repeat=2)
OPTIMIZE = OptimizeRequest(
    descriptor=DESCRIPTOR,
    dataset=(ITEM,),
    baseline_tag="base",
    flags={"a": True},
    settings={"lines": False},
    budget=burnish.Budget(max_evaluations=9),
    seed=3,
)
REPORT = OptimizationReport(
    experiment_id="o",
    prompt_ns="agents",
    prompt_key="router",
    baseline_tag="base",
    baseline_revision="r1",
    baseline_pass_rate=0.5,
    modifications=(
        Modification(
            section_path="system",
            original_hash="h",
            proposed_body="b",
            token_reduction=4,
            baseline_pass_rate=0.5,
            candidate_pass_rate=1.0,
            edits=("e",),
        ),
    ),
    rejected=(
        RejectedModification(
            section_path="system",
            edit="x",
            token_reduction=1,
            regression_count=1,
            reason="r",
            item_ids=("i",),
        ),
    ),
    held_out={"baseline_score": 1.0},
)
MESSAGES = [
    MAIN,
    MainLoopRequest(request={}),
    MainLoopResult(
        request_id=MAIN.request_id,
        output=burnish.AgentOutput(text="t", data={"a": [1]}),
        usage=SPENT,
        exceeded="max_tokens",
        stale=("system",),
    ),
    MainLoopResult(request_id=MAIN.request_id, error="no", error_kind=ErrorKind.TIMEOUT),
    EVAL,
    EvalResult(
        request_id=EVAL.request_id,
        sample_id="i",
        score=burnish.Score(0.5, passed=True, reason="half"),
        scores=(burnish.Score(0.5, name="s"),),
        output=burnish.AgentOutput(text="t"),
        usage=SPENT,
    ),
    OPTIMIZE,
    OptimizeResult(request_id=OPTIMIZE.request_id, report=REPORT),
    OptimizeResult.failed(OPTIMIZE, "why"),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda one: type(one).__name__)
def test_a_message_is_the_same_after_its_journey(message):
    assert MESSAGE_TYPES.decode(MESSAGE_TYPES.encode(message)) == message


@pytest.mark.parametrize(
    ("message", "field", "value"),
    [
        (MAIN, "request", ["not", "fields"]),
        (MAIN, "deadline", "2026-01-01T00:00:00"),
        (MAIN, "budget", {"max_tokens": -1}),
        (MAIN, "budget", {"unknown": 1}),
        (MAIN, "request_id", "x"),
        (MAIN, "experiment", {"id": 1, "name": "", "overrides_tag": "t"}),
        (EVAL, "sample", {"id": 3, "data": {}}),
        (EVAL, "repeat", True),
        (OPTIMIZE, "flags", {"a": "yes"}),
        (OPTIMIZE, "dataset", [{"data": {}}]),
        (OPTIMIZE, "descriptor", {"namespace": "../x", "key": "k", "sections": []}),
        (OPTIMIZE, "eval_runs", "3"),
    ],
)
def test_a_field_that_is_not_what_it_should_be_makes_it_unreadable(message, field, value):
    packed = MESSAGE_TYPES.encode(message)
    body = {**json.loads(packed.payload), field: value}

    with pytest.raises(UndecodableError):
        MESSAGE_TYPES.decode(Packed(packed.type, packed.version, json.dumps(body).encode()))


@pytest.mark.parametrize(
    ("held_out", "refuted"), [(None, False), ({"ci_high": -0.1}, True), ({"ci_high": None}, False)]
)
def test_held_out_items_can_refute_a_report(held_out, refuted):
    assert replace(REPORT, held_out=held_out).refuted is refuted


def test_the_report_adds_up():
    assert REPORT.has_modifications
    assert REPORT.total_token_reduction == 4
