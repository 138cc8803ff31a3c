"""Stored results by id: what a call returned is there again in another program."""

import pytest
from tests.support.image_samples import make_request

import burnish
from burnish.app.wiring import Workspace
from burnish.domain import UsageError

ROWS = [{"q": f"q{n}", "label": "x" if n % 2 else "y"} for n in range(8)]
SUITE = burnish.Suite(dataset=ROWS, scorers=[{"kind": "exact_match", "field": "label"}])
AGENT = burnish.Agent(
    name="a",
    configuration={"sections": {"system": "Say it in one word.", "user": "{{q}}"}},
    run=lambda configuration, item: "x",
)


def test_an_evaluation_and_an_optimization_come_back_as_they_were(tmp_path):
    db, budget = tmp_path / "b.db", burnish.Budget(max_trials=2)
    scored = burnish.evaluate(AGENT, SUITE, db=db)
    found = burnish.optimize(AGENT, SUITE, "edits", budget, seed=1, db=db)

    again = burnish.load(scored.experiment_id, db=db)
    latest = burnish.load(db=db)

    assert again == scored
    assert again.to_dicts() == scored.to_dicts()
    assert isinstance(latest, burnish.OptimizationResult)
    assert latest.to_json() == found.to_json()
    assert latest.rows == found.rows
    assert burnish.load(found.optimization_id[-8:], db=db).optimization_id == found.optimization_id


async def test_a_trial_is_an_evaluation_too(tmp_path):
    db, budget = tmp_path / "b.db", burnish.Budget(max_trials=1)
    found = await burnish.optimize_async(AGENT, SUITE, "edits", budget, seed=1, db=db)

    trial = await burnish.load_async(found.rows[0]["experiment_id"], db=db)

    assert (trial.score, len(trial.rows)) == (found.baseline.score, 8)


def test_a_compression_of_python_comes_back_as_its_optimization(tmp_path):
    db = tmp_path / "b.db"
    made = burnish.compress(AGENT, SUITE, burnish.Budget(max_trials=2), seed=1, db=db)

    again = burnish.load(made.report.optimization_id, db=db)

    assert again.to_json() == made.result.to_json()


async def test_an_image_run_comes_back_by_its_whole_id(tmp_path):
    async with Workspace.open(str(tmp_path / "b.db")) as workspace:
        await workspace.images.ensure_project(make_request().project_id)
        made = await workspace.images.create_run("run-1", make_request())

    assert (await burnish.load_async("run-1", db=tmp_path / "b.db")) == made


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(UsageError, match="nothing is stored here yet"):
        burnish.load(db=tmp_path / "none.db")
    assert list(tmp_path.iterdir()) == []
    burnish.evaluate(AGENT, SUITE, db=tmp_path / "b.db")
    with pytest.raises(UsageError, match="none has the name .abcdef. or an id"):
        burnish.load("abcdef", db=tmp_path / "b.db")
