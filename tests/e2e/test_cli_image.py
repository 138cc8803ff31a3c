"""`burnish image` in an empty folder: offline, without a key, from a prompt to a sheet of pictures."""

import io
import json
import os
import signal
from pathlib import Path

import pytest
from drawing_server import DrawingServer
from PIL import Image

PROMPT = "a red fox in a snowy forest at dawn"
# As little as a run can have: what these tests show is the same for more.
SMALL = ("--variants", "2", "--quality", "low")


@pytest.fixture
def remote(tmp_path):
    """A project whose pictures come from a server of the test."""

    def made(server):
        (tmp_path / "burnish.toml").write_text(
            f'[images]\nimage_model = "gpt-image-1-mini"\nbase_url = "{server.address}"\n'
            "[models.openai]\nmax_attempts = 1\n"
        )
        return tmp_path

    return made


def size_of(path):
    with Image.open(io.BytesIO(Path(path).read_bytes())) as found:
        assert found.format == "PNG"
        return found.size


def test_a_run_in_an_empty_folder_writes_a_contact_sheet(here, tmp_path):
    out, err = here.run(tmp_path, "image", "run", "--prompt", PROMPT, *SMALL)

    sheets = list((tmp_path / ".burnish" / "images" / "sheets").glob("*.png"))
    assert len(sheets) == 1
    assert str(sheets[0]) in out
    assert min(size_of(sheets[0])) > 200
    assert "completed" in out
    assert "sketch" in out
    for name in ("conservative", "balanced", "aggressive", "goes on from the winner"):
        assert name in out
    assert "Scoring the images" in err
    assert not (tmp_path / "burnish.toml").exists()


def test_the_document_is_one_and_a_later_run_builds_on_the_winner(here, tmp_path):
    arguments = ("image", "run", "--prompt", PROMPT, *SMALL, "--sheet", "fox.png")
    constraints = ("--include", "pine tree", "--avoid", "text", "--objective", "aesthetic")
    first = here.document(tmp_path, *arguments, *constraints)
    winner = first["leaderboard"][0]["commit_id"]
    second = here.document(
        tmp_path, "image", "run", "-p", "a fox at night", *SMALL, "--parent", winner[-8:]
    )
    listed = here.document(tmp_path, "image", "list")["runs"]
    shown = here.document(tmp_path, "image", "show", first["run_id"][-8:])
    compared = here.document(
        tmp_path,
        "image",
        "compare",
        winner[-8:],
        second["leaderboard"][0]["commit_id"],
        "-o",
        "d.png",
    )

    assert first["contact_sheet"] == "fox.png"
    assert size_of(tmp_path / "fox.png")
    assert first["objective_preset"] == "aesthetic"
    assert first["constraints"] == {"must_include": ["pine tree"], "must_avoid": ["text"]}
    assert second["anchor_commit_id"] == winner
    assert [one["run_id"] for one in listed] == [second["run_id"], first["run_id"]]
    assert listed[1]["best"]["commit_id"] == winner
    assert {**shown, "contact_sheet": "fox.png"} == first
    assert compared["changed_share"] > 0
    assert size_of(tmp_path / "d.png")


def test_an_ended_run_is_shown_and_neither_resumed_nor_cancelled(here, tmp_path):
    run = here.document(tmp_path, "image", "run", "-p", PROMPT, *SMALL)
    again = here.document(tmp_path, "image", "resume")
    cancelled = here.document(tmp_path, "image", "cancel", run["run_id"][:20])
    out, _ = here.run(tmp_path, "image", "show", "--sheet", "later.png")

    assert again["revision"] == run["revision"]
    assert cancelled["status"] == "completed"
    assert (cancelled["cancelled"], cancelled["requested"]) == (False, False)
    assert "later.png" in out
    assert size_of(tmp_path / "later.png")
    assert "completed" in here.out(tmp_path, "image", "list")


def test_variants_are_compared_in_pairs_where_it_is_asked_for(here, tmp_path):
    (tmp_path / "burnish.toml").write_text("[images]\npairwise = true\n")
    run = here.document(tmp_path, "image", "run", "-p", PROMPT, *SMALL)
    shown = here.out(tmp_path, "image", "show")
    plain = here.document(tmp_path, "image", "run", "-p", PROMPT, *SMALL, "--no-pairwise")
    rounds = here.document(
        tmp_path, "image", "optimize", "-p", PROMPT, *SMALL, "--rounds", "1", "--pairwise"
    )

    best, other = run["leaderboard"]
    assert (run["pairwise"], plain["pairwise"]) == (True, False)
    assert best["pairwise"]["win_rate"] >= other["pairwise"]["win_rate"]
    low, high = best["pairwise"]["interval"]
    assert 0 < low < best["pairwise"]["win_rate"] < high < 1
    told = {one["other"]: one["value"] for one in best["pairwise"]["preferences"]}
    assert set(told) == {other["variant_id"], "anchor"}
    assert "win rate" in shown and "against anchor" in shown
    assert plain["leaderboard"][0]["pairwise"] is None
    assert rounds["rounds"][0]["over_parent"] in (0.0, 0.5, 1.0)


