"""A winner taken along: as a document, a page, a module, and a patch that Git applies."""

import json
import runpy
import subprocess
from collections import Counter

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


def test_exports_have_labels_splits_and_the_proof(here, tmp_path):
    folder = make_project(tmp_path / "labels")
    config = (folder / "burnish.toml").read_text()
    labelled = config.replace(
        'name = "tickets"', 'name = "tickets"\nlabels = ["technical", "billing"]'
    )
    (folder / "burnish.toml").write_text(labelled)
    result = json.loads(here.run(folder, "optimize", "--json")[0])

    document = json.loads(here.run(folder, "export", "latest")[0])
    page = here.run(folder, "export", "latest", "-f", "markdown")[0]
    here.run(folder, "export", "latest", "-o", "winner.py")
    here.run(folder, "eval")
    runs = json.loads(here.run(folder, "export", "latest", "-f", "json")[0])["results"]

    assert document["labels"] == ["technical", "billing"]
    assert document["test"] == result["test"]
    assert "- Labels: technical, billing" in page
    assert f"- Score on 24 held-out items: {result['test']['best_score']:.3f}" in page
    assert runpy.run_path(str(folder / "winner.py"))["LABELS"] == ["technical", "billing"]
    splits = Counter(one["split"] for one in runs)
    assert splits == {"train": 12, "validation": 24, "test": 24}


def test_another_optimizer_keeps_the_model_of_the_file(here, tmp_path):
    folder = make_project(tmp_path / "auto")
    config = (folder / "burnish.toml").read_text()
    model = 'name = "gepa"\nmodel = "scripted/echo"\nmax_iterations = 3'
    (folder / "burnish.toml").write_text(config.replace('name = "edits"', model))

    def asked(name):
        out = here.run(folder, "optimize", "--dry-run", "--json", "--optimizer", name)[0]
        return json.loads(out)["questions"]

    assert asked("auto")["model"] == "scripted/echo"
    assert asked("few_shot") is None, "one that asks no model is given none"


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
