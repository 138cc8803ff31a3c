"""Runs of Opik's clients among our own: what is shown, whatever order it came in."""

import itertools

import pytest
from opik_world import (
    BETTER,
    FIRST,
    OBJECTIVE,
    OpikSender,
    experiment_body,
    new_id,
    run_bodies,
)
from serving_world import OPTIMIZATIONS, ServerThread, make_served_project, settings_of

PARTS = ("traces", "spans", "scores", "items")


@pytest.fixture(scope="module")
def opik(tmp_path_factory):
    project = make_served_project(tmp_path_factory.mktemp("opik"), items=4)
    with ServerThread(settings_of(project, execute=False)) as server, server.client() as client:
        yield OpikSender(client)


@pytest.fixture
def dataset():
    return f"tickets {new_id()}"


@pytest.fixture
def rows(opik, dataset):
    return opik.dataset(dataset)


@pytest.fixture
def run(opik, dataset, rows):
    return opik.optimization(dataset)


def scored(rows, *values):
    return dict(zip(rows, values, strict=True))


def numbers(trials):
    return [(one["number"], one["type"], one["status"], one["score"]) for one in trials]


def test_a_run_shows_with_trials_items_scores_and_prompts(opik, dataset, rows, run):
    opik.trial(run, dataset, scored(rows, 1, 0, 0, 0))
    opik.trial(run, dataset, scored(rows, 1, 1, 1, 0), BETTER)
    opik.end(run)

    view = opik.view(run)
    listed = opik.client.get(OPTIMIZATIONS, params={"q": run}).json()["items"]
    assert [one["optimization_id"] for one in listed] == [run]
    assert (view["status"], view["objective"]) == ("completed", OBJECTIVE)
    assert view["optimizer"] == "GepaOptimizer"
    assert view["by_client"] is True
    again = opik.client.post(f"{OPTIMIZATIONS}/{run}/resume")
    assert (again.status_code, again.json()["code"]) == (422, "run_by_opik_client")
    counted = {"proposed": 1, "completed": 1, "running": 0, "failed": 0, "cancelled": 0}
    log = opik.client.get(
        f"{OPTIMIZATIONS}/{run}/event-log", params={"type": "progress_changed", "newest": True}
    ).json()
    assert counted.items() <= log["items"][0]["payload"].items()
    assert counted.items() <= view["counters"].items()
    assert (view["baseline_score"], view["best_score"], view["trials"]) == (0.25, 0.75, 1)
    assert view["baseline"]["configuration"]["sections"] == FIRST
    assert view["best"]["configuration"]["sections"] == BETTER
    assert view["best"]["configuration"]["parameters"] == {"model": "openai/scripted"}
    assert numbers(opik.trials(run)) == [
        (0, "trial", "completed", 0.25),
        (1, "trial", "completed", 0.75),
    ]
    items = opik.items(run, view["best_candidate_id"])
    assert {one["item_id"]: one["score"] for one in items} == scored(rows, 1, 1, 1, 0)
    failed = next(one for one in items if not one["passed"])
    assert failed["input"] == {"ticket": "ticket 3", "label": "billing"}
    assert failed["output"]["text"] == "no idea"
    assert [(one["name"], one["reason"]) for one in failed["scores"]] == [
        (OBJECTIVE, "it is billing")
    ]
    task = failed["output"]["trace"]["spans"][0]
    assert (task["name"], task["spans"][0]["name"]) == ("llm_task", "completion")
    assert failed["latency_ms"] == 250
    assert view["usage"]["input_tokens"] == 80


def test_any_order_comes_to_the_same(opik, dataset, rows, run):
    orders = list(itertools.permutations(PARTS))
    for order in orders:
        experiment = opik.experiment(run, dataset, {"system": " ".join(order)})
        opik.run(experiment, scored(rows, 1, 0, 0, 0), parts=order)
        opik.finish(experiment)

    trials = opik.trials(run)
    assert [one["score"] for one in trials] == [0.25] * len(orders)
    for one in trials:
        items = opik.items(run, one["candidate_id"])
        assert [len(item["output"]["trace"]["spans"]) for item in items] == [1] * 4


