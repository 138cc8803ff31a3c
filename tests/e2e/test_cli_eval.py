"""The whole way through the command line, in processes of their own, on a Python agent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from burnish.cli.commands.init import Template, template_files, write_files

BURNISH = [sys.executable, "-P", "-c", "from burnish.cli import main; main()"]


@pytest.fixture
def burnish(commands):
    def run(*arguments, cwd, code=0, env=None):
        """Run a command; it must end with this code and never show a trace."""
        done = commands.run(
            [*map(str, arguments)], cwd=cwd, env={**os.environ, "COLUMNS": "200", **(env or {})}
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stdout + done.stderr
        return done

    return run


@pytest.fixture
def project(tmp_path):
    write_files(tmp_path, template_files(Template.PYTHON))
    return tmp_path


def test_from_nothing_to_a_shared_report(burnish, tmp_path):
    made = burnish("init", "here", "--template", "python", cwd=tmp_path)
    assert "cd here" in made.stdout
    project = tmp_path / "here"

    valid = burnish("validate", cwd=project)
    assert "10 rows" in valid.stdout
    assert not (project / ".burnish").exists(), "validating must not make a database"

    first = burnish("eval", cwd=project)
    assert "8 of 10" in first.stdout
    assert "I don't know yd." in first.stdout

    assert "units on questions" in burnish("list", cwd=project).stdout
    assert "fathom" in burnish("show", "--failing", cwd=project).stdout
    burnish("export", "latest", "-o", "report.html", cwd=project)
    assert (project / "report.html").read_text().startswith("<!doctype html>")


def test_json_is_one_document_whatever_the_agent_prints(burnish, project):
    agent = project / "my_agent.py"
    noisy = '    print("noise")\n    import os; os.write(1, b"more noise")\n    if item["unit"] not'
    agent.write_text(agent.read_text().replace('    if item["unit"] not', noisy))

    done = burnish("eval", "--json", cwd=project)

    document = json.loads(done.stdout)
    assert document["score"] == pytest.approx(0.8)
    assert document["pass_rate"] == pytest.approx(0.8)
    assert (document["items"], document["failed"], document["errors"]) == (10, 2, 0)
    assert document["usage"]["calls"] == 0
    assert document["experiment_id"]
    assert "more noise" in done.stderr


def test_a_change_is_compared_item_by_item_and_gated(burnish, project):
    agent = project / "my_agent.py"
    burnish("eval", cwd=project)
    gate = burnish("eval", "--min-score", "0.9", cwd=project, code=1)
    assert "gate failed: the score 0.8 is below --min-score 0.9" in gate.stderr
    agent.write_text(agent.read_text().replace('"m": 1.0,', '"m": 1.0, "yd": 0.9144,'))

    better = burnish(
        "eval", "--baseline", "--fail-on-regression", "--min-score", "0.9", "--json", cwd=project
    )
    change = json.loads(better.stdout)["baseline"]
    assert (change["improved"], change["worsened"], change["items"]) == (1, 0, 10)
    assert change["delta"] == pytest.approx(0.1)

    agent.write_text(
        agent.read_text().replace("    metres =", '    raise ValueError("broken")\n    metres =')
    )
    worse = burnish("eval", "--baseline", "--fail-on-regression", "--json", cwd=project, code=1)
    document = json.loads(worse.stdout)
    assert document["errors"] == 8 + 1
    assert document["gates"][0]["passed"] is False


def test_only_what_failed_runs_again(burnish, project):
    agent = project / "my_agent.py"
    burnish("eval", cwd=project)
    agent.write_text(agent.read_text().replace('"m": 1.0,', '"m": 1.0, "yd": 0.9144,'))

    again = burnish("eval", "--filter-failing", "--json", cwd=project)

    document = json.loads(again.stdout)
    assert (document["items"], document["failed"]) == (2, 1)


def test_flags_win_over_variables_and_variables_over_the_file(burnish, project):
    variable = {"BURNISH_AGENT_NAME": "from-variable"}

    burnish("eval", cwd=project)
    burnish("eval", cwd=project, env=variable)
    burnish("eval", "--set", "agent.name=from-flag", cwd=project, env=variable)

    listed = json.loads(burnish("list", "--json", cwd=project).stdout)["experiments"]
    assert [one["agent"] for one in listed] == ["from-flag", "from-variable", "units"]


def test_init_never_overwrites_unless_forced(burnish, project):
    (project / "my_agent.py").write_text("mine")

    refused = burnish("init", "--template", "python", cwd=project, code=3)
    assert "my_agent.py" in refused.stderr
    assert (project / "my_agent.py").read_text() == "mine"

    burnish("init", "--template", "python", "--force", cwd=project)
    assert (project / "my_agent.py").read_text() != "mine"


def test_a_closed_pipe_is_no_error(burnish, project):
    burnish("eval", cwd=project)
    command = " ".join(["exec", *(f"'{word}'" for word in BURNISH), "export", "-f", "jsonl"])

    done = subprocess.run(
        ["bash", "-c", f"({command}; true) | head -c 1"],
        cwd=project,
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stderr == ""


def test_the_example_that_init_makes_is_whole():
    packaged = Path(__file__).parents[2] / "src/burnish/cli/templates/reviews"
    lines = (packaged / "data/reviews.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]

    assert len(rows) >= 240
    assert {row["split"] for row in rows} == {"train", "validation", "test"}


BROKEN = {
    "agent": ('def answer(configuration, item):\n    raise RuntimeError("no tool")\n', ""),
    "scorer": ("", 'def judged(output, item):\n    return item["labl"]\n'),
    "verdict": ("", 'def judged(output, item):\n    return "dunno"\n'),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_what_fails_on_every_item_is_no_score_of_zero(burnish, tmp_path, broken):
    agent, scorer = BROKEN[broken]
    (tmp_path / "rows.jsonl").write_text('{"q": "a"}\n{"q": "b"}\n{"q": "c"}\n')
    (tmp_path / "parts.py").write_text(
        (agent or 'def answer(configuration, item):\n    return "x"\n')
        + (scorer or "def judged(output, item):\n    return 1.0\n")
    )
    (tmp_path / "burnish.toml").write_text(
        '[agent]\nname = "a"\nrun = "parts:answer"\n'
        '[suite]\ndataset = "rows.jsonl"\nscorers = ["parts:judged"]\n'
    )

    shown = burnish("eval", cwd=tmp_path, code=2)
    document = json.loads(burnish("eval", "--json", cwd=tmp_path, code=2).stdout)

    assert "the commonest, 3 of 3: " in shown.stderr
    assert "parts.py:2" in shown.stderr or "judged" in shown.stderr
    assert "0.000" not in shown.stdout
    assert (document["status"], document["errors"]) == ("failed", 3)
    assert (document["score"], document["score_interval"]) == (None, None)
    assert "0.000" not in burnish("list", cwd=tmp_path).stdout


@pytest.mark.parametrize("criteria", ["", 'criteria = ""', 'criteria = ["", " "]'])
def test_a_judge_without_criteria_gives_no_score(burnish, tmp_path, criteria):
    (tmp_path / "rows.jsonl").write_text('{"q": "a"}\n{"q": "b"}\n{"q": "c"}\n')
    (tmp_path / "parts.py").write_text("def answer(configuration, item):\n    return 'x'\n")
    (tmp_path / "burnish.toml").write_text(
        '[agent]\nname = "a"\nrun = "parts:answer"\n[suite]\ndataset = "rows.jsonl"\n'
        '[[suite.scorers]]\nkind = "judge"\nmodel = "openai/judge"\n' + criteria
    )

    document = json.loads(burnish("eval", "--json", cwd=tmp_path).stdout)
    shown = burnish("show", cwd=tmp_path).stdout

    assert (document["status"], document["items"]) == ("completed", 3)
    assert (document["score"], document["pass_rate"], document["score_interval"]) == (None,) * 3
    assert (document["failed"], document["errors"]) == (0, 0)
    assert "criteria are missing or empty" in document["warnings"][0]
    assert "3 not judged" in shown
    assert "0.000" not in shown
    gate = burnish("eval", "--min-score", "0.5", cwd=tmp_path, code=1)
    assert "no score reaches --min-score 0.5" in gate.stderr
    for kind in ("html", "csv", "xml"):
        burnish("export", "latest", "-o", f"report.{kind}", cwd=tmp_path)
