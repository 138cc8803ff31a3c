import json
import re
import tomllib
from pathlib import Path

import pytest

from burnish.cli.commands.demo import demo
from burnish.cli.invocation import run_command
from burnish.models.local.catalog import KNOWN

ROOT = Path(__file__).parents[3]


@pytest.fixture
def checks(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    assert run_command(["doctor", "--offline", "--json"]) == 0
    return {check["name"]: check for check in json.loads(capfd.readouterr().out)["checks"]}


def test_every_extra_is_looked_at(checks):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {f"extra {name}" for name in project["optional-dependencies"] if name != "dev"}

    assert {name for name in checks if name.startswith("extra ")} == wanted


def test_what_is_missing_names_the_command_that_installs_it(checks):
    missing = [check for name, check in checks.items() if check["detail"] == "not installed"]

    assert all(re.fullmatch(r"pip install 'burnish\[\w+\]'", check["fix"]) for check in missing)


def test_the_size_of_the_demo_s_model_is_told_right():
    megabytes = f"{KNOWN['smollm2-135m'].size_bytes / 1e6:.0f} MB"
    templates = ROOT / "src" / "burnish" / "cli" / "templates"

    assert megabytes in demo.__doc__
    for page in templates.glob("*/README.md"):
        told = re.findall(r"\d+ MB", page.read_text(encoding="utf-8"))
        assert set(told) <= {megabytes}, page
