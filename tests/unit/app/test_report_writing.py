"""Reports of real runs, from the database to the file."""

from __future__ import annotations

import re

import pytest

import burnish
from burnish.app.report.html import read_material
from burnish.app.report.html.material import Change
from burnish.app.report.html.page import write_report
from burnish.app.wiring import Workspace
from burnish.domain import BurnishError, OptimizationStatus, UnavailableError, UsageError
from burnish.testing.clocks import FakeClock
from burnish.testing.samples.optimizations import begin, make_record, make_trial

ROWS = [{"n": number, "label": "yes"} for number in range(30)]
SPLIT = {"train": 0.2, "validation": 0.4, "test": 0.4}


class Longer:
    """Adds a word to the best prompt so far."""

    name = "longer"

    def __init__(self, words=("alpha", "beta")):
        self._words = words

    def initialize(self, context):
        return burnish.OptimizerState(algorithm_data={"last": context.baseline_candidate_id})

    def propose(self, state, history, max_candidates):
        if state.generation >= len(self._words):
            return []
        parent = history.candidate(state.algorithm_data["last"])
        system = f"{parent.configuration.sections['system']} {self._words[state.generation]}"
        return [
            burnish.CandidateProposal(
                configuration=parent.configuration.with_sections({"system": system}),
                parent_candidate_ids=[parent.id],
                rationale="one more <word>",
            )
        ]

    def observe(self, state, results):
        return burnish.OptimizerState(
            generation=state.generation + 1, algorithm_data={"last": results[-1].candidate_id}
        )

    def should_stop(self, state, history):
        return burnish.StopDecision(should_stop=False)


def answer(configuration, item):
    words = len(configuration["sections"]["system"].split())
    return "yes" if item["n"] % 6 < words else "no"


async def optimize(db, run=answer, optimizer=None, split=SPLIT):
    return await burnish.optimize_async(
        agent=burnish.Agent(
            name="router", configuration={"sections": {"system": "Base {{n}}"}}, run=run
        ),
        suite=burnish.Suite(
            dataset=ROWS, scorers=[{"kind": "exact_match", "field": "label"}], split=split
        ),
        optimizer=optimizer or Longer(),
        budget=burnish.Budget(max_trials=5),
        seed=0,
        db=db,
    )


@pytest.fixture
def db(tmp_path):
    return str(tmp_path / "burnish.db")


async def test_a_finished_run_is_compared_on_held_out_items(db, tmp_path):
    done = await optimize(db)

    async with Workspace.open(db) as workspace:
        material = await read_material(workspace, done.optimization_id)
        path = await write_report(workspace, done.optimization_id, tmp_path / "report.html")

    assert material.items.held_out
    assert material.items.counts[Change.FIXED] == done.improvement.fixed
    assert material.items.counts[Change.BROKEN] == done.improvement.broken
    assert len(material.items.shown) == 12
    assert all(one.fields["label"] == "yes" for one in material.items.shown)
    html = path.read_text()
    assert "<ins>" in html
    assert "one more &lt;word&gt;" in html
    row = re.search(r'<tr id="c2".*?</tr>', html)[0]
    assert '<a href="#c1">1</a>' in row


async def test_without_a_test_split_the_items_of_the_search_are_compared(db):
    done = await optimize(db, split=None)

    async with Workspace.open(db) as workspace:
        material = await read_material(workspace, done.optimization_id)

    assert not material.items.held_out
    assert sum(material.items.counts.values()) == 30


async def test_when_nothing_won_the_challenger_is_compared(db):
    def never(configuration, item):
        return "no" if "alpha" in configuration["sections"]["system"] else "yes"

    done = await optimize(db, run=never)

    async with Workspace.open(db) as workspace:
        material = await read_material(workspace, done.optimization_id)

    assert not done.improved
    assert material.subject.number == 1
    assert material.items.counts[Change.BROKEN] == 12


async def test_a_run_whose_baseline_failed_has_a_report(db, tmp_path):
    def broken(configuration, item):
        raise UnavailableError(what="no answer", why="nobody listens", fix="start it")

    with pytest.raises(BurnishError):
        await optimize(db, run=broken)

    async with Workspace.open(db) as workspace:
        [record] = await workspace.optimizations.list_optimizations()
        path = await write_report(workspace, record.id, tmp_path / "report.html")
    assert record.status is OptimizationStatus.FAILED
    assert "The optimization failed" in path.read_text()


async def test_a_run_in_progress_and_one_not_begun_have_reports(db, tmp_path):
    async with Workspace.open(db) as workspace:
        repository = workspace.optimizations
        lease = await begin(repository, candidates=2)
        await repository.save_status(lease, OptimizationStatus.RUNNING)
        # Its experiment was never stored: the trial is an orphan.
        await repository.save_trial(lease, make_trial(0))
        await repository.save_trial(lease, make_trial(1))
        await repository.create_optimization(make_record("o2"))

        running = await write_report(workspace, "o1", tmp_path / "running.html")
        new = await write_report(workspace, "o2", tmp_path / "new.html")

    assert "Not finished" in running.read_text()
    assert "There are no item results of two candidates to compare" in running.read_text()
    assert "Not started yet" in new.read_text()


async def test_two_reports_of_the_same_run_are_equal(db, tmp_path):
    done = await optimize(db)
    clock = FakeClock()

    async with Workspace.open(db) as workspace:
        paths = [
            await write_report(workspace, done.optimization_id, tmp_path / name, clock=clock)
            for name in ("a.html", "b.html")
        ]

    assert paths[0].read_bytes() == paths[1].read_bytes()


async def test_a_folder_is_not_overwritten_and_a_missing_one_not_made(db, tmp_path):
    (tmp_path / "folder").mkdir()

    async with Workspace.open(db) as workspace:
        with pytest.raises(UsageError, match="it is a folder"):
            await write_report(workspace, "o1", tmp_path / "folder")
        with pytest.raises(UsageError, match="there is no folder"):
            await write_report(workspace, "o1", tmp_path / "nowhere" / "report.html")
        with pytest.raises(UsageError) as unknown:
            await write_report(workspace, "o1", tmp_path / "report.html")

    assert unknown.value.code == "not_found"
    assert list(tmp_path.glob("*.html")) == []
