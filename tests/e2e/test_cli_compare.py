"""Experiments and optimizations compared by id, by name and against a file without a database."""

import json
import shutil

import pytest
from optimize_project import make_project


@pytest.fixture
def project(here, tmp_path):
    project = make_project(tmp_path / "p")
    here.run(project, "eval", "--name", "before")
    here.run(project, "eval", "--name", "after", "--section", "system=Say which label it is.")
    return project


def test_two_stored_experiments_are_compared_by_name(here, project):
    found = here.document(project, "compare", "before", "after")

    assert (found["a"]["name"], found["b"]["name"]) == ("before", "after")
    assert found["items"] == 60
    assert found["delta"] == pytest.approx(found["b"]["score"] - found["a"]["score"])
    assert len(found["changed"]) == found["improved"] + found["worsened"]
    text = here.out(project, "compare", "before", "after")
    assert "b against a on 60 items" in text
    assert "Say which label it is." in text
    here.run(project, "compare", "after", "before", "--fail-on-regression", code=1)


def test_an_optimization_is_compared_by_its_best_on_held_out_items(here, project):
    run = here.document(project, "optimize", "--max-trials", "2", "--name", "search")

    found = here.document(project, "compare", "before", "search")

    assert found["items"] == run["improvement"]["items"] == 24
    assert found["delta"] == pytest.approx(run["improvement"]["delta"])


def test_ci_compares_with_a_file_and_needs_no_database_of_before(here, project):
    here.run(project, "export", "after", "-f", "json", "-o", "baseline.json")
    stored = here.document(project, "compare", "after", "before")
    shutil.rmtree(project / ".burnish")

    command = ("eval", "--baseline", "baseline.json", "--fail-on-regression")
    found = here.document(project, *command, code=1)

    assert found["baseline"]["delta"] == stored["delta"]
    assert found["baseline"]["p_value"] == stored["p_value"]
    assert found["gates"][0]["passed"] is False


def test_a_name_is_a_baseline_and_latest_is_one_thing(here, project):
    assert here.document(project, "eval", "--baseline", "before")["baseline"]["delta"] == 0
    run = here.document(project, "optimize", "--max-trials", "1")["optimization_id"]

    assert here.document(project, "show", "latest")["optimization_id"] == run
    assert json.loads(here.out(project, "export", "latest", "-f", "json"))["optimization_id"] == run
    assert run in here.out(project, "export", "latest", "-f", "markdown")
    evaluation = here.document(project, "eval")["experiment_id"]
    exported = json.loads(here.out(project, "export", "latest", "-f", "json"))
    assert exported["experiment"]["id"] == evaluation
    assert f"burnish export {run}" in here.err(project, "export", "latest", "-f", "patch", code=2)
