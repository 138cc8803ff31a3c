"""Experiments and optimizations are found by id, by its beginning or end, or as the latest."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from burnish.app import references
from burnish.app.references import (
    find_candidate,
    resolve,
    resolve_any,
    resolve_job,
    resolve_optimization,
)
from burnish.domain import (
    Candidate,
    Configuration,
    Experiment,
    ExperimentStatus,
    ExperimentType,
    OptimizationRecord,
    OptimizationStatus,
    UsageError,
)

IDS = ["0199-aaaa-1111", "0199-bbbb-2222", "0188-cccc-1111"]


def experiment(identifier, **changes):
    plain = Experiment(
        id=identifier,
        name="x",
        type=ExperimentType.REGULAR,
        status=ExperimentStatus.COMPLETED,
        agent_name="a",
        configuration=Configuration.of({}),
        suite_name="s",
        dataset_id=None,
        planned_items=None,
    )
    return replace(plain, **changes)


def optimization(identifier, **changes):
    plain = OptimizationRecord(
        id=identifier,
        name="x",
        status=OptimizationStatus.COMPLETED,
        objective_name="o",
        agent_name="a",
        suite_name="s",
        optimizer_name="edits",
        dataset_id=None,
        seed=0,
    )
    return replace(plain, **changes)


class Records:
    """Newest first, in pages, as the repositories give them."""

    def __init__(self, records):
        self.records = records
        self.scans = 0

    async def _page(self, *, limit, before=None, standalone=False):
        self.scans += 1
        chosen = [one for one in self.records if not (standalone and one.optimization_id)]
        ids = [one.id for one in chosen]
        start = ids.index(before) + 1 if before else 0
        return chosen[start : start + limit]

    async def _get(self, identifier):
        return next(one for one in self.records if one.id == identifier)

    list_experiments = list_optimizations = _page
    get_experiment = get_optimization = _get


def experiments(ids=IDS):
    return Records([experiment(one) for one in ids])


@pytest.fixture(autouse=True)
def small_pages(monkeypatch):
    monkeypatch.setattr(references, "_PAGE", 2)


@pytest.mark.parametrize(
    ("reference", "found"),
    [
        ("latest", IDS[0]),
        (IDS[1], IDS[1]),
        ("0188", IDS[2]),
        ("2222", IDS[1]),
        ("BBBB-2222", IDS[1]),
    ],
)
async def test_each_form_finds_the_one_that_is_meant(reference, found):
    optimizations = Records([optimization(one) for one in IDS])

    assert (await resolve(experiments(), reference)).id == found
    assert (await resolve_optimization(optimizations, reference)).id == found


async def test_an_unknown_one_points_to_the_list():
    for found in (resolve(experiments(), "7777"), resolve_optimization(Records([]), "7777")):
        with pytest.raises(UsageError) as caught:
            await found
        assert "burnish list" in caught.value.fix
        assert caught.value.exit_code == 2


async def test_an_ambiguous_one_names_the_candidates():
    with pytest.raises(UsageError) as caught:
        await resolve(experiments(), "1111")

    assert IDS[0] in caught.value.why
    assert IDS[2] in caught.value.why


@pytest.mark.parametrize("reference", ["latest", "x", " "])
async def test_without_experiments_every_reference_is_refused(reference):
    empty = SimpleNamespace(experiments=Records([]), optimizations=Records([]))
    for found in (
        resolve(empty.experiments, reference),
        resolve_optimization(empty.optimizations, reference),
        resolve_any(empty, reference),
    ):
        with pytest.raises(UsageError):
            await found


async def test_a_name_means_the_newest_of_that_name():
    stored = Records([experiment("e3", name="After"), *map(experiment, IDS)])
    stored.records[1:3] = [experiment(one, name="before", created_at="2") for one in IDS[:2]]
    runs = Records([optimization("o1", name="before", created_at="1")])
    workspace = SimpleNamespace(experiments=stored, optimizations=runs)

    assert (await resolve(stored, "Before")).id == IDS[0]
    assert (await resolve_optimization(runs, "before")).id == "o1"
    assert (await resolve_any(workspace, "before")).id == IDS[0], "the newer of both"
    assert (await resolve_any(workspace, "after")).id == "e3"


async def test_the_latest_experiment_is_no_trial():
    trials = [experiment(f"trial-{n}", optimization_id="o") for n in range(5)]

    found = await resolve(Records([*trials, experiment("mine")]), "latest")

    assert found.id == "mine"


@pytest.mark.parametrize(
    ("moment", "found"), [("2026-01-02", "0199-oooo-4444aaaa"), ("2026-01-04", IDS[0])]
)
async def test_the_latest_of_both_kinds_is_the_newer(moment, found):
    workspace = SimpleNamespace(
        experiments=Records([experiment(IDS[0], created_at=moment)]),
        optimizations=Records([optimization("0199-oooo-4444aaaa", created_at="2026-01-03")]),
    )

    assert (await resolve_any(workspace, "latest")).id == found


async def test_either_kind_is_found_and_what_both_have_is_ambiguous():
    workspace = SimpleNamespace(
        experiments=experiments(),
        optimizations=Records([optimization("0199-oooo-4444aaaa"), optimization("0188-pppp")]),
    )

    assert (await resolve_any(workspace, "2222")).id == IDS[1]
    assert (await resolve_any(workspace, "pppp")).id == "0188-pppp"
    assert (await resolve_any(workspace, IDS[0])).id == IDS[0]
    with pytest.raises(UsageError) as caught:
        await resolve_any(workspace, "0188")
    assert "0188-pppp" in caught.value.why
    assert IDS[2] in caught.value.why


async def test_a_short_id_of_an_optimization_needs_no_look_at_thousands_of_trials():
    workspace = SimpleNamespace(
        experiments=experiments(),
        optimizations=Records([optimization("0199-oooo-4444aaaa")]),
    )

    assert (await resolve_any(workspace, "4444aaaa")).id == "0199-oooo-4444aaaa"
    assert workspace.experiments.scans == 0


def candidates(number):
    return [
        Candidate(
            id=f"abcd-{n}",
            optimization_id="o",
            number=n,
            step_index=n,
            configuration=Configuration.of({}),
        )
        for n in range(number)
    ]


@pytest.mark.parametrize(
    ("reference", "number"),
    [("baseline", 0), ("best", 2), ("Best ", 2), ("1", 1), ("#1", 1), ("abcd-3", 3)],
)
def test_candidates_are_named_by_role_number_or_id(reference, number):
    record = optimization("o", best_candidate_id="abcd-2")

    assert find_candidate(record, candidates(4), reference).number == number


@pytest.mark.parametrize(("reference", "some"), [("9", 4), ("best", 4), ("baseline", 0), ("", 4)])
def test_an_unknown_candidate_is_refused(reference, some):
    with pytest.raises(UsageError) as caught:
        find_candidate(optimization("o"), candidates(some), reference)

    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("status", "found"),
    [(ExperimentStatus.COMPLETED, "run"), (ExperimentStatus.CANCELLED, "evaluation")],
)
async def test_an_evaluation_that_is_done_is_not_the_latest_job_where_there_is_a_run(status, found):
    evaluation = experiment("evaluation", status=status, created_at="2")
    run = optimization("run", created_at="1")
    workspace = SimpleNamespace(experiments=Records([evaluation]), optimizations=Records([run]))

    assert (await resolve_job(workspace, "latest")).id == found
    assert (await resolve_any(workspace, "latest")).id == "evaluation"
