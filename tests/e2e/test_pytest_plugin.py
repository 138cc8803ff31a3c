"""The pytest plugin in a project of its own: rows as tests, and the assertion against a baseline."""

import json
import os
import shutil
import subprocess
import sys
from importlib import resources

import pytest

import burnish

ROWS = """
import pytest

@pytest.mark.burnish({options})
def test_row(burnish_case):
    burnish_case.assert_passed()
"""


class Project:
    """A folder with an agent, in which pytest and burnish are run."""

    def __init__(self, folder, commands):
        self.folder = folder
        self._commands = commands
        # Plugins of others take seconds to load.
        self._env = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        self._main = folder.parent / "main.py"
        self._main.write_text("import sys, pytest\nsys.exit(pytest.main(sys.argv[1:]))\n")

    def pytest(self, *arguments, code=0, **tests):
        for name, text in tests.items():
            (self.folder / f"test_{name}.py").write_text(text)
        plain = ["-p", "burnish", "-p", "no:cacheprovider", "-rA", *arguments]
        done = self._run("python", str(self._main), *plain)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout

    def burnish(self, *arguments):
        done = self._run(*arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def planned(self):
        """How many items each experiment of the plugin has."""
        found = json.loads(self.burnish("list", "--json"))["experiments"]
        return [one["planned_items"] for one in found if one["name"] == "pytest"]

    def _run(self, *arguments):
        return self._commands.run(arguments, cwd=self.folder, env=self._env, timeout=300)


@pytest.fixture
def project(tmp_path, commands):
    folder = tmp_path / "project"
    shutil.copytree(resources.files("burnish.cli") / "templates/python", folder)
    return Project(folder, commands)


def test_each_row_is_a_test_that_fails_with_the_reason(project):
    said = project.pytest(rows=ROWS.format(options=""), code=1)

    assert "2 failed, 8 passed" in said
    assert "FAILED test_rows.py::test_row[yard] - AssertionError: \"I don't know yd." in said
    assert "input: {'value':" in said and "output: I don't know yd." in said
    assert project.planned() == [10]


def test_only_chosen_rows_are_evaluated(project):
    options = "config='.', dataset='data/questions.csv', limit=4"

    said = project.pytest("-k", "one", rows=ROWS.format(options=options))

    assert "test_row[one-km]" in said and "deselected" in said
    assert project.planned()[0] < 4


def test_a_wrong_marker_is_refused_before_anything_runs(project):
    said = project.pytest(
        code=2,
        name=ROWS.format(options="rows=3"),
        place=ROWS.format(options="config='nowhere'"),
        data=ROWS.format(options="dataset='none.csv'"),
    )

    assert "pytest.mark.burnish takes config, dataset, split, limit, db by name" in said
    assert "nowhere" in said and "none.csv" in said and "Traceback" not in said


def test_workers_of_xdist_run_each_their_own_rows(project):
    said = project.pytest("-p", "xdist", "-n", "2", rows=ROWS.format(options="limit=2"))

    assert "2 passed" in said
    assert project.planned() == [1, 1]


GATE = """
import burnish

def test_gate():
    result = burnish.assert_no_regression("before.json")
    assert len(result.rows) == 10 and result.comparison.items == 10
"""


def test_only_a_confirmed_regression_fails(project):
    project.burnish("eval")
    project.burnish("export", "-o", "before.json")
    shutil.rmtree(project.folder / ".burnish")
    agent = project.folder / "my_agent.py"
    whole = agent.read_text()

    agent.write_text(whole.replace('"km": 1000.0, ', ""))  # Two items fewer may be chance.
    project.pytest(gate=GATE)
    agent.write_text(whole.replace("    metres =", "    return 'no'\n    metres ="))
    said = project.pytest(code=1)

    assert "units is worse than the baseline" in said and "8 of 10 items worsened" in said
    assert "one-km: 'no' is no number" in said


def test_an_agent_that_only_raises_fails_with_its_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def run(configuration, item):
        raise ValueError("no luck")

    suite = burnish.Suite(dataset=[{"id": "a", "text": "x"}], scorers=[lambda output, item: 1.0])
    baseline = {"experiment": {"id": "e"}, "results": []}
    baseline["results"].append({"item_id": "a", "score": 1.0, "passed": True, "error": None})
    (tmp_path / "b.json").write_text(json.dumps(baseline))

    with pytest.raises(AssertionError, match="no luck"):
        burnish.assert_no_regression("b.json", agent=burnish.Agent(run=run), suite=suite)


def test_nothing_of_burnish_is_loaded_before_it_is_asked_for():
    code = """
import sys
import burnish.integrations.pytest_plugin
print(sorted(one for one in sys.modules if one.startswith("burnish")), "asyncio" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    names = ["burnish", "burnish.integrations", "burnish.integrations.pytest_plugin"]
    assert done.stdout.strip() == f"{names} False"
