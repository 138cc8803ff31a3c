"""Files beside the code agree with it: citation, container, compose, workflows."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

import burnish
from burnish.cli.invocation import run_command

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
    "optional-dependencies"
]


def loaded(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def container_commands():
    (served,) = re.findall(r"^CMD (\[.*\])$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    services = loaded("compose.yaml")["services"].values()
    return [yaml.safe_load(served), *(one["command"] for one in services if "command" in one)]


def test_the_readme_says_how_to_install_before_anything_else():
    beginning = (ROOT / "README.md").read_text(encoding="utf-8").partition("\n## ")[0]

    assert "pip install 'burnish[local]'" in beginning


def test_the_download_of_the_demo_has_one_size():
    templates = (ROOT / "src/burnish/cli/templates").glob("*/README.md")
    pages = [ROOT / "README.md", ROOT / "docs/guide.md", *templates]
    pages.append(ROOT / "src/burnish/cli/commands/demo.py")
    told = {size for page in pages for size in re.findall(r"\b(\d\d) MB\b", page.read_text())}
    models = ROOT / "src/burnish/models/local/files/models.toml"
    bytes_ = tomllib.loads(models.read_text(encoding="utf-8"))["models"][0]["size_bytes"]

    assert told == {f"{bytes_ / 1e6:.0f}"}


def test_the_citation_is_of_this_version():
    assert loaded("CITATION.cff")["version"] == burnish.__version__


def test_extras_in_the_container_exist():
    (named,) = re.findall(r"\$1\[([\w,]+)\]", (ROOT / "Dockerfile").read_text(encoding="utf-8"))

    assert set(named.split(",")) <= set(EXTRAS)


@pytest.mark.parametrize("command", container_commands(), ids=shlex.join)
def test_options_in_the_containers_exist(command, capsys):
    program, name, *options = command

    assert program == "burnish"
    assert run_command([name, "--help"]) == 0
    told = capsys.readouterr().out
    assert all(option in told for option in options if option.startswith("--"))


@pytest.mark.parametrize("workflow", ["ci", "release"])
def test_workflows_run_all_tests(workflow):
    jobs = loaded(f".github/workflows/{workflow}.yml")["jobs"].values()

    assert any(step.get("run") == "make test" for job in jobs for step in job["steps"])