def test_what_comes_before_the_experiment_and_after_its_end_counts_too(opik, dataset, rows, run):
    experiment = opik.experiment(run, dataset)
    bodies = run_bodies(experiment, scored(rows, 1, 1, 0, 0))
    early = new_id()
    before = run_bodies(early, scored(rows, 1, 1, 1, 1))
    for part in PARTS:
        opik.send(*before[part])
    opik.send(*bodies["items"])
    opik.finish(experiment)
    unscored = opik.trials(run)[0]
    for part in ("scores", "spans", "traces"):
        opik.send(*bodies[part])

    late = experiment_body(run, dataset, BETTER, "trial", {}) | {"id": early}
    opik.send("POST", "experiments", late)
    opik.finish(early)

    assert (unscored["score"], unscored["failed"]) == (0.0, 4)
    assert numbers(opik.trials(run)) == [
        (0, "trial", "completed", 0.5),
        (1, "trial", "completed", 1.0),
    ]
    assert opik.view(run)["best_score"] == 1.0


def test_said_twice_it_counts_once(opik, dataset, rows, run):
    experiment = opik.experiment(run, dataset)
    body = {"id": experiment, "dataset_name": dataset, "type": "trial", "optimization_id": run}
    bodies = opik.run(experiment, scored(rows, 1, 1, 0, 0))
    opik.finish(experiment)
    opik.end(run)
    before = (
        opik.view(run),
        opik.trials(run),
        opik.items(run, opik.trials(run)[0]["candidate_id"]),
    )

    opik.optimization(dataset, id=run, status="completed")
    opik.send("POST", "experiments", body)
    for part in bodies.values():
        opik.send(*part)
    opik.finish(experiment)
    opik.end(run)

    view, trials, items = before
    assert opik.trials(run) == trials
    assert opik.items(run, trials[0]["candidate_id"]) == items
    assert opik.view(run) | {"updated_at": 0} == view | {"updated_at": 0}


def test_a_missing_score_is_a_failed_item_and_an_error_says_what_it_was(opik, dataset, rows, run):
    experiment = opik.experiment(run, dataset)
    bodies = run_bodies(experiment, scored(rows, 1, 1, None, None))
    error = {"exception_type": "ValueError", "message": "no such label", "traceback": ""}
    bodies["traces"][2]["traces"][3]["error_info"] = error
    for part in PARTS:
        opik.send(*bodies[part])
    running = opik.view(run)["items"]["finished"]
    opik.finish(experiment)

    trial = opik.trials(run)[0]
    errors = [one["error"] for one in opik.items(run, trial["candidate_id"])]
    assert running == 3  # What may still be scored is waited for.
    assert (trial["score"], trial["items"], trial["failed"]) == (0.5, 4, 2)
    assert errors[:2] == [None, None]
    assert errors[2]["kind"] == "scorer"
    assert (errors[3]["kind"], errors[3]["message"]) == ("agent", "ValueError: no such label")


def test_mini_batches_belong_to_their_prompt_and_are_never_best(opik, dataset, rows, run):
    opik.trial(run, dataset, scored(rows, 1, 0, 0, 0))
    opik.trial(run, dataset, {rows[0]: 1}, BETTER, kind="mini-batch")
    opik.trial(run, dataset, {rows[0]: 1}, {"system": "Other."}, kind="mutation")
    opik.trial(run, dataset, scored(rows, 1, 1, 0, 0), BETTER)
    again = opik.trial(run, dataset, scored(rows, 1, 1, 0, 1), BETTER)

    assert numbers(opik.trials(run)) == [
        (0, "trial", "completed", 0.25),
        (1, "trial", "completed", 0.5),
        (1, "mini-batch", "completed", 1.0),
        (2, "mini-batch", "completed", 1.0),
        (3, "trial", "completed", 0.75),
    ]
    view = opik.view(run)
    assert (view["best"]["number"], view["best_score"]) == (3, 0.75)
    assert opik.send("GET", f"experiments/{again}").json()["type"] == "trial"