def test_rounds_go_on_from_the_winner_within_the_budget(here, tmp_path):
    found = here.document(
        tmp_path,
        *("image", "optimize", "-p", PROMPT, *SMALL),
        *("--rounds", "3", "--max-images", "5", "--min-margin", "0", "--min-confidence", "0"),
    )
    resumed = here.document(
        tmp_path,
        *("image", "optimize", "--resume", found["optimization_id"]),
        *("--rounds", "3", "--max-images", "5", "--min-margin", "0", "--min-confidence", "0"),
    )

    assert found["images"] <= 5
    assert found["rounds"][0]["number"] == 1
    assert found["ended"] and found["why"]
    for before, after in zip(found["rounds"], found["rounds"][1:], strict=False):
        assert before["kept"]
        assert after["winner"]["parent_commit_id"] == before["winner"]["commit_id"]
    assert size_of(found["contact_sheet"])
    assert resumed["rounds"] == found["rounds"]
    assert len(here.document(tmp_path, "image", "list")["runs"]) == len(found["rounds"])
    assert "stopped by" in here.out(
        tmp_path, "image", "optimize", "-p", PROMPT, *SMALL, "--rounds", "1"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("run", "-p", "fox"), "characters"),
        (("run", "-p", PROMPT, "--variants", "4"), "variants"),
        (("run", "-p", PROMPT, "--project", "a/b"), "project"),
        (("run", "-p", PROMPT, "--model", "midjourney"), "sketch"),
        (("run", "-p", PROMPT, "--model", "gpt-image-1-mini"), "OPENAI_API_KEY"),
        (("run", "-p", PROMPT, "--parent", "nothing"), "commit"),
        (("run", "-p", PROMPT, "-c", "missing.toml"), "missing.toml"),
        (("show", "nothing"), "burnish image run"),
        (("resume",), "burnish image run"),
        (("optimize",), "--prompt"),
        (("optimize", "-p", PROMPT, "--max-cost-usd", "-1"), "max_cost_usd"),
    ],
)
def test_what_cannot_be_done_is_said_with_a_fix(here, tmp_path, monkeypatch, arguments, said):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    err = here.err(tmp_path, "image", *arguments, code=2)

    assert said in err
    assert "fix: " in err


def test_there_is_nothing_to_list_in_an_empty_folder(here, tmp_path):
    assert here.document(tmp_path, "image", "list") == {"runs": []}
    assert "image run" in here.out(tmp_path, "image", "list")
    assert not (tmp_path / ".burnish").exists()


def test_a_model_that_does_not_answer_ends_with_4_and_the_reason(here, remote):
    with DrawingServer(fail="all") as server:
        out, err = here.run(
            remote(server), "image", "run", "-p", PROMPT, "--json", code=4, OPENAI_API_KEY="k" * 20
        )
    run = json.loads(out)

    assert (run["status"], run["error"]["code"]) == ("failed", "OPENAI_UNAVAILABLE")
    assert run["error"]["retryable"]
    assert run["contact_sheet"] is None
    assert "error: the image run failed" in err


def test_a_degraded_run_ends_with_0_and_a_warning(here, remote):
    with DrawingServer(fail=(2,)) as server:
        out, err = here.run(
            remote(server), "image", "run", "-p", PROMPT, "--json", OPENAI_API_KEY="k" * 20
        )
    run = json.loads(out)

    assert (run["status"], run["degraded"]) == ("completed_degraded", True)
    assert len(run["leaderboard"]) == 2
    assert run["progress"]["failed_variants"] == 1
    assert "warning: the run is degraded" in err
    assert run["contact_sheet"]


def test_ctrl_c_leaves_a_run_that_is_gone_on_with(here, remote, commands):
    """The anchor was drawn before the interruption, and is not drawn again."""
    with DrawingServer(hang_from=2) as server:
        project = remote(server)
        variables = {**os.environ, "OPENAI_API_KEY": "k" * 20}
        running = commands.start(
            ["image", "run", "-p", PROMPT, "--variants", "2"], cwd=project, env=variables
        )
        assert server.hanging.wait(600)
        os.kill(running.pid, signal.SIGINT)
        out, err = running.communicate()
        stopped = server.drawn
    (run,) = here.document(project, "image", "list")["runs"]
    with DrawingServer() as server:
        ended = here.document(remote(server), "image", "resume", OPENAI_API_KEY="k" * 20)

    assert running.poll() == 130
    assert f"burnish image resume {run['run_id'][-8:]}" in err
    assert "Traceback" not in out + err
    assert run["status"] == "generating"
    assert (stopped, server.drawn) == (1, 2)
    assert (ended["status"], ended["run_id"]) == ("completed", run["run_id"])
