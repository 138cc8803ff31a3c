"""Image runs on a terminal and in a log: what is shown while they go on, and what at the end."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from burnish.cli.commands.image.display import ImageWatch, print_image_run, showing_images
from burnish.cli.commands.image.run import exit_code
from burnish.cli.console import Streams
from burnish.cli.project_location import ProjectLocation
from burnish.domain.images.runs import (
    ImageFile,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
    ObjectivePreset,
    Rubric,
    Suggestions,
    Variant,
    VariantStatus,
    rank,
)

PICTURE = ImageFile(digest="a" * 64, media_type="image/png", width=8, height=8, size=70)
RUBRIC = Rubric(
    prompt_adherence=0.8,
    subject_fidelity=0.7,
    composition_quality=0.6,
    style_coherence=0.5,
    technical_artifact_penalty=0.4,
    confidence=0.9,
    failure_tags=("soft edges",),
    strength_tags=("fox is large",),
    rationale="A fox, \x1b[31mred\x1b[0m.",
)
QUEUED = ImageRun(
    run_id="0199d1c8-7b21-7d10-8a4c-5e6f7a8b9c0d",
    request=ImageRunRequest(
        project_id="fox",
        base_prompt="a red \x1b]0;evil\x07fox",
        objective_preset=ObjectivePreset.ADHERENCE,
        image_model="sketch",
        judge_model="pixel-judge",
        n_variants=2,
    ),
)
PLANNED = tuple(Variant(variant_id=f"v0{n}", variant_prompt=f"a fox, take {n}") for n in (1, 2))
JUDGED = rank(
    [
        replace(
            PLANNED[0],
            status=VariantStatus.EVALUATED,
            image=PICTURE,
            rubric=RUBRIC,
            composite_score=RUBRIC.composite_score,
            commit_id="c0ffee00-0000-5000-8000-00000000beef",
        ),
        replace(
            PLANNED[1],
            status=VariantStatus.EVALUATION_SKIPPED,
            error={"code": "OPENAI_TIMEOUT", "message": "it took too long"},
        ),
    ]
)
DONE = replace(
    QUEUED,
    status=ImageRunStatus.COMPLETED_DEGRADED,
    degraded=True,
    degradations=("v02 has no picture",),
    variants=JUDGED,
    suggestions=Suggestions(conservative="one", balanced="two", aggressive="three"),
    anchor_commit_id="a0000000-0000-5000-8000-0000000000aa",
)


def console(*, terminal):
    return Console(file=io.StringIO(), force_terminal=terminal, width=120, emoji=False)


@pytest.fixture
def location(tmp_path):
    return ProjectLocation(tmp_path / "burnish.toml")


def test_a_log_gets_a_line_for_each_change_and_none_twice():
    watch, log = ImageWatch(), console(terminal=False)
    with showing_images(log, watch):
        for run in (
            QUEUED,
            QUEUED,
            replace(QUEUED, status=ImageRunStatus.GENERATING, variants=PLANNED),
            replace(QUEUED, status=ImageRunStatus.EVALUATING, variants=JUDGED),
            DONE,
        ):
            watch.note(run)

    lines = log.file.getvalue().splitlines()
    assert [line.split("%")[0].strip() for line in lines] == ["0.0", "15.0", "85.0", "100.0"]
    assert "1 failed" in lines[2]


def test_a_terminal_shows_every_variant_with_its_score():
    watch, terminal = ImageWatch(), console(terminal=True)
    with showing_images(terminal, watch):
        watch.note(replace(DONE, status=ImageRunStatus.EVALUATING))

    text = terminal.file.getvalue()
    assert "v01" in text
    assert f"{RUBRIC.composite_score:.4f}" in text


def test_the_result_has_scores_tags_suggestions_and_what_to_do_next(location):
    shown = console(terminal=False)
    print_image_run(shown, DONE, location, seconds=1.0)

    text = shown.file.getvalue()
    for words in (
        *("completed_degraded", "v02 has no picture", "it took too long"),
        *("+ fox is large", "- soft edges", "conservative", "three"),
        "burnish image run --project fox --parent 0000beef --prompt …",
        "burnish image compare 000000aa 0000beef",
    ):
        assert words in text
    assert "\x1b" not in text


def test_the_leaderboard_says_who_made_it_and_what_was_not_drawn_or_measured(location):
    """IMG-10 to IMG-12."""
    blind = replace(RUBRIC, not_measured=("prompt_adherence",))
    first = replace(DONE.variants[0], rubric=blind, not_drawn=("old", "portrait"))
    asked = replace(DONE.request, image_model="sketch", judge_model="pixel-judge")
    shown = console(terminal=False)
    print_image_run(shown, replace(DONE, request=asked, variants=(first,)), location)

    text = shown.file.getvalue()
    makers = "drawn by sketch (offline, drawn by rules), judged by pixel-judge (offline,"
    assert text.index(makers) < text.index("adherence")
    assert "not measured" in text
    assert f"{RUBRIC.prompt_adherence:.2f}" not in text.split("suggestions")[0].split(makers)[1]
    assert "not drawn: old, portrait" in text


def test_a_stopped_run_says_how_to_go_on(location):
    watch = ImageWatch()
    assert watch.kept(location) is None
    watch.note(QUEUED)
    assert "burnish image resume 7a8b9c0d" in watch.kept(location)
    watch.note(DONE)
    assert watch.kept(location) is None


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (ImageRunStatus.COMPLETED, None, 0),
        (ImageRunStatus.COMPLETED_DEGRADED, None, 0),
        (ImageRunStatus.CANCELLED, None, 130),
        (ImageRunStatus.FAILED, {"code": "OPENAI_TIMEOUT", "retryable": True}, 4),
        (ImageRunStatus.FAILED, {"code": "STORAGE_WRITE_FAILED", "retryable": True}, 4),
        (ImageRunStatus.FAILED, {"code": "OPENAI_REFUSED", "retryable": False}, 2),
        (ImageRunStatus.FAILED, {"code": "IMAGE_PIPELINE_FAILED", "retryable": False}, 70),
        (ImageRunStatus.FAILED, None, 2),
    ],
)
def test_the_exit_code_says_how_it_ended(capsys, status, error, code):
    run = replace(DONE, status=status, error=error)

    assert exit_code(Streams(out=io.StringIO()), run) == code
    said = capsys.readouterr().err
    assert ("degraded" in said) == (status is ImageRunStatus.COMPLETED_DEGRADED)
    assert ("fix: " in said) == (status is ImageRunStatus.FAILED)
