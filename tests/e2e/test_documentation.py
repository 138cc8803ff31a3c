"""Every Python and shell block in README, docs and the skill runs, with commands as users have them.

A block that begins with ```python needs=NAME is skipped where that package is not installed.
"""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from burnish.cli.app import COMMANDS, load_command

ROOT = Path(__file__).parents[2]
SKILL = ROOT / "skills" / "burnish" / "SKILL.md"
PAGES = [ROOT / "README.md", SKILL, *sorted((ROOT / "docs").rglob("*.md"))]
# A command with what stands behind it, in a block or between backticks.
COMMAND = re.compile(r"\bburnish ([a-z]+)(?: ([a-z]+))?([^`\n#|]*)")
BLOCK = re.compile(r"^```(python|sh)(?: needs=(\w+))?\n(.*?)^```", re.MULTILINE | re.DOTALL)
# Commands that set up or test this checkout itself; their targets are run by CI.
SETS_UP = re.compile(r"^\s*(make|git clone)\b", re.MULTILINE)


def blocks():
    for page in PAGES:
        for number, found in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")), start=1):
            yield pytest.param(
                found.group(1),
                found.group(2),
                found.group(3),
                id=f"{page.relative_to(ROOT)}-{number}",
            )


@pytest.mark.parametrize(("language", "needed", "code"), list(blocks()))
def test_the_block_runs(language, needed, code, tmp_path, commands):
    if needed and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed here")
    if SETS_UP.search(code):
        targets = set(re.findall(r"^\s*make (\w+)", code, re.MULTILINE))
        makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
        assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
        return
    folders = [str(commands.folder), str(Path(sys.executable).parent), os.environ["PATH"]]
    environment = {**os.environ, "PATH": os.pathsep.join(folders)}
    environment.pop("BURNISH_DB", None)
    (folder := tmp_path / "here").mkdir()
    if language == "python":
        (script := tmp_path / "block.py").write_text(code, encoding="utf-8")
        finished = commands.run(["python", str(script)], cwd=folder, env=environment, timeout=1200)
    else:
        finished = subprocess.run(
            ["sh", "-ec", code],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )

    assert finished.returncode == 0, finished.stdout + finished.stderr
    assert "Traceback" not in finished.stderr


def test_the_skill_has_what_the_format_of_agent_skills_asks_for():
    head, body = SKILL.read_text(encoding="utf-8").removeprefix("---\n").split("\n---\n", 1)
    fields = yaml.safe_load(head)

    assert set(fields) <= {"name", "description", "license", "compatibility", "metadata"}
    assert fields["name"] == SKILL.parent.name
    assert len(fields["description"]) <= 1024 and len(fields["compatibility"]) <= 500
    assert len(body.splitlines()) < 500


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_page_names_options_that_there_are(page):
    for name, below, rest in COMMAND.findall(page.read_text(encoding="utf-8")):
        if name not in COMMANDS:
            continue
        command = load_command(name)
        command = getattr(command, "commands", {}).get(below, command)
        known = {text for one in command.params for text in (*one.opts, *one.secondary_opts)}
        given = set(re.findall(r"(?<=\s)-{1,2}[a-z][a-z-]*", rest))
        assert given <= {*known, "-h", "--help"}, f"burnish {name} has no {given - known}"


def test_the_skill_names_commands_that_there_are():
    told = re.findall(r"^burnish (\w+)", SKILL.read_text(encoding="utf-8"), re.MULTILINE)

    assert told and set(told) <= set(COMMANDS)