def test_lineage_is_kept_where_it_is_sent_and_not_made_up_where_it_is_not(opik, dataset, rows, run):
    whole = scored(rows, 1, 0, 0, 0)
    opik.trial(run, dataset, whole, candidate_id="root")
    opik.trial(run, dataset, whole, {"system": "2"}, candidate_id="c2", parent_ids=["root"])
    child = {"candidate_id": "c3", "parent_candidate_ids": ["c2", "c9"], "rationale": "merged"}
    opik.trial(run, dataset, whole, {"system": "3"}, **child)
    silent = opik.optimization(dataset)
    opik.trial(silent, dataset, whole)
    opik.trial(silent, dataset, whole, BETTER)

    nodes = opik.ours(run, "/graph")["nodes"]
    assert [(one["id"], one["step_index"]) for one in nodes] == [("root", 0), ("c2", 1), ("c3", 2)]
    assert [one["parent_candidate_ids"] for one in nodes] == [[], ["root"], ["c2", "c9"]]
    assert opik.ours(run, "/points")["columns"]["parents"] == [[], [0], [1]]
    assert opik.view(run)["baseline"]["candidate_id"] == "root"
    # From this the UI tells that lineage was not sent.
    assert opik.ours(silent, "/points")["columns"]["parents"] == [[], []]
    assert opik.ours(silent, "/graph")["edges"] == []


def test_repeats_of_a_row_are_told_apart(opik, dataset, rows, run):
    experiment = opik.experiment(run, dataset)
    opik.run(experiment, {rows[0]: 1})
    opik.run(experiment, {rows[0]: 0})
    opik.finish(experiment)

    items = opik.items(run, opik.trials(run)[0]["candidate_id"])
    assert [(one["repeat"], one["score"]) for one in items] == [(0, 1.0), (1, 0.0)]


def test_statuses_are_those_of_both_worlds(opik, dataset, rows, run):
    def stands():
        told = opik.send("GET", f"optimizations/{run}").json()
        return told["status"], opik.view(run)["status"]

    failed = opik.optimization(dataset, status="initialized")
    assert opik.view(failed)["status"] == "initialized"
    assert stands() == ("running", "running")
    assert opik.view(run)["owned"] is True
    opik.end(run)
    assert stands() == ("completed", "completed")
    opik.end(failed, "error", error_info={"exception_type": "KeyError", "message": "'label'"})
    view = opik.view(failed)
    assert (view["status"], view["framework_error"]["message"]) == ("failed", "KeyError: 'label'")
    assert opik.send("GET", f"optimizations/{failed}").json()["status"] == "error"
    opik.send("PUT", f"optimizations/{run}", {"status": "paused"}, status=422)


def test_who_cancels_here_has_the_last_word(opik, dataset, rows, run):
    experiment = opik.experiment(run, dataset)
    cancelled = opik.client.post(f"{OPTIMIZATIONS}/{run}/cancel")
    told = opik.send("GET", f"optimizations/{run}").json()["status"]
    opik.run(experiment, scored(rows, 1, 1, 1, 1))
    opik.finish(experiment)
    opik.end(run)

    assert cancelled.status_code == 202
    assert told == "cancelled"
    assert opik.view(run)["status"] == "cancelled"


def test_a_clients_run_is_not_resumed_here_and_our_own_is_not_written_by_a_client(opik, run):
    refused = opik.client.post(f"{OPTIMIZATIONS}/{run}/resume")
    ours = opik.client.post(OPTIMIZATIONS, json={"start": False}).json()["optimization_id"]

    assert (refused.status_code, refused.json()["code"]) == (422, "run_by_opik_client")
    opik.send("PUT", f"optimizations/{ours}", {"status": "completed"}, status=409)
    opik.send("GET", f"optimizations/{ours}", status=409)
    body = {"id": new_id(), "dataset_name": "x", "type": "trial", "optimization_id": ours}
    opik.send("POST", "experiments", body, status=409)


def test_an_experiment_without_an_optimization_stands_by_itself(opik, dataset, rows):
    alone = opik.trial(None, dataset, scored(rows, 1, 1, 1, 0), kind="regular")

    told = opik.send("GET", f"experiments/{alone}").json()
    shown = opik.client.get("/v1/private/evaluations", params={"limit": 5})
    assert (told["status"], told["dataset_name"], told["trace_count"]) == ("completed", dataset, 4)
    assert shown.status_code == 200
