"""Whatever text models and users wrote, a response can hold it; and rows are what models say."""

import json
from dataclasses import replace

import pytest

from burnish.app.report.runs.evidence import explanation_of
from burnish.app.report.runs.lines import line_of, python_call
from burnish.domain import (
    AgentOutput,
    ExperimentStatus,
    ExperimentType,
    OptimizationStatus,
    Score,
    Spending,
)
from burnish.domain.optimizations.pages import ItemLine, LineageNode, RunSpan, TrialLine
from burnish.domain.registry import CandidateLine, OptimizerRun, RunLine
from burnish.jobs import ownership
from burnish.server.http.responses import ready_json
from burnish.server.http.sse import encode_event
from burnish.server.optimizations.schemas import OptimizationLine
from burnish.server.optimizations.trial_schemas import (
    Graph,
    ItemView,
    RejectionView,
    TrialDetail,
    TrialView,
    graph_rows,
    trial_row,
)
from burnish.server.optimizers.schemas import CandidateView
from burnish.testing.samples.experiments import AWKWARD_TEXTS, make_result
from burnish.testing.samples.optimizations import (
    make_candidate,
    make_event,
    make_record,
    make_rejection,
    make_trial,
)


def line(text="t"):
    return TrialLine(
        number=1,
        slot="",
        candidate_id="o1-1",
        step_index=1,
        parent_candidate_ids=("o1-0",),
        rationale=text,
        experiment_id="e",
        type=ExperimentType.TRIAL,
        status=ExperimentStatus.COMPLETED,
        objective_score=0.5,
        total_items=2,
        passed_items=1,
        failed_items=1,
        pass_rate=0.5,
        total_cost=None,
        avg_latency_ms=1.0,
        avg_ttft_ms=None,
        avg_tokens=None,
        avg_cost_usd=None,
        error=text,
    )


def node(text="t"):
    return LineageNode(
        id="o1-1",
        number=1,
        step_index=1,
        parent_candidate_ids=("o1-0",),
        rationale=text,
        status=ExperimentStatus.PRUNED,
        score=None,
        experiment_id="e",
    )


def test_rows_are_what_the_models_say():
    row = json.loads(ready_json(trial_row(line())).body)
    graph = json.loads(ready_json(graph_rows([node()], "o1-1")).body)

    assert set(row) == set(TrialView.model_fields)
    assert TrialView.model_validate(row).model_dump(mode="json") == row
    assert Graph.model_validate(graph).model_dump(mode="json") == graph
    assert graph["nodes"][0]["best"] is True
    assert graph["edges"] == [{"source": "o1-0", "target": "o1-1"}]


@pytest.mark.parametrize("text", [*AWKWARD_TEXTS, "\ud800", "\udc00 \ud83d\ude42"])
def test_any_text_can_be_sent(text):
    result = make_result(
        text, output=AgentOutput(text=text), scores=(Score(1.0, reason=text, name=text),)
    )
    views = [
        ItemView.of(ItemLine(result=result, data={text: [text]}, split=text)),
        TrialDetail.of_candidate(make_candidate(1, rationale=text), make_trial(1, error=text)),
        OptimizationLine.of(
            line_of(make_record(name=text, agent_name=text), RunSpan(), Spending().to_json())
        ),
        RejectionView.read(make_rejection(message=text)),
    ]

    for view in views:
        view.model_dump_json().encode()
    for response in (ready_json(trial_row(line(text))), ready_json(graph_rows([node(text)], None))):
        json.loads(response.body)
    frame = encode_event("o1", make_event("k", text=text)).decode()
    assert frame.count("\n") == 3
    assert json.loads(frame.splitlines()[1].removeprefix("data: "))["payload"].keys() == {"text"}


@pytest.mark.parametrize(
    ("run_status", "trial", "state"),
    [
        ("running", None, "pending"),
        ("running", {"status": "running", "type": "mini-batch"}, "evaluating"),
        ("running", {"status": "completed", "type": "mini-batch"}, "evaluated"),
        ("completed", {"status": "completed", "type": "mini-batch"}, "rejected"),
        ("completed", {"status": "completed"}, "evaluated"),
        ("completed", {"status": "pruned"}, "rejected"),
        ("completed", {"status": "cancelled"}, "interrupted"),
        ("completed", {"status": "timeout"}, "interrupted"),
        ("completed", None, "rejected"),
        ("cancelled", {"status": "cancelled"}, "interrupted"),
        ("cancelled", None, "interrupted"),
        ("cancelled", {"status": "cancelled", "type": "mini-batch"}, "interrupted"),
        ("cancelled", {"status": "completed", "type": "mini-batch"}, "rejected"),
        ("failed", {"status": "running"}, "interrupted"),
    ],
)
def test_a_candidate_is_rejected_by_its_mini_batch_and_judged_by_nobody_who_was_stopped(
    run_status, trial, state
):
    made = trial and make_trial(
        1,
        status=ExperimentStatus(trial["status"]),
        type=ExperimentType(trial.get("type", "trial")),
        objective_score=0.25,
    )
    line = CandidateLine(candidate=make_candidate(1), trial=made, scores={"one": 0.5})
    run = OptimizerRun(
        id="o1",
        optimizer_id="x",
        agent_name="a",
        optimizer_name="o",
        optimizer_version=1,
        base_config_version=1,
        suite_id="s",
        suite_version=1,
    )
    record = make_record(status=OptimizationStatus(run_status))

    view = CandidateView.of(line, RunLine(run=run, record=record, scores={}))

    assert view.status == state
    if made:
        assert (view.score, view.items) == (0.25, made.summary.total_items)
        assert view.eval_run_id == made.experiment_id


def test_a_run_whose_owner_was_killed_is_interrupted_not_running():
    def shown(owner, status=OptimizationStatus.RUNNING):
        record = make_record(status=status, lease_owner=owner)
        return OptimizationLine.of(line_of(record, RunSpan(), Spending().to_json()))

    here = ownership.new_owner()
    killed = here.split("|")
    killed[4] = "0"  # no process of that number began then

    assert shown("|".join(killed)).state == "interrupted"
    assert shown(None).state == "interrupted"
    assert shown(here).state == "running"
    assert shown(None, OptimizationStatus.COMPLETED).state == "completed"


def test_a_run_of_python_says_which_call_goes_on_with_it():
    record = make_record(status=OptimizationStatus.RUNNING, lease_owner=None, spec={})
    compression = replace(record, optimizer_name="compress")
    queued = replace(record, spec={"settings": {}})

    assert python_call(record) == 'burnish.optimize(…, resume="o1")'
    assert python_call(compression) == 'burnish.compress(…, resume="o1")'
    assert python_call(queued) is None
    assert "burnish.optimize" in explanation_of(record, owned=False)
    assert "resume it" in explanation_of(queued, owned=False)
