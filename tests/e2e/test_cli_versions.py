"""After a promotion: which version runs, how to get back, and everything written into the project."""

import json
import subprocess
import tomllib

import pytest
from optimize_project import CONFIG, make_project


@pytest.fixture
def promoted(here, tmp_path):
    project = make_project(tmp_path / "p")
    result = here.document(project, "optimize", "--max-trials", "3")
    here.run(project, "promote", result["optimization_id"], "1", "--yes")
    return project, result


def test_commands_say_that_another_version_is_active_and_run_it_when_asked(here, promoted):
    project, _ = promoted

    out, err = here.run(project, "eval", "--json")
    plain = json.loads(out)
    assert "not version 2 of tickets" in err
    assert "--agent-version active" in err
    assert plain["agent_version"] is None, "it is burnish.toml that runs"

    out, err = here.run(project, "eval", "--agent-version", "active", "--json")
    assert json.loads(out)["agent_version"] == 2
    assert "not version" not in err
    assert json.loads(out)["score"] > plain["score"]
    assert "not version 2" in here.err(project, "optimize", "--dry-run")
    assert "not version 2" not in here.err(
        project, "optimize", "--dry-run", "--agent-version", "2", "--json"
    )
    assert "exclude each other" in here.err(
        project, "eval", "--agent-version", "2", "--section", "system=x", code=2
    )
    assert "version 9" in here.err(project, "eval", "--agent-version", "9", code=2)


def test_versions_are_listed_and_gone_back_to(here, promoted):
    project, _ = promoted
    listed = here.document(project, "versions")
    assert [(one["version"], one["active"]) for one in listed["versions"]] == [
        (2, True),
        (1, False),
    ]
    assert listed["written"] == listed["versions"][1]["configuration_hash"]
    assert "burnish.toml differs from the active version" in here.out(project, "versions")

    back = here.document(project, "revert", "--note", "worse in production")

    assert (back["version"], back["origin"]["reverted_to"]) == (3, 1)
    assert back["configuration_hash"] == listed["written"]
    assert "not version" not in here.err(project, "eval", "--limit", "2")
    assert "was not changed" in here.err(project, "revert", "1", code=3)


def test_the_model_of_burnish_toml_is_no_difference(here, tmp_path):
    project = make_project(tmp_path / "p")
    prompted = CONFIG.replace('run = "agent:answer"', 'model = "scripted/echo"')
    (project / "burnish.toml").write_text(prompted)
    result = here.document(project, "optimize", "--max-trials", "1")
    here.run(project, "promote", result["optimization_id"], "1", "--yes")

    told = " ".join(here.out(project, "versions").split())

    assert "differs from the active version in section" in told
    assert "parameter model" not in told


def test_a_search_from_a_version_is_written_against_what_the_files_hold(here, promoted):
    project, _ = promoted
    result = here.document(project, "optimize", "--max-trials", "2", "--agent-version", "active")

    done = here.document(project, "promote", result["optimization_id"], "1", "--yes", "--write")

    assert done["written"]
    assert "not version" not in here.err(project, "eval", "--limit", "2")


def test_a_winner_with_inline_sections_and_examples_is_written_and_patched_as_a_whole(
    here, tmp_path
):
    project = make_project(tmp_path / "p")
    inline = CONFIG.replace('{ file = "prompts/system.md" }', '"Classify."  # inline')
    few_shot = inline.replace('name = "edits"', 'name = "few_shot"')
    (project / "burnish.toml").write_text(few_shot)
    result = here.document(project, "optimize", "--max-trials", "2")
    identity = result["optimization_id"]

    patch = here.out(project, "export", identity, "-f", "patch", "--candidate", "1")
    (project / "winner.diff").write_text(patch)
    done = here.document(project, "promote", identity, "1", "--yes", "--write")

    written = (project / "burnish.toml").read_text()
    assert tomllib.loads(written)["agent"]["examples"] == done["configuration"]["examples"] != []
    assert "# inline" in written
    (project / "burnish.toml").write_text(few_shot)
    subprocess.run(["git", "apply", "winner.diff"], cwd=project, check=True)
    assert (project / "burnish.toml").read_text() == written


def test_a_promotion_without_a_question_still_warns(here, promoted):
    project, result = promoted

    _, err = here.run(project, "promote", result["optimization_id"], "baseline", "--yes")

    assert "warning: this is the baseline itself" in err
