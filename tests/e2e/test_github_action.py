"""The GitHub Action: each of its steps runs in a shell, as a runner has it."""

import os
import re
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest
import yaml

ACTION = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text(encoding="utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
FAKE_GH = """#!/bin/sh
echo "$@" >> "$GH_CALLS"
case "$*" in *--paginate*) printf '%s' "$GH_FOUND"; exit "${GH_CODE:-0}";; esac
"""


class Runner:
    """A folder of files that a runner gives to steps, and what they wrote there."""

    def __init__(self, project, folder):
        self.project = project
        self.files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        self.folder = folder
        self.outputs = {}

    def run(self, name, *, code=0, **values):
        """A step, with its variables as the inputs' defaults say or as they are given."""
        step = STEPS[name]
        (script := self.folder / "step.sh").write_text(step["run"])
        for file in self.files.values():
            file.write_text("")
        environment = {**os.environ, "RUNNER_TEMP": str(self.folder)}
        environment |= {key: str(path) for key, path in self.files.items()}
        environment |= {key: self._value(text, values) for key, text in step["env"].items()}
        environment |= {key: text for key, text in values.items() if key.startswith("GH_")}
        environment["PATH"] = f"{self.folder}{os.pathsep}{environment['PATH']}"
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=self.project,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        lines = self.files["GITHUB_OUTPUT"].read_text().splitlines()
        self.outputs |= dict(line.split("=", 1) for line in lines)
        return done.stdout

    def _value(self, text, values):
        name = re.fullmatch(r"\$\{\{ (.+) \}\}", text)[1].rpartition(".")[2]
        inputs = {key: one["default"] for key, one in ACTION["inputs"].items()}
        inputs |= {
            "python": sys.executable,
            "burnish": str(Path(sys.executable).with_name("burnish")),
        }
        return str({**inputs, **self.outputs, **values}[name])


@pytest.fixture
def runner(tmp_path):
    (folder := tmp_path / "runner").mkdir()
    shutil.copytree(resources.files("burnish.cli") / "templates/python", tmp_path / "project")
    (folder / "gh").write_text(FAKE_GH)
    (folder / "gh").chmod(0o755)
    return Runner(tmp_path / "project", folder)


def test_inputs_never_become_text_of_a_script():
    for step in STEPS.values():
        assert "${{" not in step["run"] and step["shell"] == "bash"


def test_a_burnish_that_is_there_is_used(runner):
    runner.run("Install Burnish", install="")

    assert runner.outputs["burnish"] == "burnish"


def test_a_confirmed_regression_is_reported_and_fails(runner):
    runner.run("Evaluate")
    assert runner.outputs["exit-code"] == "0" and float(runner.outputs["score"]) == 0.8
    (runner.project / "burnish-results" / "results.json").rename(runner.project / "before.json")
    agent = runner.project / "my_agent.py"
    agent.write_text(agent.read_text().replace("    metres =", "    return 'no'\n    metres ="))

    runner.run("Evaluate", baseline="before.json", output="out here")

    assert runner.outputs["exit-code"] == "1"
    summary = runner.files["GITHUB_STEP_SUMMARY"].read_text()
    assert "worse than the baseline" in summary and "8 items broken" in summary
    assert "::error::" in runner.run("Gate", code=1)


def test_a_missing_baseline_is_an_error_unless_it_is_optional(runner):
    assert "::error::There is no baseline" in runner.run("Evaluate", baseline="no.json", code=2)

    said = runner.run("Evaluate", baseline="no.json", **{"baseline-optional": "true"})

    assert "::warning::There is no baseline" in said
    assert runner.outputs["exit-code"] == "0"


def test_a_wrong_project_ends_with_the_code_of_the_command(runner):
    runner.run("Evaluate", config="nowhere", code=2)


@pytest.mark.parametrize(
    ("found", "code", "last"),
    [
        ("", "0", "api --silent repos/o/r/issues/7/comments -F body=@report.md"),
        (
            "3\n4\n",
            "0",
            "api --silent --method PATCH repos/o/r/issues/comments/3 -F body=@report.md",
        ),
        ("", "1", "--paginate"),
    ],
)
def test_the_comment_is_written_once_and_then_written_over(runner, found, code, last):
    calls = runner.folder / "calls"

    said = runner.run(
        "Comment on the pull request",
        repository="o/r",
        number="7",
        report="report.md",
        GH_CALLS=str(calls),
        GH_FOUND=found,
        GH_CODE=code,
    )

    assert last in calls.read_text().splitlines()[-1]
    assert ("::warning::" in said) == (code == "1")
