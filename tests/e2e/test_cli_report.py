"""`burnish report` on a real run, in a process of its own."""

from __future__ import annotations

import json
import os

import pytest

import burnish

HOSTILE = "</script><img src=x onerror=alert(1)>"


class OneEdit:
    """Proposes a single better prompt."""

    name = "one edit"

    def initialize(self, context):
        return burnish.OptimizerState(
            algorithm_data={
                "parent": context.baseline_candidate_id,
                "base": context.baseline.to_json(),
            }
        )

    def propose(self, state, history, max_candidates):
        if state.generation:
            return []
        base = state.algorithm_data["base"]
        configuration = {**base, "sections": {"system": f"Be kind. {base['sections']['system']}"}}
        return [
            burnish.CandidateProposal(
                configuration=configuration,
                parent_candidate_ids=[state.algorithm_data["parent"]],
                rationale=HOSTILE,
            )
        ]

    def observe(self, state, results):
        return burnish.OptimizerState(generation=1, algorithm_data=state.algorithm_data)

    def should_stop(self, state, history):
        return burnish.StopDecision(should_stop=False)


def answer(configuration, item):
    kind = "kind" in configuration["sections"]["system"]
    return "yes" if kind or item["n"] % 2 else HOSTILE


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    done = burnish.optimize(
        agent=burnish.Agent(
            name="router", configuration={"sections": {"system": "Answer {{n}}"}}, run=answer
        ),
        suite=burnish.Suite(
            dataset=[{"n": number, "label": "yes"} for number in range(40)],
            scorers=[{"kind": "exact_match", "field": "label"}],
            split={"train": 0.2, "validation": 0.4, "test": 0.4},
        ),
        optimizer=OneEdit(),
        seed=0,
        db=folder / ".burnish" / "burnish.db",
    )
    return folder, done.optimization_id


@pytest.fixture
def report(commands):
    def run(*arguments, cwd, code=0):
        words = ["report", *map(str, arguments)]
        done = commands.run(words, cwd=cwd, env={**os.environ, "COLUMNS": "200"})
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        return done

    return run


def test_a_report_is_written_and_its_path_printed(report, project):
    folder, _ = project

    done = report("latest", "-o", "out.html", cwd=folder)

    assert f"wrote {folder / 'out.html'}" in done.stdout
    html = (folder / "out.html").read_text()
    assert html.startswith("<!doctype html>")
    assert "Improved: " in html
    assert "<ins>Be kind. </ins>Answer {{n}}" in html
    assert HOSTILE not in html
    assert "https://" not in html


def test_without_a_name_the_file_is_named_after_the_optimization(report, project):
    folder, optimization_id = project

    done = report(optimization_id[-8:], "--json", cwd=folder)

    path = folder / f"report-{optimization_id}.html"
    assert json.loads(done.stdout) == {"path": str(path)}
    assert path.is_file()


def test_a_folder_is_refused_and_stays(report, project):
    folder, optimization_id = project
    (folder / "here").mkdir(exist_ok=True)

    done = report(optimization_id, "-o", "here", "--json", cwd=folder, code=2)

    assert "it is a folder" in done.stdout + done.stderr
    assert (folder / "here").is_dir()


def test_an_unknown_optimization_is_met_with_what_to_do(report, project):
    folder, _ = project

    done = report("nonsense", cwd=folder, code=2)

    assert "none has the name 'nonsense' or an id that begins or ends so" in done.stderr
