"""A winner taken along: as a document, a page, a module, and a patch that Git applies."""

import json
import runpy
import subprocess

import pytest
from optimize_project import PROMPT, make_project


@pytest.fixture
def project(here, tmp_path):
    folder = make_project(tmp_path / "repository" / "bot")
    (folder / "prompts" / "system.md").write_bytes(PROMPT.rstrip("\n").encode())
    out, _ = here.run(folder, "optimize", "--json")
    return folder, json.loads(out)


def git(folder, *arguments):
    settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false"]
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_winner_is_written_in_each_format(here, project):
    folder, result = project
    best = result["best"]["configuration"]

    document = json.loads(here.run(folder, "export", result["optimization_id"])[0])
    here.run(folder, "export", "latest", "-o", "winner.md")
    here.run(folder, "export", "latest", "-o", "winner.py")

    assert document["configuration"] == best
    assert document["score"] == result["best"]["score"]
    assert document["candidate_id"] == result["best"]["candidate_id"]
    page = (folder / "winner.md").read_text()
    assert f"```text\n{best['sections']['system']}\n```" in page
    module = runpy.run_path(str(folder / "winner.py"))
    assert module["CONFIGURATION"]["sections"] == best["sections"]


def test_a_patch_applies_to_the_file_that_the_section_came_from(here, project):
    folder, result = project
    git(folder.parent, "init", "-q")
    git(folder.parent, "add", "bot/prompts")

    here.run(folder, "export", "latest", "-f", "patch", "-o", "winner.diff")
    git(folder.parent, "apply", "bot/winner.diff")

    text = (folder / "prompts" / "system.md").read_text()
    assert text == result["best"]["configuration"]["sections"]["system"]
    _, said = here.run(folder, "export", "latest", "-f", "patch", code=3)
    assert "it has changed since the run started" in said


def test_what_cannot_be_written_says_why(here, project):
    folder, result = project
    identity = result["optimization_id"]

    assert "an experiment" in here.run(folder, "export", identity, "-f", "junit", code=2)[1]
    baseline = ("export", identity, "-f", "patch", "--candidate", "baseline")
    assert "started with" in here.run(folder, *baseline, code=2)[1]
    assert (
        "none of its candidates"
        in here.run(folder, "export", identity, "--candidate", "99", code=2)[1]
    )
