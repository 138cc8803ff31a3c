"""How far an image run has come, in the contract's own numbers."""

from dataclasses import replace

import pytest

from burnish.app.images.documents import (
    ImageProgress,
    progress_percent,
    run_document,
    stage_message,
    variant_document,
)
from burnish.domain.images.runs import (
    ImageFile,
    ImageRun,
    ImageRunRequest,
    ImageRunStatus,
    ObjectivePreset,
    Rubric,
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
    failure_tags=("soft",),
    strength_tags=("bright",),
    rationale="well",
)


def variant(number, status):
    made = status is not VariantStatus.PLANNED and status not in (
        VariantStatus.GENERATION_FAILED,
        VariantStatus.EVALUATION_SKIPPED,
    )
    rubric = RUBRIC if status.ranked else None
    return Variant(
        variant_id=f"v{number:02d}",
        variant_prompt=f"a fox, take {number}",
        status=status,
        image=PICTURE if made else None,
        rubric=rubric,
        composite_score=rubric.composite_score if rubric else None,
    )


def run(status, *statuses, **changes):
    request = ImageRunRequest(
        project_id="p",
        base_prompt="a red fox",
        objective_preset=ObjectivePreset.ADHERENCE,
        image_model="sketch",
        judge_model="pixel-judge",
        n_variants=max(len(statuses), 2),
    )
    variants = rank([variant(n, one) for n, one in enumerate(statuses, start=1)])
    return ImageRun(run_id="r", request=request, status=status, variants=variants, **changes)


PLANNED, MADE, FAILED, JUDGED, SKIPPED = (
    VariantStatus.PLANNED,
    VariantStatus.GENERATED,
    VariantStatus.GENERATION_FAILED,
    VariantStatus.EVALUATED,
    VariantStatus.EVALUATION_SKIPPED,
)


@pytest.mark.parametrize(
    ("stage", "statuses", "percent"),
    [
        (ImageRunStatus.QUEUED, (), 0.0),
        (ImageRunStatus.PLANNING, (), 10.0),
        (ImageRunStatus.GENERATING, (PLANNED, PLANNED), 15.0),
        (ImageRunStatus.GENERATING, (MADE, PLANNED), 32.5),
        (ImageRunStatus.GENERATING, (MADE, FAILED), 50.0),
        (ImageRunStatus.EVALUATING, (MADE, MADE, MADE), 50.0),
        (ImageRunStatus.EVALUATING, (JUDGED, MADE, MADE), 61.7),
        (ImageRunStatus.EVALUATING, (JUDGED, SKIPPED), 85.0),
        (ImageRunStatus.REFINING, (JUDGED, JUDGED), 92.0),
        (ImageRunStatus.COMPLETED, (JUDGED, JUDGED), 100.0),
        (ImageRunStatus.COMPLETED_DEGRADED, (JUDGED, SKIPPED), 100.0),
        (ImageRunStatus.FAILED, (), 100.0),
        (ImageRunStatus.CANCELLED, (PLANNED, PLANNED), 100.0),
    ],
)
def test_the_percentage_is_that_of_the_stage(stage, statuses, percent):
    assert progress_percent(run(stage, *statuses)) == percent


def test_variants_without_a_picture_count_as_failed():
    progress = ImageProgress.of(run(ImageRunStatus.EVALUATING, JUDGED, MADE, SKIPPED))

    assert (progress.total_variants, progress.generated_variants) == (3, 2)
    assert (progress.evaluated_variants, progress.failed_variants) == (1, 1)


def test_every_status_has_words_and_a_cancellation_its_own():
    words = {stage_message(run(status)) for status in ImageRunStatus}
    stopping = run(ImageRunStatus.GENERATING, cancel_requested=True)

    assert len(words) == len(ImageRunStatus)
    assert stage_message(stopping) not in words
    assert stage_message(replace(stopping, status=ImageRunStatus.CANCELLED)) in words


def test_a_variant_has_its_rubric_flat_and_whole_and_none_before_it_was_judged():
    judged, planned = variant_document(variant(1, JUDGED)), variant_document(variant(2, PLANNED))

    assert judged["prompt_adherence"] == judged["rubric"]["prompt_adherence"] == 0.8
    assert judged["composite_score"] == judged["rubric"]["composite_score"]
    assert judged["image_url"] == f"/images/{'a' * 64}"
    assert (judged["failure_tags"], judged["rationale"]) == (["soft"], "well")
    assert (planned["rubric"], planned["prompt_adherence"], planned["image_url"]) == (None,) * 3


def test_the_document_has_the_fields_of_the_contract():
    document = run_document(run(ImageRunStatus.COMPLETED, JUDGED, SKIPPED))

    named = (
        "run_id project_id base_prompt objective_preset image_model n_variants quality "
        "parent_commit_id anchor_commit_id status stage degraded error progress variants "
        "leaderboard top_k suggestions created_at updated_at completed_at"
    )
    assert set(named.split()) <= set(document)
    assert [one["variant_id"] for one in document["leaderboard"]] == ["v01"] == document["top_k"]


def test_the_last_stage_of_all_is_how_it_ended():
    """IMG-13: it stayed `refining` for ever."""
    ended = replace(run(ImageRunStatus.FAILED), stage=ImageRunStatus.GENERATING)
    going = replace(run(ImageRunStatus.PLANNING), stage=ImageRunStatus.PLANNING)

    assert (run_document(ended)["stage"], run_document(ended)["last_stage"]) == (
        "failed",
        "generating",
    )
    assert run_document(going)["stage"] == run_document(going)["last_stage"] == "planning"


def test_the_words_of_a_stage_say_how_far_it_is():
    """IMG-39: the page had words of its own."""
    drawn = Variant(variant_id="v01", variant_prompt="p", image=PICTURE)
    lost = Variant(variant_id="v02", variant_prompt="p", status=VariantStatus.GENERATION_FAILED)
    at_work = replace(run(ImageRunStatus.GENERATING), variants=(drawn, lost))

    total = at_work.request.n_variants
    assert stage_message(at_work) == f"Generating the images: 1 of {total}, 1 failed"
